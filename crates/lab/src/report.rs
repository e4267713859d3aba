//! Reports of measurements: tables, CSV, figures as SVG. All functions return text; the command
//! prints it and writes files.

pub mod boxplot;
pub mod csv;
pub mod lines;
pub mod recovery;
pub mod rings;
pub mod star;
pub mod strategies;
pub mod svg;
