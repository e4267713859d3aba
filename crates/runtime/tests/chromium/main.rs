//! Whole crawls of real pages in a real Chromium. Where no browser is installed these tests fail.

mod real;
mod sites;
