//! What was measured, written down: tables for people, lines for programs, figures for documents.
//! Everything here is a function to text; printing and files are the command's.

pub mod bench;
pub mod boxplot;
pub mod cluster;
pub mod csv;
pub mod json;
pub mod lines;
pub mod recovery;
pub mod rings;
pub mod simulate;
pub mod star;
pub mod svg;
pub mod table;
pub mod text;
