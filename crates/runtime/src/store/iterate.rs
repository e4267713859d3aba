//! Reading a whole table, one entry at a time: a run of half a million facts does not fit into the
//! memory that argiope allows itself.

use std::fmt::Display;
use std::path::PathBuf;

use argiope_controller::journal::Fact;
use argiope_controller::journal::encoding::{EncodedFact, FactError};
use argiope_explore::id::StateKey;
use redb::OwnedRange;

use super::detail::StateDetail;
use super::error::StoreError;
use super::packed::{decode, unpack};

/// The facts of a run in the order in which they were appended. Ends after the first error.
pub struct StoredFacts {
    range: Option<OwnedRange<u64, &'static [u8]>>,
    path: PathBuf,
    next: u64,
}

impl StoredFacts {
    pub(super) fn new(range: OwnedRange<u64, &'static [u8]>, path: PathBuf) -> Self {
        Self { range: Some(range), path, next: 0 }
    }

    fn read(&mut self) -> Option<Result<Fact, StoreError>> {
        let (sequence, value) = match self.range.as_mut()?.next()? {
            Ok(entry) => entry,
            Err(error) => return Some(Err(StoreError::database(&self.path, error))),
        };
        if sequence.value() != self.next {
            return Some(Err(StoreError::Damaged(format!("fact {} is missing", self.next))));
        }
        self.next += 1;
        let what = format_args!("fact {}", self.next - 1);
        Some(decode(value.value(), &what).and_then(|encoded| fact(encoded, &what)))
    }
}

impl Iterator for StoredFacts {
    type Item = Result<Fact, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if !matches!(read, Some(Ok(_))) {
            self.range = None;
        }
        read
    }
}

/// What is known of the states of a run, by key. Ends after the first error.
pub struct StoredStates {
    range: Option<OwnedRange<u128, &'static [u8]>>,
    path: PathBuf,
}

impl StoredStates {
    pub(super) fn new(range: OwnedRange<u128, &'static [u8]>, path: PathBuf) -> Self {
        Self { range: Some(range), path }
    }

    fn read(&mut self) -> Option<Result<(StateKey, StateDetail), StoreError>> {
        Some(match self.range.as_mut()?.next()? {
            Ok((key, value)) => {
                let key = StateKey(key.value());
                detail(key, value.value()).map(|detail| (key, detail))
            }
            Err(error) => Err(StoreError::database(&self.path, error)),
        })
    }
}

impl Iterator for StoredStates {
    type Item = Result<(StateKey, StateDetail), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if !matches!(read, Some(Ok(_))) {
            self.range = None;
        }
        read
    }
}

/// A fact out of its stored form.
pub(super) fn fact(encoded: EncodedFact<'_>, what: &dyn Display) -> Result<Fact, StoreError> {
    encoded.decode().map_err(|error| match error {
        FactError::Damaged(_) => StoreError::Damaged(format!("{what}: {error}")),
        FactError::UnknownKind(_) | FactError::UnknownVersion { .. } => {
            StoreError::NewerFact(format!("{what}: {error}"))
        }
    })
}

/// A state's detail out of its stored bytes.
pub(super) fn detail(key: StateKey, packed: &[u8]) -> Result<StateDetail, StoreError> {
    let what = format!("state {key:?}");
    decode(&unpack(packed, &what)?, &what)
}
