//! A made-up world for argiope: applications that are known in full ([`testbeds`]) and a crawler
//! that crawls them by counting ([`crawl`]).

pub mod crawl;
pub mod testbeds;
pub mod tour;
