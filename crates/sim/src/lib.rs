//! A made-up world for argiope: applications that are known in full ([`testbeds`]), a crawler that
//! crawls them by counting ([`crawl`]), and what the papers report of their crawls ([`published`]).

pub mod crawl;
pub mod published;
pub mod testbeds;
pub mod tour;
