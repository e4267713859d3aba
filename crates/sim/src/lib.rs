//! A made-up world for argiope: applications that are known in full ([`testbeds`]), a crawler that
//! crawls them by counting ([`crawl`](mod@crawl)), and several crawlers under one controller ([`crawler`], [`fleet`]). What came out is condensed ([`summary`], [`mod@bench`]) and
//! written down ([`report`]), beside what the papers printed ([`published`](mod@published)).

pub mod bench;
pub mod cluster;
mod counts;
pub mod crawl;
pub mod crawler;
mod environment;
mod event_loop;
pub mod fleet;
pub mod published;
pub mod report;
pub mod rings;
pub mod star;
pub mod summary;
pub mod testbeds;
pub mod tour;
