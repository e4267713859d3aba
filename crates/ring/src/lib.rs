//! The ring: who is there, in which order, and whom a key belongs to. Corrected Chord (P. Zave, "How to make Chord
//! correct"): successor lists of a fixed length, and no pointer is adopted that was not just seen alive. Pure, and
//! knows nothing but keys: what is kept under them, and how messages travel, is somebody else's business.

pub mod fingers;
pub mod invariant;
pub mod key;
pub mod member;
pub mod message;

pub use key::Key;
pub use member::RingMember;
pub use message::{RequestId, RingEffect, RingInput, RingMessage, RingTimer};
