//! What a crawl does in the world: browsers, the disk, the clock. Decides nothing: that is `controller`'s part.

pub mod browsers;
pub mod cluster;
pub mod crawl;
pub mod crawler;
pub mod executor;
pub mod label;
pub mod learned;
pub mod pace;
pub mod page_index;
pub mod probe;
pub mod selectors;
pub mod settings;
pub mod store;
pub mod summary;
