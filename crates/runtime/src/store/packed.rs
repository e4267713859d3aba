//! Encodes values for the database, and compresses them where that pays. Reading trusts nothing: a
//! damaged value gives an error, and memory grows only with the bytes that are there.

use std::fmt::Display;
use std::io::Read;

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

/// The bytes that were stored. `what` names the value in the error.
pub(crate) fn unpack(packed: &[u8], what: &dyn Display) -> Result<Vec<u8>, StoreError> {
    let damaged = || StoreError::Damaged(format!("{what} cannot be decompressed"));
    match packed.split_first() {
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&ZSTD, rest)) => {
            let (length, frame) = rest.split_first_chunk().ok_or_else(damaged)?;
            let length = u64::from_le_bytes(*length);
            let mut decoder = zstd::stream::read::Decoder::new(frame).map_err(|_| damaged())?;
            decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| damaged())?;
            let mut bytes = Vec::new();
            decoder
                .take(length.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(|_| damaged())?;
            if bytes.len() as u64 == length { Ok(bytes) } else { Err(damaged()) }
        }
        _ => Err(damaged()),
    }
}

/// Enough for a fact, so that the buffer seldom grows.
const USUAL_BYTES: usize = 96;

/// A value in the store's encoding.
pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, Vec::with_capacity(USUAL_BYTES))
        .expect("the store's types have nothing that cannot be encoded")
}

/// A value out of the store's encoding; all bytes must belong to it.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: &dyn Display,
) -> Result<T, StoreError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(StoreError::Damaged(format!("{what} has bytes too many"))),
        Err(error) => Err(StoreError::Damaged(format!("{what}: {error}"))),
    }
}
