//! A crawl on many machines: controllers and crawlers as processes. The deciding is the ring's and the peers', as the
//! simulator runs them; here are connections, clocks, disks and browsers.
//!
//! Controllers keep a connection to each other; crawlers and clients dial one controller. A crawler's words go to its
//! own controller (its home), which passes answers on from whichever controller gave them, so that a crawler need
//! not be reachable. What pages are like travels beside the messages, once over each connection.

pub mod client;
mod connections;
pub mod contents;
pub mod controller;
mod crawl_state;
pub mod protocol;
mod tabs;
pub mod worker;

pub use connections::Switch;
