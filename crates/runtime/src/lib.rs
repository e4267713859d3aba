//! What a crawl does in the world. So far its [`store`]: what must survive the end of the process.
//! Decides nothing: that is `controller`'s part.

pub mod store;
