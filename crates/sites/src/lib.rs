//! The fixture applications: small pages that each stand for one difficulty of crawling, what a
//! crawl of each must find, and a server for them on loopback. Knows nothing of crawlers or
//! browsers.
//!
//! [`Site`] is a fixture with its [`Expected`] counts, and [`Server`] serves one.

mod expected;
mod files;
mod libraries;
mod reply;
mod routes;
mod server;
mod site;

pub use expected::{CrawlOptions, Expected, Notes};
pub use server::{Server, StartError};
pub use site::{MissingLibrary, Site};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
