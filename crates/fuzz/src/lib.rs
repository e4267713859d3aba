//! Fuzz targets of argiope: what processes of a cluster, disks, users and pages give it, made
//! hostile. A target is a function of bytes that asserts what must hold for any bytes. The
//! [`runner`] replays the corpora of `corpus/`, and changes their inputs with a seeded [`mutator`].
//!
//! A tool: the product does not depend on it. It uses the same interfaces that the product uses.

pub mod frames;
pub mod mutator;
pub mod reached;
pub mod runner;
pub mod targets;
mod world;

use std::path::PathBuf;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// The largest input. It bounds the memory of a run.
pub const MAX_INPUT: usize = 64 << 10;

/// The directory with the corpus of a target.
pub fn corpus_directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The corpus of a target: the names and the bytes of its files, in the order of the names.
pub fn corpus(target: &str) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut corpus = Vec::new();
    for entry in std::fs::read_dir(corpus_directory(target))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        corpus.push((name, std::fs::read(entry.path())?));
    }
    corpus.sort();
    Ok(corpus)
}
