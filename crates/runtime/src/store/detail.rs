//! What is kept of a state beside its place in the graph: for people, for `explain`, and to find
//! its actions again. All of it comes from a page and is hostile.

use std::fmt;

use argiope_controller::outcome::Offered;
use argiope_explore::brakes::Danger;
use argiope_explore::id::ActionSignature;
use argiope_explore::page::{Hindrance, Kind, Page};
use argiope_explore::parts::StateParts;
use serde::{Deserialize, Serialize};

/// The name of some bytes: equal names, equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// The first 128 bits of the bytes' BLAKE3 hash. A hostile page cannot make two of them
    /// collide.
    pub fn of(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes);
        let first: &[u8; 16] = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
        Self(u128::from_le_bytes(*first))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What is known of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateDetail {
    /// Its address when it was first seen.
    pub url: String,
    /// Its title then.
    pub title: String,
    /// When it was first seen, in seconds since the start of the crawl.
    pub found_at: u32,
    /// The page's raw hash then, by which a crawler recognises the state without a capture.
    pub raw: u128,
    /// Its source, for [`super::Store::blob`].
    pub source: ContentHash,
    /// Its snapshot, for [`super::Store::page`].
    pub page: ContentHash,
    /// Its picture, if one was taken.
    pub screenshot: Option<ContentHash>,
    /// What can be done there.
    pub offers: Vec<OfferDetail>,
    /// What was seen there and is no candidate.
    pub unperformed: UnperformedActions,
}

/// Actions that a page has and that no crawler performs there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnperformedActions {
    /// Those that are listed. What a page withholds is listed in the first state that shows it.
    pub listed: Vec<UnperformedAction>,
    /// How many more the page withholds.
    pub unlisted: u32,
    /// How many more it offers, beyond the limits of one page.
    pub beyond: u32,
}

/// An action that no crawler performs, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnperformedAction {
    /// Its name.
    pub signature: ActionSignature,
    /// What people call it.
    pub label: String,
    /// Why it is not performed.
    pub why: WhyUnperformed,
}

/// Why an action is no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhyUnperformed {
    /// The page does not let it be performed.
    Withheld(Hindrance),
    /// It is dangerous.
    Avoided(Danger),
}

/// What is known of an action of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferDetail {
    /// Its name.
    pub signature: ActionSignature,
    /// What is done.
    pub kind: Kind,
    /// The value typed, the option chosen, the key pressed, the address of a link.
    pub argument: String,
    /// What people call it.
    pub label: String,
    /// How the looker finds its node again on a page that is the same to the byte.
    pub place: String,
    /// Whether it is dangerous, and the crawl was told to perform it.
    pub allowed: bool,
}

impl OfferDetail {
    /// The action, as the controller knows it.
    pub fn offered(&self) -> Offered {
        Offered { action: self.signature, once: self.kind == Kind::Link }
    }
}

/// A state as it was found, from which a [`StateDetail`] is made. The writing thread hashes,
/// encodes and compresses the source and the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPage {
    /// See [`StateDetail::url`].
    pub url: String,
    /// See [`StateDetail::title`].
    pub title: String,
    /// See [`StateDetail::found_at`].
    pub found_at: u32,
    /// See [`StateDetail::raw`].
    pub raw: u128,
    /// The page's source.
    #[serde(with = "super::byte_buf")]
    pub source: Vec<u8>,
    /// The page as it was looked at.
    pub page: Page,
    /// A picture of it.
    pub screenshot: Option<Vec<u8>>,
    /// What can be done there.
    pub offers: Vec<OfferDetail>,
    /// See [`StateDetail::unperformed`].
    pub unperformed: UnperformedActions,
    /// The parts of its state, if the crawl asks for them. The journal keeps them.
    #[serde(skip)]
    pub parts: Option<StateParts>,
}
