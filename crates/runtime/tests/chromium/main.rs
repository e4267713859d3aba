//! Whole crawls of real pages in a real Chromium. Where no browser is installed these tests fail. They begin in the order of their
//! names: the one that takes longest (`sites`) should not be the last.

mod identities;
mod killed;
mod memory;
mod other;
mod pages;
mod real;
mod sites;
mod tree;
mod troubles;
