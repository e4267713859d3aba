//! The skeleton of a page: its visible tree, with identical neighbours collapsed into one. The
//! identity `structure` compares it. Each node knows its representative, so that actions can be
//! matched too.

use super::digest::Encoder;
use super::elements;
use super::text;
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::page::PageNode;

/// A visible element or text.
pub(crate) struct SkeletonNode {
    /// The node in the page. Of several adjacent texts, the first.
    pub(crate) node: NodeIndex,
    pub(crate) parent: Option<usize>,
    /// The children that are kept, in order.
    pub(crate) kept: Vec<usize>,
    /// The node that represents it: itself, or its counterpart in the first of identical
    /// neighbours.
    pub(crate) representative: usize,
}

/// The skeleton of a page, in document order.
pub(crate) struct Skeleton {
    pub(crate) nodes: Vec<SkeletonNode>,
    pub(crate) roots: Vec<usize>,
    /// The skeleton node of each page node. An invisible node has that of the element around it.
    by_node: Vec<Option<u32>>,
}

impl Skeleton {
    pub(crate) fn of(page: &MaskedPage<'_>) -> Self {
        let (mut nodes, children, by_node) = visible_nodes(page);
        // From the last to the first, so that children come before their parents.
        let mut digests = vec![0; nodes.len()];
        let mut order = vec![0_usize; nodes.len()];
        for index in (0..nodes.len()).rev() {
            let kept = collapsed(&children[index], &digests);
            let node = page.tree.node(nodes[index].node);
            let mut encoder = Encoder::tagged("bone");
            encode(&mut encoder, page, nodes[index].node, node);
            for child in &kept {
                encoder.wide(digests[*child]);
            }
            digests[index] = encoder.wide_digest();
            for (position, run) in runs(&children[index], &digests).enumerate() {
                run.iter().for_each(|child| order[*child] = position);
            }
            nodes[index].kept = kept;
        }
        let top: Vec<usize> =
            (0..nodes.len()).filter(|index| nodes[*index].parent.is_none()).collect();
        for (position, run) in runs(&top, &digests).enumerate() {
            run.iter().for_each(|child| order[*child] = position);
        }
        let roots = collapsed(&top, &digests);
        for index in 0..nodes.len() {
            // Identical parents keep the same number of children.
            let siblings = match nodes[index].parent {
                Some(parent) => &nodes[nodes[parent].representative].kept,
                None => &roots,
            };
            nodes[index].representative = siblings[order[index]];
        }
        Self { nodes, roots, by_node }
    }

    /// The representative of a page node, or of the nearest visible element around it.
    pub(crate) fn representative(&self, at: NodeIndex) -> Option<usize> {
        Some(self.nodes[self.by_node[at]? as usize].representative)
    }
}

/// The runs of identical neighbours.
fn runs<'b>(children: &'b [usize], digests: &'b [u128]) -> impl Iterator<Item = &'b [usize]> {
    children.chunk_by(|a, b| digests[*a] == digests[*b])
}

fn collapsed(children: &[usize], digests: &[u128]) -> Vec<usize> {
    runs(children, digests).map(|run| run[0]).collect()
}

type Visible = (Vec<SkeletonNode>, Vec<Vec<usize>>, Vec<Option<u32>>);

/// The visible elements and texts, and the children of each.
fn visible_nodes(page: &MaskedPage<'_>) -> Visible {
    let tree = &page.tree;
    let mut nodes: Vec<SkeletonNode> = Vec::new();
    let mut children: Vec<Vec<usize>> = Vec::new();
    let mut by_node = vec![None; tree.len()];
    let mut open: Vec<(usize, NodeIndex)> = Vec::new();
    for (at, node) in page.nodes(elements::is_never_shown) {
        while open.pop_if(|(_, end)| *end <= at).is_some() {}
        let parent = open.last().map(|(index, _)| *index);
        let before = parent.and_then(|parent| children[parent].last()).copied();
        let joins =
            node.is_text() && before.is_some_and(|before| tree.node(nodes[before].node).is_text());
        let says_nothing = node.is_text() && text::is_blank(&node.text) && !page.masked.text(at);
        if node.visible && !says_nothing && !joins {
            let index = nodes.len();
            nodes.push(SkeletonNode { node: at, parent, kept: Vec::new(), representative: index });
            children.push(Vec::new());
            if let Some(parent) = parent {
                children[parent].push(index);
            }
            by_node[at] = Some(index as u32);
            if !node.is_text() {
                open.push((index, tree.end(at)));
            }
        } else {
            by_node[at] = parent.map(|parent| parent as u32);
        }
    }
    (nodes, children, by_node)
}

/// The attributes of an element that are structure, not content.
pub(crate) fn attributes<'a>(
    page: &MaskedPage<'a>,
    at: NodeIndex,
    node: &'a PageNode,
) -> Vec<(&'static str, &'a str)> {
    let value = |name: &str| node.attribute(name).filter(|_| !page.masked.attribute(at, name));
    let mut attributes = Vec::new();
    for name in ["role", "type"] {
        attributes.extend(value(name).map(|value| (name, value)));
    }
    let is_on = |name: &str| value(name).is_some_and(|value| value != "false");
    let live = |live: &str, written: &str| match node.attribute(live) {
        Some(_) => is_on(live),
        None => is_on(written),
    };
    attributes.extend(is_on("disabled").then_some(("disabled", "")));
    attributes.extend(live(".open", "open").then_some(("open", "")));
    attributes.extend(live(".checked", "checked").then_some(("checked", "")));
    attributes
}

fn encode(encoder: &mut Encoder, page: &MaskedPage<'_>, at: NodeIndex, node: &PageNode) {
    encoder.text(&node.tag);
    if !node.is_text() {
        let attributes = attributes(page, at, node);
        encoder.number(attributes.len() as u64);
        for (name, value) in attributes {
            encoder.text(name).text(value);
        }
    }
}
