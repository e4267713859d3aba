//! Whole crawls of real pages in a real Chromium. Where no browser is installed these tests fail.

mod cassandra;
mod identities;
mod killed;
mod memory;
mod other;
mod pages;
mod real;
mod sites;
mod troubles;
