//! The controllers of a crawl: one on one machine ([`Controller`]), several in a ring ([`peer`]),
//! or a coordinator in a star ([`star`]). They hand out jobs to crawlers, take in their outcomes,
//! and say what must be kept. Pure: `handle(input)` gives effects, and a driver carries them out.
//! They know neither browsers nor disks.
//!
//! What a crawl knows ([`knowledge`]) is a function of the facts it has kept ([`journal`]).
//! Everything else that a [`Controller`] holds is about the jobs in flight.

pub mod controller;
pub mod export;
pub mod input;
pub mod job;
pub mod journal;
pub mod knowledge;
pub mod outcome;
pub mod peer;
pub mod progress;
pub mod route;
pub mod settings;
pub mod spent;
pub mod star;

pub use controller::Controller;
