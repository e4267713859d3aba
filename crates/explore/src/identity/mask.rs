//! Masks: content that changes from load to load and therefore does not count. Knows where masked
//! content is and how to print it. [`learn`](super::learn) finds what to mask.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::node_path::{ChildIndex, NodePath, exact_shape};
use super::tree::{NodeIndex, PageTree};
use crate::id::StateKey;
use crate::quoted::{Escaped, Quoted};

/// One mask: an aspect of a node that does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mask {
    /// The node.
    pub place: NodePath,
    /// The aspect of the node.
    #[serde(rename = "part")]
    pub aspect: MaskedAspect,
    /// How the mask was learned.
    pub learned: Learned,
}

/// The aspect of a node that a mask covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskedAspect {
    /// The content of a text.
    Text,
    /// The value of an attribute or of a live property.
    Attribute(String),
    /// Children of one shape that come and go, with their descendants.
    Children {
        /// The tag.
        tag: String,
        /// The classes, for output only.
        class: String,
        /// The fingerprint that identifies the children.
        shape: u64,
    },
}

/// How a mask was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// The first page was loaded twice.
    FirstPage,
    /// A later capture of this state differed only there.
    State(StateKey),
}

/// A set of masks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masks {
    /// The masks, ordered by place.
    pub masks: BTreeSet<Mask>,
    /// Selectors that the user told the crawl to ignore. The page agent leaves their nodes out;
    /// they are kept here for output only.
    pub ignored: BTreeSet<String>,
    /// The page generates new ids on every load, so no id counts.
    #[serde(default)]
    pub made_up_ids: bool,
}

impl Masks {
    /// No masks.
    pub const NONE: Masks =
        Masks { masks: BTreeSet::new(), ignored: BTreeSet::new(), made_up_ids: false };

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty() && !self.made_up_ids
    }

    /// Adds the masks of another set.
    pub fn merge(&mut self, other: &Masks) {
        self.masks.extend(other.masks.iter().cloned());
        self.ignored.extend(other.ignored.iter().cloned());
        self.made_up_ids |= other.made_up_ids;
    }

    /// Returns the union of two sets.
    pub fn and(&self, other: &Masks) -> Masks {
        let mut both = self.clone();
        both.merge(other);
        both
    }
}

/// The masked nodes of one page.
#[derive(Default)]
pub(crate) struct Masked<'m> {
    /// Nodes that are masked with their descendants.
    whole: BTreeSet<NodeIndex>,
    texts: BTreeSet<NodeIndex>,
    attributes: BTreeSet<(NodeIndex, &'m str)>,
    ids: bool,
}

impl<'m> Masked<'m> {
    /// Finds the masked nodes of a page. Skips masks whose place is not on the page.
    pub(crate) fn of(tree: &PageTree<'_>, masks: &'m Masks) -> Self {
        let mut masked = Self { ids: masks.made_up_ids, ..Self::default() };
        if masks.is_empty() {
            return masked;
        }
        // Masks are sorted by place, so those with a common prefix are neighbours. The children of
        // each node on the path are indexed once.
        let sorted: Vec<&'m Mask> =
            masks.masks.iter().filter(|mask| !mask.place.steps.is_empty()).collect();
        let mut open: Vec<(Option<NodeIndex>, &[&'m Mask], usize)> = vec![(None, &sorted, 0)];
        while let Some((at, group, depth)) = open.pop() {
            let arrived = group.partition_point(|mask| mask.place.steps.len() <= depth);
            let (here, below) = group.split_at(arrived);
            if let Some(at) = at {
                masked.cover(tree, at, here);
            }
            if below.is_empty() {
                continue;
            }
            let branches = ChildIndex::of(tree, at, |child| masked.whole(child));
            for group in below.chunk_by(|a, b| a.place.steps[depth] == b.place.steps[depth]) {
                let step = &group[0].place.steps[depth];
                let anchor =
                    step.id.as_deref().filter(|_| at.is_none()).and_then(|id| tree.by_id(id));
                let anchor = anchor.filter(|at| tree.node(*at).tag == step.tag);
                if let Some(child) = anchor.or_else(|| branches.follow(tree, step)) {
                    open.push((Some(child), group, depth + 1));
                }
            }
        }
        masked
    }

    fn cover(&mut self, tree: &PageTree<'_>, at: NodeIndex, masks: &[&'m Mask]) {
        let mut looks = BTreeSet::new();
        for mask in masks {
            match &mask.aspect {
                MaskedAspect::Text => _ = self.texts.insert(at),
                MaskedAspect::Attribute(name) => _ = self.attributes.insert((at, name)),
                MaskedAspect::Children { tag, shape, .. } => {
                    _ = looks.insert((tag.as_str(), *shape));
                }
            }
        }
        if !looks.is_empty() {
            let left_out = |child: &NodeIndex| {
                looks.contains(&(tree.node(*child).tag.as_str(), exact_shape(tree, *child)))
            };
            self.whole.extend(tree.children(Some(at)).filter(left_out));
        }
    }

    /// Whether a node is masked with its descendants. Does not look at its ancestors.
    pub(crate) fn whole(&self, at: NodeIndex) -> bool {
        !self.whole.is_empty() && self.whole.contains(&at)
    }

    /// Whether the content of a text is masked.
    pub(crate) fn text(&self, at: NodeIndex) -> bool {
        !self.texts.is_empty() && self.texts.contains(&at)
    }

    /// Whether an attribute is masked.
    pub(crate) fn attribute(&self, at: NodeIndex, name: &str) -> bool {
        (self.ids && name == "id")
            || (!self.attributes.is_empty() && self.attributes.contains(&(at, name)))
    }
}

impl fmt::Display for MaskedAspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaskedAspect::Text => write!(f, "text"),
            MaskedAspect::Attribute(name) => match name.strip_prefix('.') {
                Some(property) => write!(f, "live {}", Escaped(property, 40)),
                None => write!(f, "attribute {}", Escaped(name, 40)),
            },
            MaskedAspect::Children { tag, class, .. } if class.is_empty() => {
                write!(f, "every child {}", Escaped(tag, 30))
            }
            MaskedAspect::Children { tag, class, .. } => {
                write!(f, "every child {} of class {}", Escaped(tag, 30), Quoted(class))
            }
        }
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Learned::FirstPage => write!(f, "the first page, loaded twice"),
            Learned::State(key) => write!(f, "state {key:?}, seen again"),
        }
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} (learned from {})", self.aspect, self.place, self.learned)
    }
}

impl fmt::Display for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mask in &self.masks {
            writeln!(f, "{mask}")?;
        }
        if self.made_up_ids {
            writeln!(f, "every id: the page generates new ones on each load")?;
        }
        for selector in &self.ignored {
            writeln!(f, "everything that matches {} (set by the user)", Quoted(selector))?;
        }
        Ok(())
    }
}
