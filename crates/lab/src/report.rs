//! What was measured, written down: tables for people, lines for programs, figures for documents.
//! Everything here is a function to text; printing and files are the command's.

pub mod boxplot;
pub mod csv;
pub mod lines;
pub mod recovery;
pub mod rings;
pub mod star;
pub mod strategies;
pub mod svg;
