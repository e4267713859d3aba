//! A crawl on several machines: controllers and crawlers as processes. Pure crates decide (`ring`,
//! `controller::peer`, `controller::star`), as in the simulator; here are connections, clocks,
//! disks and browsers.
//!
//! Controllers connect to each other; a crawler and a client dial one controller. A crawler sends
//! to that controller alone, and answers of any controller reach it that way, so that it needs no
//! open port. Contents of pages travel beside the messages, once over each connection.

mod archive;
mod certificates;
pub mod client;
mod connections;
pub mod contents;
pub mod controller;
mod crawl_state;
mod outbox;
pub mod protocol;
mod tabs;
pub mod worker;

pub use connections::Switch;
