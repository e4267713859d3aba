//! The pure heart of argiope: what an application is ([`model`]), what a crawl knows of it
//! ([`graph`]), the strategies that decide what to do next ([`strategies`]), and what makes two
//! pages the same state ([`identity`]).
//!
//! Nothing here touches a clock, a disk, a network or a browser, and everything random comes from a
//! seed: the real crawler, the simulator and the model checker run this same code.

pub mod anticipated;
pub mod bound;
pub mod chance;
pub mod distances;
pub mod explorer;
pub mod flow;
pub mod graph;
pub mod id;
pub mod identity;
pub mod job;
pub mod key_map;
pub mod model;
pub mod page;
pub mod quoted;
pub mod strategies;
pub mod strategy;
pub mod tour;
pub mod transfer;
