//! Reading a whole table, one entry at a time: a run of half a million records does not fit into the
//! memory that argiope allows itself.

use std::path::PathBuf;

use argiope_controller::record::Record;
use argiope_explore::id::StateKey;
use redb::OwnedRange;

use super::detail::StateDetail;
use super::error::StoreError;
use super::packed::{decode, unpack};

/// The records of a run in the order in which they were appended. Ends after the first error.
pub struct StoredRecords {
    range: Option<OwnedRange<u64, &'static [u8]>>,
    path: PathBuf,
    next: u64,
}

impl StoredRecords {
    pub(super) fn new(range: OwnedRange<u64, &'static [u8]>, path: PathBuf) -> Self {
        Self { range: Some(range), path, next: 0 }
    }

    fn read(&mut self) -> Option<Result<Record, StoreError>> {
        let (sequence, value) = match self.range.as_mut()?.next()? {
            Ok(entry) => entry,
            Err(error) => return Some(Err(StoreError::database(&self.path, error))),
        };
        if sequence.value() != self.next {
            return Some(Err(StoreError::Damaged(format!("record {} is missing", self.next))));
        }
        self.next += 1;
        Some(decode(value.value(), &format_args!("record {}", self.next - 1)))
    }
}

impl Iterator for StoredRecords {
    type Item = Result<Record, StoreError>;

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

/// A state's detail out of its stored bytes.
pub(super) fn detail(key: StateKey, packed: &[u8]) -> Result<StateDetail, StoreError> {
    let what = format!("state {key:?}");
    decode(&unpack(packed, &what)?, &what)
}
