//! The tree of what is visible, with identical neighbours collapsed into one: what `structure` compares.
//! Knows which node stands for which, so that actions can be matched as well.

use super::digest::Encoder;
use super::elements;
use super::text;
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::page::PageNode;

/// A visible element, or the place of a text.
pub(crate) struct SkeletonNode {
    /// The node; of several texts that nothing stands between, the first.
    pub(crate) node: NodeIndex,
    pub(crate) parent: Option<usize>,
    /// Those that are kept, in order.
    pub(crate) kept: Vec<usize>,
    /// The one that it stands in for it: itself, or the like in the first of identical neighbours.
    pub(crate) stand_in: usize,
}

/// The bones of a page in the order of the document.
pub(crate) struct Skeleton {
    pub(crate) nodes: Vec<SkeletonNode>,
    pub(crate) roots: Vec<usize>,
    /// The bone of each node; of an invisible one, that of the element around it.
    by_node: Vec<Option<u32>>,
}

impl Skeleton {
    pub(crate) fn of(seen: &MaskedPage<'_>) -> Self {
        let (mut bones, children, by_node) = visible_nodes(seen);
        // From the last to the first, so that children come before their parents.
        let mut digests = vec![0; bones.len()];
        let mut order = vec![0_usize; bones.len()];
        for index in (0..bones.len()).rev() {
            let kept = collapsed(&children[index], &digests);
            let node = seen.tree.node(bones[index].node);
            let mut encoder = Encoder::tagged("bone");
            encode(&mut encoder, seen, bones[index].node, node);
            for child in &kept {
                encoder.wide(digests[*child]);
            }
            digests[index] = encoder.wide_digest();
            for (position, run) in runs(&children[index], &digests).enumerate() {
                run.iter().for_each(|child| order[*child] = position);
            }
            bones[index].kept = kept;
        }
        let top: Vec<usize> =
            (0..bones.len()).filter(|index| bones[*index].parent.is_none()).collect();
        for (position, run) in runs(&top, &digests).enumerate() {
            run.iter().for_each(|child| order[*child] = position);
        }
        let roots = collapsed(&top, &digests);
        for index in 0..bones.len() {
            // Identical parents have kept as many children.
            let siblings = match bones[index].parent {
                Some(parent) => &bones[bones[parent].stand_in].kept,
                None => &roots,
            };
            bones[index].stand_in = siblings[order[index]];
        }
        Self { nodes: bones, roots, by_node }
    }

    /// The bone that stands for a node: its own, or that of the nearest visible element around it.
    pub(crate) fn representative(&self, at: NodeIndex) -> Option<usize> {
        Some(self.nodes[self.by_node[at]? as usize].stand_in)
    }
}

/// Identical neighbours, run by run.
fn runs<'b>(children: &'b [usize], digests: &'b [u128]) -> impl Iterator<Item = &'b [usize]> {
    children.chunk_by(|a, b| digests[*a] == digests[*b])
}

fn collapsed(children: &[usize], digests: &[u128]) -> Vec<usize> {
    runs(children, digests).map(|run| run[0]).collect()
}

type Visible = (Vec<SkeletonNode>, Vec<Vec<usize>>, Vec<Option<u32>>);

/// The visible elements and texts, and the children of each.
fn visible_nodes(seen: &MaskedPage<'_>) -> Visible {
    let tree = &seen.tree;
    let mut bones: Vec<SkeletonNode> = Vec::new();
    let mut children: Vec<Vec<usize>> = Vec::new();
    let mut by_node = vec![None; tree.len()];
    let mut open: Vec<(usize, NodeIndex)> = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        while open.pop_if(|(_, end)| *end <= at).is_some() {}
        let node = tree.node(at);
        if seen.masked.whole(at) || elements::is_never_shown(node) {
            at = tree.end(at);
            continue;
        }
        let parent = open.last().map(|(bone, _)| *bone);
        let before = parent.and_then(|parent| children[parent].last()).copied();
        let joins =
            node.is_text() && before.is_some_and(|before| tree.node(bones[before].node).is_text());
        let says_nothing = node.is_text() && text::is_blank(&node.text) && !seen.masked.text(at);
        if node.visible && !says_nothing && !joins {
            let index = bones.len();
            bones.push(SkeletonNode { node: at, parent, kept: Vec::new(), stand_in: index });
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
        at += 1;
    }
    (bones, children, by_node)
}

/// What of an element is structure and not content.
pub(crate) fn attributes<'a>(
    seen: &MaskedPage<'a>,
    at: NodeIndex,
    node: &'a PageNode,
) -> Vec<(&'static str, &'a str)> {
    let value = |name: &str| node.attribute(name).filter(|_| !seen.masked.attribute(at, name));
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

fn encode(encoder: &mut Encoder, seen: &MaskedPage<'_>, at: NodeIndex, node: &PageNode) {
    encoder.text(&node.tag);
    if !node.is_text() {
        let attributes = attributes(seen, at, node);
        encoder.number(attributes.len() as u64);
        for (name, value) in attributes {
            encoder.text(name).text(value);
        }
    }
}
