//! The path to a node, which finds it again in another capture, or on another page of the same
//! application. It uses ids that people wrote, and otherwise a node's shape and its number among
//! the siblings of that shape.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::digest::Encoder;
use super::tree::{NodeIndex, PageTree};
use crate::page::PageNode;
use crate::quoted::Escaped;

/// The maximum number of steps. Deeper nodes have no path.
const MAX_STEPS: usize = 200;

/// The path to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodePath {
    /// From the root, or from the nearest node that has a stable id.
    pub steps: Vec<NodePathStep>,
}

/// One node on the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodePathStep {
    /// The tag.
    pub tag: String,
    /// A reliable id, if there is one. Shape and number are then zero.
    pub id: Option<String>,
    /// A fingerprint of what does not change: tag, role, type and the names of attributes.
    pub shape: u64,
    /// The number of earlier siblings of this tag and shape.
    pub nth: u32,
}

/// The children of one node, by the steps of a path.
pub(super) struct ChildIndex<'a> {
    ids: BTreeMap<&'a str, NodeIndex>,
    places: BTreeMap<(&'a str, u64, u32), NodeIndex>,
}

impl NodePath {
    /// The path to a node. Uses an id only if it is `trusted`, and does not count siblings that are
    /// `left_out`.
    pub fn of(
        tree: &PageTree<'_>,
        at: NodeIndex,
        trusted: impl Fn(&str) -> bool,
        left_out: impl Fn(NodeIndex) -> bool,
    ) -> Option<NodePath> {
        let mut steps = Vec::new();
        for at in tree.ancestors(at) {
            if steps.len() == MAX_STEPS {
                return None;
            }
            let node = tree.node(at);
            let shape = shape(node);
            let id = tree.stable_id(at).filter(|id| trusted(id)).map(str::to_owned);
            if id.is_some() {
                steps.push(NodePathStep { tag: node.tag.clone(), id, shape: 0, nth: 0 });
                break;
            }
            let alike = |sibling: &NodeIndex| {
                tree.node(*sibling).tag == node.tag && self::shape(tree.node(*sibling)) == shape
            };
            let before = tree.children(tree.parent(at)).take_while(|sibling| *sibling < at);
            let nth = before.filter(alike).filter(|sibling| !left_out(*sibling)).count() as u32;
            steps.push(NodePathStep { tag: node.tag.clone(), id: None, shape, nth });
        }
        steps.reverse();
        Some(NodePath { steps })
    }
}

impl<'a> ChildIndex<'a> {
    /// Indexes the children of a node, or the roots, without those that are left out.
    pub(super) fn of(
        tree: &PageTree<'a>,
        parent: Option<NodeIndex>,
        left_out: impl Fn(NodeIndex) -> bool,
    ) -> Self {
        let mut branches = Self { ids: BTreeMap::new(), places: BTreeMap::new() };
        let mut counts: BTreeMap<(&str, u64), u32> = BTreeMap::new();
        for at in tree.children(parent).filter(|at| !left_out(*at)) {
            let node = tree.node(at);
            let shape = shape(node);
            let count = counts.entry((&node.tag, shape)).or_default();
            branches.places.insert((&node.tag, shape, *count), at);
            *count += 1;
            if let Some(id) = node.attribute("id") {
                branches.ids.entry(id).or_insert(at);
            }
        }
        branches
    }

    /// The child that a step leads to.
    pub(super) fn follow(&self, tree: &PageTree<'a>, step: &NodePathStep) -> Option<NodeIndex> {
        match &step.id {
            Some(id) => {
                self.ids.get(id.as_str()).copied().filter(|at| tree.node(*at).tag == step.tag)
            }
            None => self.places.get(&(step.tag.as_str(), step.shape, step.nth)).copied(),
        }
    }
}

/// A fingerprint of what is the same in every state of a node. It is computed for many siblings,
/// and a page gains nothing from a collision, so a fast hash is enough.
pub(super) fn shape(node: &PageNode) -> u64 {
    if node.is_text() {
        return 0;
    }
    let mark = |text: &str, seed: u64| {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, step)
    };
    let fixed = ["role", "type"].map(|name| mark(node.attribute(name).unwrap_or_default(), 2));
    let names = node
        .attributes
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| is_stable_attribute(name));
    let names = names.fold(0_u64, |sum, name| sum.wrapping_add(mark(name, 3)));
    mark(&node.tag, 1)
        .wrapping_add(fixed[0])
        .wrapping_add(fixed[1].rotate_left(1))
        .wrapping_add(names)
}

/// The shape of a node, with its classes and its stable id.
pub(super) fn exact_shape(tree: &PageTree<'_>, at: NodeIndex) -> u64 {
    let node = tree.node(at);
    let mut encoder = Encoder::tagged("exact shape");
    encoder.number(shape(node));
    encoder.text(tree.stable_id(at).unwrap_or_default());
    for class in node.attribute("class").unwrap_or_default().split_whitespace() {
        encoder.text(class);
    }
    encoder.digest()
}

/// Whether scripts do not set or remove this attribute when the state changes.
fn is_stable_attribute(name: &str) -> bool {
    const VOLATILE: &[&str] = &[
        "class", "style", "id", "hidden", "inert", "disabled", "readonly", "checked", "selected",
        "open", "value", "tabindex", "title",
    ];
    !name.starts_with('.')
        && !name.starts_with("aria-")
        && !name.starts_with("data-")
        && !VOLATILE.contains(&name)
}

impl fmt::Display for NodePathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(&self.tag, 30))?;
        match &self.id {
            Some(id) => write!(f, "#{}", Escaped(id, 40)),
            None if self.nth > 0 => write!(f, "[{}]", self.nth + 1),
            None => Ok(()),
        }
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if index == 0 { "" } else { " > " })?;
        }
        Ok(())
    }
}
