//! Whole crawls of real pages in a real Chromium. Without an installed browser these tests fail.

mod identities;
mod killed;
mod memory;
mod other;
mod pages;
mod real;
mod remembering;
mod settling;
mod sites;
mod tree;
mod troubles;
