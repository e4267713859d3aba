//! The targets, one file each.

use crate::reached::Reached;

pub mod controllers;
pub mod facts;
pub mod frames;
pub mod machines;
pub mod models;
pub mod pages;

/// A fuzz target.
pub struct FuzzTarget {
    /// Its name, also of the directory of its corpus.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Its inputs are lists of frames ([`crate::frames`]).
    pub framed: bool,
    /// Pieces of text that its format knows.
    pub tokens: &'static [&'static str],
    /// Runs an input. Panics if something does not hold that must hold for any input.
    pub run: fn(&[u8]) -> Reached,
    /// Makes the valid inputs that its corpus begins with, each with a name.
    pub seeds: fn() -> Vec<(String, Vec<u8>)>,
}

/// Every target.
pub const ALL: &[FuzzTarget] = &[
    frames::TARGET,
    machines::TARGET,
    controllers::TARGET,
    facts::TARGET,
    models::TARGET,
    pages::TARGET,
];

/// The target with this name.
pub fn find(name: &str) -> Option<&'static FuzzTarget> {
    ALL.iter().find(|target| target.name == name)
}
