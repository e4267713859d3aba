//! What identities promise, as tables on tiny pages and as properties of random ones.

mod arbitrary;
mod differences;
mod masks;
mod signatures;
mod table;
