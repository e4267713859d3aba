//! The controllers of a crawl: one on one machine ([`Controller`]), several in a ring
//! ([`peer::Peer`]), or a coordinator in a star ([`star`]). They assign jobs to crawlers, take
//! outcomes in, and say which facts must be durable. They are pure: `handle(input)` appends
//! effects, and a driver carries them out. They know neither browsers nor disks.
//!
//! # Where to read first
//!
//! 1. [`job`] and [`outcome`]: what a crawler does, and how that ends.
//! 2. [`journal`]: the facts. What a crawl knows ([`knowledge`]) is a function of its facts; the
//!    rest of a [`Controller`] is about jobs in flight.
//! 3. [`input`]: what enters the controller of one machine and what leaves it.
//! 4. [`peer::message`]: what enters and leaves a controller of a ring, and every message between
//!    controllers. `docs/protocol.md` tells what happens when one is lost.
//! 5. [`star`]: the static scheme, in which each crawler finds its own work.
//!
//! [`export`] turns facts into models and paths, [`route`] finds paths that strategies do not know,
//! [`progress`] and [`spent`] count, and [`settings`] holds what a crawl is told at its beginning.
//! [`decoding`] reads bytes of other processes within a budget of memory.
//!
//! # How to add a knowledge-sharing scheme
//!
//! A scheme says what controllers of a ring learn of each other's states, and where a controller
//! looks for work when its own states are exhausted.
//!
//! 1. Add a row to [`peer::schemes::ALL`]: a name, one line of help, where it looks
//!    ([`peer::schemes::Looks`]) and how it learns ([`peer::schemes::Hears`]). The command line,
//!    the benches and the tests read that table.
//! 2. A new way of looking is a case of `Looks`. The compiler then shows the two places that
//!    decide: `Peer::find` (work for a crawler) and `Peer::find_own` (work for a request that goes
//!    round).
//! 3. A new way of learning is a case of `Hears`. Hints travel in [`peer::message::Envelope`]; the
//!    receiver takes them in before the message.
//! 4. Run `cargo test -p argiope-sim --test ring`: it runs every scheme with every failover policy
//!    while controllers fail, pause, join and leave, and checks the model at the end.
//! 5. Run `argiope bench schemes --quick` to compare its messages and its time with the others.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

pub mod controller;
pub mod coverage;
pub mod decoding;
pub mod export;
pub mod input;
pub mod job;
pub mod journal;
pub mod knowledge;
pub mod lifecycle;
pub mod outcome;
pub mod peer;
pub mod progress;
pub mod route;
pub mod settings;
pub mod spent;
pub mod star;
pub mod tab_shares;

pub use controller::Controller;
