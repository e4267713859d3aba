//! When two pages are the same state, and when two offers are the same action. Each identity is a file;
//! all of them are equivalences, since each compares a canonical form ([`View`]).
//!
//! Nothing here knows where a page comes from; everything in it may be hostile.

use std::collections::BTreeSet;

use crate::id::{ActionSignature, StateKey};
use crate::page::{Kind, Page, PageNode};

mod align;
mod content;
mod difference;
mod digest;
mod elements;
mod generated;
mod learn;
mod mask;
mod name;
mod node_path;
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
mod text_page;
mod tree;
mod view;

pub use difference::{Change, Difference, Significance, difference};
pub use generated::looks_generated;
pub use learn::{learn_masks, learn_value_masks};
pub use mask::{Learned, Mask, MaskedAspect, Masks};
pub use node_path::{NodePath, NodePathStep};
pub use state_masks::StateMasks;
pub use tree::{NodeIndex, PageTree};
pub use view::{MaskedPage, Token, View};

/// An answer to when two pages are the same state.
pub trait Identity: Send + Sync {
    /// The canonical form of a page. Masked parts stand in it as fixed marks or not at all.
    fn view<'a>(&self, seen: &MaskedPage<'a>) -> View<'a>;

    /// One signature per offer, each once: none for an offer that is the same action as an earlier one,
    /// that points to no node, or that is inside of a masked part.
    fn signatures(&self, seen: &MaskedPage<'_>) -> Vec<Option<ActionSignature>>;

    /// Whether two looks at one node can be told apart by this part of it.
    fn differ(&self, a: &PageNode, b: &PageNode, part: &MaskedAspect) -> bool;
}

/// An identity as people choose it: its name, what it says of itself, and itself.
pub struct NamedIdentity {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// A paragraph of help.
    pub help: &'static str,
    /// The identity.
    pub identity: &'static dyn Identity,
}

/// Every identity, in the order in which help lists them.
pub const ALL: &[NamedIdentity] = &[content::IDENTITY, structure::IDENTITY, strict::IDENTITY];

/// The name of the identity that is used when none is asked for.
pub const DEFAULT: &str = content::IDENTITY.name;

/// The identity with this name.
pub fn find(name: &str) -> Option<&'static NamedIdentity> {
    ALL.iter().find(|described| described.name == name)
}

/// A page by its lasting names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The state that it is.
    pub key: StateKey,
    /// The signature of each of the page's offers, in their order; none for those that are not actions
    /// of their own. No signature stands here twice.
    pub actions: Vec<Option<ActionSignature>>,
}

impl NamedIdentity {
    /// Names a page and what it offers.
    pub fn recognise(&self, page: &Page, masks: &Masks) -> Recognised {
        let seen = MaskedPage::new(masks, page);
        let actions = self.identity.signatures(&seen);
        let view = self.identity.view(&seen);
        let mut encoder = digest::Encoder::tagged("state");
        encoder.text(self.name);
        view.encode(&mut encoder);
        for action in offered(page, &actions) {
            encoder.number(action.0);
        }
        Recognised { key: StateKey(encoder.wide_digest()), actions }
    }
}

/// The actions that tell states apart: all but plain links, which belong to no state.
fn offered(page: &Page, actions: &[Option<ActionSignature>]) -> BTreeSet<ActionSignature> {
    let both = page.offers.iter().zip(actions);
    both.filter(|(offer, _)| offer.kind != Kind::Link).filter_map(|(_, action)| *action).collect()
}
