//! Learns masks by comparing two captures of what should be the same page.

use std::collections::BTreeSet;

use super::align::{Alignment, align};
use super::mask::{Learned, Mask, Masked, MaskedAspect, Masks};
use super::node_path::{NodePath, exact_shape};
use super::tree::{NodeIndex, PageTree};
use super::{Identity, NamedIdentity, text};
use crate::id::StateKey;
use crate::page::{Page, PageNode};

/// The maximum number of masks. A page that differs in more is another page.
const MAX_MASKS: usize = 1_000;

/// The maximum number of shapes of children that are considered for a mask.
const MAX_SHAPES: usize = 200;

/// Masked children may cover at most one in this many nodes of a page.
const MAX_SHARE: usize = 4;

/// The number of nodes that may always be masked.
const ALWAYS_SMALL: usize = 8;

/// Learns masks for the differences between two loads of the first page: texts, attributes, and
/// children that only one load has. Large groups of children are not masked.
pub fn learn_masks(identity: &NamedIdentity, a: &Page, b: &Page) -> Masks {
    let (a, b) = (PageTree::of(a), PageTree::of(b));
    let alignment = align(&a, &b);
    let made_up = |(x, y): &(NodeIndex, NodeIndex)| {
        let (x, y) = (a.node(*x).attribute("id"), b.node(*y).attribute("id"));
        x.is_some() && y.is_some() && x != y
    };
    let mut masks = Masks { made_up_ids: alignment.pairs.iter().any(made_up), ..Masks::default() };
    masks.masks.extend(child_masks(&a, &b, &alignment));
    let left_out = masks.clone();
    let identity = identity.identity;
    masks.masks.extend(value_masks(identity, &a, &b, &alignment, &left_out, Learned::FirstPage));
    masks
}

/// Learns masks for the differences between two captures of what should be one state. The first
/// capture gave the state its key.
///
/// Returns `None` if the captures differ in more than texts, attributes and live values. The masks
/// are empty if no difference counts. Together with the `known` masks they make the two captures
/// the same state.
pub fn learn_value_masks(
    identity: &NamedIdentity,
    known: &Masks,
    state: StateKey,
    a: &Page,
    b: &Page,
) -> Option<Masks> {
    let (first, second) = (PageTree::of(a), PageTree::of(b));
    let alignment = align(&first, &second);
    let unseen = |tree: &PageTree<'_>, at: &NodeIndex| {
        (*at..tree.end(*at)).all(|at| is_invisible(tree.node(at)))
    };
    let covered_a = Masked::of(&first, known);
    let covered_b = Masked::of(&second, known);
    if !alignment.only_a.iter().all(|at| unseen(&first, at) || covered_a.whole(*at))
        || !alignment.only_b.iter().all(|at| unseen(&second, at) || covered_b.whole(*at))
    {
        return None;
    }
    let found =
        value_masks(identity.identity, &first, &second, &alignment, known, Learned::State(state));
    let masks = Masks { masks: found, ..Masks::default() };
    let both = known.and(&masks);
    (identity.recognise(a, &both).key == identity.recognise(b, &both).key).then_some(masks)
}

fn is_invisible(node: &PageNode) -> bool {
    !node.visible || (node.is_text() && text::is_blank(&node.text))
}

/// Masks for the texts and attributes that differ between aligned nodes.
fn value_masks(
    identity: &dyn Identity,
    a: &PageTree<'_>,
    b: &PageTree<'_>,
    alignment: &Alignment,
    known: &Masks,
    learned: Learned,
) -> BTreeSet<Mask> {
    let masked = Masked::of(a, known);
    let mut found = BTreeSet::new();
    let mut left_out = 0;
    for (x, y) in &alignment.pairs {
        if *x < left_out {
            continue;
        }
        if masked.whole(*x) {
            left_out = a.end(*x);
            continue;
        }
        for aspect in differing_aspects(a.node(*x), b.node(*y)) {
            let id = aspect == MaskedAspect::Attribute("id".to_owned());
            if found.len() < MAX_MASKS
                && !(id && known.made_up_ids)
                && identity.differ(a.node(*x), b.node(*y), &aspect)
            {
                let trusted = |id: &str| b.by_id(id).is_some();
                let place = NodePath::of(a, *x, trusted, |sibling| masked.whole(sibling));
                found.extend(place.map(|place| Mask { place, aspect, learned }));
            }
        }
    }
    found
}

/// The text and the attributes in which two nodes differ.
pub(crate) fn differing_aspects(a: &PageNode, b: &PageNode) -> Vec<MaskedAspect> {
    let mut aspects = Vec::new();
    if a.text != b.text {
        aspects.push(MaskedAspect::Text);
    }
    if a.attributes != b.attributes {
        let names: BTreeSet<&str> =
            a.attributes.iter().chain(&b.attributes).map(|(name, _)| name.as_str()).collect();
        let differ = names.into_iter().filter(|name| a.attribute(name) != b.attribute(name));
        aspects.extend(differ.map(|name| MaskedAspect::Attribute(name.to_owned())));
    }
    aspects
}

/// Masks for children that only one of the pages has or shows.
fn child_masks(a: &PageTree<'_>, b: &PageTree<'_>, alignment: &Alignment) -> BTreeSet<Mask> {
    let mut found = BTreeSet::new();
    let partners = alignment.partners_of_b();
    let mut tried = BTreeSet::new();
    let mut add = |tree: &PageTree<'_>, at: NodeIndex, parent: Option<(NodeIndex, NodeIndex)>| {
        let Some(parent) = parent else { return };
        let node = tree.node(at);
        if node.is_text() && text::is_blank(&node.text) {
            return;
        }
        let shape = exact_shape(tree, at);
        if tried.len() >= MAX_SHAPES || !tried.insert((parent, shape)) {
            return;
        }
        if !is_small(a, parent.0, &node.tag, shape) || !is_small(b, parent.1, &node.tag, shape) {
            return;
        }
        let place = NodePath::of(a, parent.0, |id| b.by_id(id).is_some(), |_| false);
        let class = node.attribute("class").unwrap_or_default().chars().take(80).collect();
        let aspect = MaskedAspect::Children { tag: node.tag.clone(), class, shape };
        found.extend(place.map(|place| Mask { place, aspect, learned: Learned::FirstPage }));
    };
    for at in &alignment.only_a {
        let parent = a.parent(*at);
        add(a, *at, parent.and_then(|x| Some((x, alignment.partner_of_a(x)?))));
    }
    for at in &alignment.only_b {
        let parent = b.parent(*at);
        add(b, *at, parent.and_then(|y| Some((*partners.get(&y)?, y))));
    }
    // Visible in one page only: take the outermost of such nodes.
    let mut inside = 0;
    for (x, y) in &alignment.pairs {
        if *x >= inside && a.node(*x).visible != b.node(*y).visible {
            inside = a.end(*x);
            let parents = a.parent(*x).zip(b.parent(*y));
            add(a, *x, parents);
            add(b, *y, parents);
        }
    }
    found
}

/// Whether the children of this shape together are small compared with the page.
fn is_small(tree: &PageTree<'_>, parent: NodeIndex, tag: &str, shape: u64) -> bool {
    let alike = tree
        .children(Some(parent))
        .filter(|child| tree.node(*child).tag == tag && exact_shape(tree, *child) == shape);
    let size: usize = alike.map(|child| tree.end(child) - child).sum();
    size <= ALWAYS_SMALL || size <= tree.len() / MAX_SHARE
}
