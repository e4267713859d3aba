#![doc = include_str!("../README.md")]

pub mod address;
pub mod browsers;
pub mod cluster;
pub mod crawl;
pub mod crawler;
pub mod executor;
pub mod label;
pub mod learned;
pub mod pace;
pub mod page_index;
pub mod private;
pub mod probe;
pub mod selectors;
pub mod settings;
pub mod store;
pub mod summary;
