//! `argiope testbeds`: what the test-beds say of themselves.

use crate::failure::Failure;
use crate::output;
use crate::source;

pub fn run() -> Result<(), Failure> {
    output::print(&list(source::testbeds()))
}

/// Names, and beside them what they stand for.
pub fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = (&'static str, T)>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    let width = items.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = items.iter().map(|(name, summary)| format!("{name:<width$}  {summary}\n"));
    lines.collect()
}
