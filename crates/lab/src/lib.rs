#![doc = include_str!("../README.md")]

pub mod comparison;
pub mod published;
pub mod report;
pub mod rings;
