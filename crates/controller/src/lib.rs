//! The controller of a crawl, alone for now: hands out jobs to crawlers, takes in their outcomes, and
//! says what must be kept. Pure: `handle(input)` gives effects, and somebody else carries them out.
//! Knows neither browsers nor disks.

pub mod job;
pub mod outcome;
pub mod record;
