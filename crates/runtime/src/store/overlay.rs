//! A file that is read and never written: writes stay in memory. So the database can recover a
//! store whose writer was killed for a reader, also from a full or write-protected disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

/// The grain of what is kept in memory: the database's page.
const GRAIN: u64 = 4096;

/// A file, and what was written over it.
#[derive(Debug)]
pub(super) struct Overlay {
    file: FileBackend,
    over: Mutex<Over>,
}

#[derive(Debug)]
struct Over {
    /// Of the file, as far as it shows through.
    below: u64,
    length: u64,
    grains: BTreeMap<u64, Box<[u8]>>,
}

impl Overlay {
    /// Over a file that is open for reading.
    pub(super) fn new(file: File) -> Result<Self, DatabaseError> {
        let file = FileBackend::new(file)?;
        let length = file.len()?;
        Ok(Self { file, over: Mutex::new(Over { below: length, length, grains: BTreeMap::new() }) })
    }

    /// A panic elsewhere leaves whole grains behind, so that poisoning says nothing here.
    fn over(&self) -> MutexGuard<'_, Over> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Over {
    /// The bytes of one grain as they are now.
    fn grain(&self, file: &FileBackend, index: u64) -> io::Result<Box<[u8]>> {
        if let Some(grain) = self.grains.get(&index) {
            return Ok(grain.clone());
        }
        let mut grain = vec![0; GRAIN as usize].into_boxed_slice();
        let start = index * GRAIN;
        let there = self.below.saturating_sub(start).min(GRAIN) as usize;
        if there > 0 {
            file.read(start, &mut grain[..there])?;
        }
        Ok(grain)
    }
}

/// The pieces of a range of bytes, by grain: which one, from where in it, and the place in the
/// range.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let within = (at % GRAIN) as usize;
        let count = (GRAIN as usize - within).min(length - done);
        done += count;
        Some((at / GRAIN, within, done - count..done))
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.over().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let over = self.over();
        let end = offset.saturating_add(out.len() as u64);
        if end > over.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let untouched = over.grains.range(offset / GRAIN..=end / GRAIN).next().is_none();
        if untouched && end <= over.below {
            drop(over);
            return self.file.read(offset, out);
        }
        for (index, within, place) in parts(offset, out.len()) {
            let count = place.len();
            out[place].copy_from_slice(&over.grain(&self.file, index)?[within..within + count]);
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut over = self.over();
        if length < over.length {
            // What is cut off must read as zeros if the storage grows again.
            over.below = over.below.min(length);
            over.grains.split_off(&length.div_ceil(GRAIN));
            let cut = (length % GRAIN) as usize;
            if cut > 0
                && let Some(grain) = over.grains.get_mut(&(length / GRAIN))
            {
                grain[cut..].fill(0);
            }
        }
        over.length = length;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut over = self.over();
        for (index, within, place) in parts(offset, bytes.len()) {
            let mut grain = over.grain(&self.file, index)?;
            grain[within..within + place.len()].copy_from_slice(&bytes[place]);
            over.grains.insert(index, grain);
        }
        over.length = over.length.max(offset + bytes.len() as u64);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    // A writer locks the file exclusively; readers share it, whatever the database asks for.
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use argiope_explore::chance::Chance;

    use super::*;

    #[test]
    fn reads_what_a_file_would_hold_and_leaves_the_file_alone() {
        let path = std::env::temp_dir().join(format!("argiope-overlay-{}", std::process::id()));
        let below: Vec<u8> = (0..30_000_u32).map(|index| index.to_le_bytes()[1]).collect();
        std::fs::write(&path, &below).unwrap();
        let overlay = Overlay::new(File::open(&path).unwrap()).unwrap();
        let mut model = below.clone();
        let mut chance = Chance::new(&[3]);
        for round in 0..3000 {
            let (offset, length) = (chance.below(model.len() + 1), chance.below(9000));
            match chance.below(4) {
                0 => {
                    let bytes = vec![round as u8; length];
                    model.resize(model.len().max(offset + length), 0);
                    model[offset..offset + length].copy_from_slice(&bytes);
                    overlay.write(offset as u64, &bytes).unwrap();
                }
                1 => {
                    let length = chance.below(50_000);
                    model.resize(length, 0);
                    overlay.set_len(length as u64).unwrap();
                }
                _ => {
                    let mut out = vec![0xee; length];
                    let read = overlay.read(offset as u64, &mut out);
                    match model.get(offset..offset + length) {
                        Some(expected) => assert!(read.is_ok() && out == expected, "round {round}"),
                        None => assert!(read.is_err(), "round {round}"),
                    }
                }
            }
            assert_eq!(overlay.len().unwrap(), model.len() as u64);
        }
        assert!(std::fs::read(&path).unwrap() == below);
        std::fs::remove_file(&path).unwrap();
    }
}
