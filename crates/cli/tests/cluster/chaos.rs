//! Chaos by seed.
