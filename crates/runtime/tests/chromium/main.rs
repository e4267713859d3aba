//! Whole crawls of real pages in a real Chromium. Without an installed browser these tests fail.

mod border;
mod hostile;
mod identities;
mod inputs;
mod killed;
mod logins;
mod memory;
mod other;
mod pages;
mod parts;
mod real;
mod recorder;
mod remembering;
mod repeatable;
mod served;
mod settling;
mod sites;
mod tree;
mod troubles;
