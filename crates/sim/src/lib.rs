//! A simulated world for argiope: applications that are known in full ([`testbeds`]), a crawler
//! that counts its actions ([`crawl`](mod@crawl)), and several crawlers under one or more
//! controllers ([`fleet`], [`cluster`], [`star`]). [`summary`] condenses runs to medians.

pub mod cluster;
mod counts;
pub mod crawl;
pub mod crawler;
mod environment;
mod event_loop;
pub mod fleet;
pub mod star;
pub mod summary;
pub mod testbeds;
pub mod tour;
