#![doc = include_str!("../README.md")]

pub mod arguments;
pub mod browser;
pub mod cluster;
pub mod failure;
pub mod format;
pub mod interrupt;
pub mod logging;
pub mod names;
pub mod output;
pub mod processes;
pub mod progress;
pub mod source;
pub mod strategy_runs;
pub mod table;
pub mod terminal;
pub mod threads;
