//! Measurements of argiope and what is written of them: strategies on known applications
//! ([`comparison`]), rings of controllers ([`rings`]), the papers' figures beside them
//! ([`published`](mod@published)), and tables, CSV and figures ([`report`]). The product does not
//! depend on any of it.

pub mod comparison;
pub mod published;
pub mod report;
pub mod rings;
