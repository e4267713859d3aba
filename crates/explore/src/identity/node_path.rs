//! Where on a page something is, so that it is found again on another look at the page, or on another
//! page of the same application: by ids where people wrote some, else by a node's shape and its number
//! among siblings of that shape.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::digest::Encoder;
use super::tree::{NodeIndex, PageTree};
use crate::page::PageNode;
use crate::quoted::Escaped;

/// How many steps a place has at most; what lies deeper has no place.
const MAX_STEPS: usize = 200;

/// The way to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodePath {
    /// From the root, or from the nearest node that has a stable id.
    pub steps: Vec<NodePathStep>,
}

/// One node on the way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodePathStep {
    /// Its tag.
    pub tag: String,
    /// Its id, if it has one that can be relied on; the rest is then not asked for.
    pub id: Option<String>,
    /// A fingerprint of what does not change: tag, role, type and the names of its attributes.
    pub shape: u64,
    /// How many siblings of this tag and shape are before it.
    pub nth: u32,
}

/// The children of one node, by the steps that lead to them.
pub(super) struct ChildIndex<'a> {
    ids: BTreeMap<&'a str, NodeIndex>,
    places: BTreeMap<(&'a str, u64, u32), NodeIndex>,
}

impl NodePath {
    /// The place of a node. An id is relied on only if `trusted` says so as well, and siblings that are
    /// `left_out` are not counted.
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
    /// Those of a node, or the roots, but for those that are left out.
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

    /// Where a step leads.
    pub(super) fn follow(&self, tree: &PageTree<'a>, step: &NodePathStep) -> Option<NodeIndex> {
        match &step.id {
            Some(id) => {
                self.ids.get(id.as_str()).copied().filter(|at| tree.node(*at).tag == step.tag)
            }
            None => self.places.get(&(step.tag.as_str(), step.shape, step.nth)).copied(),
        }
    }
}

/// What of a node is the same whatever state it is in. Computed for many siblings at a time, and a page
/// that makes two of them alike gains nothing: so a quick hash will do.
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

/// The same with what its author calls it: its classes and its id.
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

/// Whether an attribute is not one that scripts set and remove as the state changes.
fn is_stable_attribute(name: &str) -> bool {
    const PASSING: &[&str] = &[
        "class", "style", "id", "hidden", "inert", "disabled", "readonly", "checked", "selected",
        "open", "value", "tabindex", "title",
    ];
    !name.starts_with('.')
        && !name.starts_with("aria-")
        && !name.starts_with("data-")
        && !PASSING.contains(&name)
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
