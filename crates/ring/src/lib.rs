//! The membership protocol of the ring: which controllers are members, in which order, and which of
//! them owns a key.
//!
//! The protocol is corrected Chord (P. Zave, "How to make Chord correct"): each member keeps a list
//! of successors of a fixed length. It replaces its first successor by a nearer member only after
//! that member has answered. The crate is pure and knows only keys. What is stored under a key, and
//! how messages travel, is not its concern.
//!
//! # The nouns
//!
//! | noun | meaning |
//! | --- | --- |
//! | [`Key`] | a position on the circle of 2^128 positions, of a member or of what it owns |
//! | [`RingMember`] | one member: its successors, its predecessor and its pending requests |
//! | successor | the next member clockwise; a member keeps a list, so that some may fail |
//! | predecessor | the previous member; a member owns the keys after it, up to its own key |
//! | finger | a member at a doubling distance, which makes a lookup take few hops |
//! | [`RingInput`] | what the driver tells a member: a message, a timeout, a timer, a command |
//! | [`RingEffect`] | what a member asks its driver to do: send, start a timer, report a result |
//!
//! # The flow
//!
//! 1. The first members are created with [`RingMember::founder`]. A later one is created with
//!    [`RingMember::new`] and joins through any member ([`RingInput::Join`]).
//! 2. Each member asks its successor for its neighbours on every [`RingTimer::Stabilise`], and
//!    adopts a nearer successor once that one has answered. It then notifies its successor. The
//!    successor adopts it if it is nearer than the present predecessor, or if that one does not
//!    answer.
//! 3. A request without an answer ends in [`RingInput::Timeout`]. If its successor does not answer,
//!    the member uses the next one of its list and reports [`RingEffect::MemberGone`]. It retries
//!    joins, and a lookup up to five times.
//! 4. A lookup ([`RingInput::LookUp`]) is forwarded to the closest preceding member, until the
//!    owner answers the requester directly.
//!
//! # What always holds
//!
//! The function [`invariant::violation`] checks the inductive invariant of corrected Chord: every
//! member has a live successor, every list is in the order of the circle, and enough members are
//! skipped by no list. While fewer members fail together than a list is long, the members then form
//! exactly one ring in the order of the circle.
//!
//! # How to drive a member
//!
//! A driver owns the clock and the network. It calls [`RingMember::handle`] for every input, and
//! carries out the effects. This loop delivers messages at once, lets no request time out, and
//! fires every timer once per round:
//!
//! ```
//! use std::collections::{BTreeMap, VecDeque};
//!
//! use argiope_ring::{Key, RingEffect, RingInput, RingMember, RingTimer};
//!
//! // A ring of two members, and a third one that joins. Lists hold two successors.
//! let founders = [Key(100), Key(300)];
//! let mut members: BTreeMap<Key, RingMember> = founders
//!     .iter()
//!     .map(|&key| (key, RingMember::founder(key, &founders, 2)))
//!     .collect();
//! members.insert(Key(200), RingMember::new(Key(200), 2));
//!
//! let mut inputs = VecDeque::from([(Key(200), RingInput::Join(Key(100)))]);
//! let mut owner = None;
//! for round in 0..10 {
//!     while let Some((to, input)) = inputs.pop_front() {
//!         let mut effects = Vec::new();
//!         members.get_mut(&to).unwrap().handle(input, &mut effects);
//!         for effect in effects {
//!             match effect {
//!                 RingEffect::Send(other, message) => {
//!                     inputs.push_back((other, RingInput::Message(to, message)));
//!                 }
//!                 RingEffect::OwnerFound { owner: found, .. } => owner = Some(found),
//!                 // A real driver starts a timer here and reports a timeout.
//!                 RingEffect::StartTimeout(_) | RingEffect::StartTimer(_) => {}
//!                 // Reports that this example does not need.
//!                 _ => {}
//!             }
//!         }
//!     }
//!     for &key in members.keys() {
//!         inputs.push_back((key, RingInput::Timer(RingTimer::Stabilise)));
//!     }
//!     if round == 8 {
//!         inputs.push_back((Key(300), RingInput::LookUp(Key(150), 7)));
//!     }
//! }
//! assert_eq!(members[&Key(100)].successors(), [Key(200), Key(300)]);
//! assert_eq!(members[&Key(300)].predecessor(), Some(Key(200)));
//! assert_eq!(owner, Some(Key(200)));
//! ```

pub mod fingers;
pub mod invariant;
pub mod key;
pub mod member;
pub mod message;

pub use key::Key;
pub use member::RingMember;
pub use message::{RequestId, RingEffect, RingInput, RingMessage, RingTimer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
