//! Encodes values for the database, and compresses them where that pays. Reading trusts nothing: a
//! damaged value gives an error, and the reader's limits decide how much memory a value takes, not
//! the lengths that the value claims.

use std::fmt::Display;
use std::io::{self, Read};

use argiope_controller::decoding::{self, MemoryBudget};
use serde::{Deserialize, Serialize};

use super::error::StoreError;

/// The value follows as it is.
const PLAIN: u8 = 0;
/// The value's length (eight bytes, little-endian) and a zstd frame follow.
const ZSTD: u8 = 1;

/// Below this a frame's own bytes eat the gain.
const WORTH_COMPRESSING: usize = 256;

/// Measured on page sources of 24 KB: level 5 takes more than twice the time and is no smaller.
const LEVEL: i32 = 3;

/// The level above needs at most a window of 2 MB; a damaged frame must not ask for 128.
const WINDOW_LOG_MAX: u32 = 23;

/// The most bytes that a value may have. A page and its picture are two messages of the browser, of
/// at most 64 MB each.
pub(crate) const MOST_BYTES: usize = 128 << 20;

/// Bytes as they are stored.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() >= WORTH_COMPRESSING
        && let Ok(frame) = zstd::bulk::compress(bytes, LEVEL)
        && frame.len() + 8 < bytes.len()
    {
        let mut packed = Vec::with_capacity(1 + 8 + frame.len());
        packed.push(ZSTD);
        packed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        packed.extend_from_slice(&frame);
        return packed;
    }
    let mut packed = Vec::with_capacity(1 + bytes.len());
    packed.push(PLAIN);
    packed.extend_from_slice(bytes);
    packed
}

/// The bytes that were stored, if they are at most `most`. `what` names the value in the error.
pub(crate) fn unpack(
    packed: &[u8],
    most: usize,
    what: &dyn Display,
) -> Result<Vec<u8>, StoreError> {
    let damaged = || StoreError::Damaged(format!("{what} cannot be decompressed"));
    let too_large = || StoreError::Damaged(format!("{what} has more than {most} bytes"));
    match packed.split_first() {
        Some((&PLAIN, bytes)) if bytes.len() > most => Err(too_large()),
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&ZSTD, rest)) => {
            let (length, frame) = rest.split_first_chunk().ok_or_else(damaged)?;
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            if length > most {
                return Err(too_large());
            }
            let mut decoder = zstd::stream::read::Decoder::new(frame).map_err(|_| damaged())?;
            decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| damaged())?;
            read_exactly(decoder, length).ok().flatten().ok_or_else(damaged)
        }
        _ => Err(damaged()),
    }
}

/// All bytes of a reader if there are `length`. Reads one byte more at most, and memory grows with
/// the bytes that come.
fn read_exactly(reader: impl Read, length: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(length as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length).then_some(bytes))
}

/// Enough for a fact, so that the buffer seldom grows.
const USUAL_BYTES: usize = 96;

/// A value in the store's encoding.
pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, Vec::with_capacity(USUAL_BYTES))
        .expect("the store's types have nothing that cannot be encoded")
}

/// A value out of the store's encoding; all bytes must belong to it. A store may come from
/// elsewhere, so that a value may take only a multiple of its bytes.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: &dyn Display,
) -> Result<T, StoreError> {
    decoding::decode(bytes, MemoryBudget::MESSAGE)
        .map_err(|error| StoreError::Damaged(format!("{what}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// A gibibyte of zeros, packed, that claims a length.
    fn bomb(claimed: u64) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).unwrap();
        io::copy(&mut io::repeat(0).take(GIB), &mut encoder).unwrap();
        let frame = encoder.finish().unwrap();
        [&[ZSTD], claimed.to_le_bytes().as_slice(), &frame].concat()
    }

    /// A reader that fails the test when more is read than a limit allows.
    struct Bounded<R> {
        reader: R,
        left: usize,
    }

    impl<R: Read> Read for Bounded<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.reader.read(into)?;
            self.left = self.left.checked_sub(read).expect("the limit holds");
            Ok(read)
        }
    }

    #[test]
    fn a_bomb_is_an_error_before_it_takes_memory() {
        let honest = bomb(GIB);
        assert!(honest.len() < 200_000, "{} bytes", honest.len());
        let error = unpack(&honest, MOST_BYTES, &"a bomb").unwrap_err();
        assert_eq!(error.to_string(), "the store is damaged: a bomb has more than 134217728 bytes");
        // It claims less than comes out: decompression stops one byte later.
        let length = 1 << 20;
        let lying = bomb(length);
        assert!(unpack(&lying, MOST_BYTES, &"a bomb").is_err());
        let decoder = zstd::stream::read::Decoder::new(&lying[9..]).unwrap();
        let bounded = Bounded { reader: decoder, left: length as usize + 1 };
        assert_eq!(read_exactly(bounded, length as usize).unwrap(), None);
    }

    #[test]
    fn the_limit_is_exact_for_plain_and_for_compressed_bytes() {
        for bytes in [vec![7; 1_000], (0..200).collect::<Vec<u8>>()] {
            let packed = pack(&bytes);
            assert_eq!(unpack(&packed, bytes.len(), &"a value").unwrap(), bytes);
            assert!(unpack(&packed, bytes.len() - 1, &"a value").is_err());
        }
    }
}
