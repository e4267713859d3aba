//! The commands, one file each, with their arguments.

pub mod bench;
pub mod bound;
pub mod certs;
pub mod completions;
pub mod controller;
pub mod crawl;
pub mod crawler;
mod describe;
pub mod explain;
pub mod export;
pub mod identities;
pub mod ledger;
pub mod local_cluster;
pub mod man;
pub mod model;
pub mod simulate;
pub mod sites;
pub mod states;
pub mod status;
pub mod strategies;
pub mod testbeds;
