//! Decides when two pages are the same state, and when two offers are the same action. Each
//! identity is a file. The crate documentation says how to add one.
//!
//! How a page becomes a state:
//! 1. [`MaskedPage::new`] finds the masked nodes of a [`Page`]: content that changes from load to
//!    load.
//! 2. [`Identity::view`] computes the canonical form of the rest ([`View`]), and
//!    [`Identity::signatures`] names the offers.
//! 3. [`NamedIdentity::recognise`] hashes view and actions into a state key.
//!
//! Two pages are the same state exactly if view and actions are equal, so every identity is an
//! equivalence. [`difference()`] explains why two pages are not the same state. [`learn_masks`] and
//! [`learn_value_masks`] find what to mask.
//!
//! Nothing here knows where a page comes from. All of it is untrusted.

use std::collections::BTreeSet;

use crate::id::{ActionSignature, StateKey};
use crate::page::{Kind, Page, PageNode};
use crate::parts::StateParts;

mod align;
mod content;
mod difference;
mod digest;
mod duration;
mod elements;
mod generated;
mod learn;
mod mask;
mod name;
mod node_path;
mod parts;
mod readable;
mod signature;
mod skeleton;
mod state_masks;
mod strict;
mod structure;
#[cfg(test)]
mod tests;
mod text;
#[cfg(test)]
pub(crate) mod text_page;
mod tree;
mod unique;
mod view;

pub use difference::{Change, Difference, Significance, difference};
pub use generated::looks_generated;
pub use learn::{learn_masks, learn_value_masks};
pub use mask::{Learned, Mask, MaskedAspect, Masks};
pub use node_path::{NodePath, NodePathStep};
pub use state_masks::StateMasks;
pub use tree::{NodeIndex, PageTree};
pub use view::{MaskedPage, Token, View};

/// The rule that decides when two pages are the same state.
pub trait Identity: Send + Sync {
    /// The canonical form of a page. Masked content appears as a fixed token, or not at all.
    fn view<'a>(&self, page: &MaskedPage<'a>) -> View<'a>;

    /// One signature per offer, all different. An offer has none if it
    /// - is the same action as an earlier offer,
    /// - refers to no node,
    /// - or is inside a masked node.
    fn signatures(&self, page: &MaskedPage<'_>) -> Vec<Option<ActionSignature>>;

    /// Whether a difference between two captures of one node in this aspect counts.
    fn differ(&self, a: &PageNode, b: &PageNode, aspect: &MaskedAspect) -> bool;
}

/// An identity as users choose it: its name, its help and its rule.
pub struct NamedIdentity {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// A paragraph of help.
    pub help: &'static str,
    /// The rule.
    pub identity: &'static dyn Identity,
}

/// Every identity, in the order of the help.
pub const ALL: &[NamedIdentity] = &[content::IDENTITY, structure::IDENTITY, strict::IDENTITY];

/// The name of the default identity.
pub const DEFAULT: &str = content::IDENTITY.name;

/// Finds an identity by its name.
pub fn find(name: &str) -> Option<&'static NamedIdentity> {
    ALL.iter().find(|identity| identity.name == name)
}

/// The state key and the action signatures of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The key of the state.
    pub key: StateKey,
    /// The signature of each offer, in their order, all different. `None` where an offer is not an
    /// action of its own.
    pub actions: Vec<Option<ActionSignature>>,
}

impl NamedIdentity {
    /// Computes the state key and the action signatures of a page.
    pub fn recognise(&self, page: &Page, masks: &Masks) -> Recognised {
        let masked = MaskedPage::new(masks, page);
        let actions = self.identity.signatures(&masked);
        let view = self.identity.view(&masked);
        let mut encoder = digest::Encoder::tagged("state");
        encoder.text(self.name);
        view.encode(&mut encoder);
        for action in offered(page, &actions) {
            encoder.number(action.0);
        }
        Recognised { key: StateKey(encoder.wide_digest()), actions }
    }
}

/// Divides a page into parts. `actions` are the signatures that an identity gave its offers.
pub fn divide(page: &Page, masks: &Masks, actions: &[Option<ActionSignature>]) -> StateParts {
    parts::of(&MaskedPage::new(masks, page), actions)
}

/// The actions that count for the state key: all but plain links, which belong to no state.
fn offered(page: &Page, actions: &[Option<ActionSignature>]) -> BTreeSet<ActionSignature> {
    let both = page.offers.iter().zip(actions);
    both.filter(|(offer, _)| offer.kind != Kind::Link).filter_map(|(_, action)| *action).collect()
}
