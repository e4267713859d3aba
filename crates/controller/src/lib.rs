//! The controller of a crawl, alone for now: hands out jobs to crawlers, takes in their outcomes, and
//! says what must be kept. Pure: `handle(input)` gives effects, and somebody else carries them out.
//! Knows neither browsers nor disks.
//!
//! What a crawl knows ([`knowledge`]) is a function of the records it has kept; everything else that a
//! [`Controller`] holds is about the jobs in flight.

pub mod controller;
pub mod export;
pub mod input;
pub mod job;
pub mod knowledge;
pub mod outcome;
pub mod peer;
pub mod progress;
pub mod record;
pub mod route;
pub mod settings;
pub mod spent;
pub mod star;

pub use controller::Controller;
