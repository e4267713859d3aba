//! Tests of the identities: tables of small pages, and properties of random pages.

mod arbitrary;
mod differences;
mod masks;
mod signatures;
mod table;
