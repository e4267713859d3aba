//! Inputs that are lists: each entry a length of four bytes (big-endian) and its content, as on a
//! connection between two processes.

const LENGTH_BYTES: usize = 4;

/// The entries of a list. What is cut off at the end is one more entry.
pub fn split(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut list = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() {
        let length = (u32::from_be_bytes(*length) as usize).min(rest.len());
        let (entry, rest) = rest.split_at(length);
        list.push(entry.to_vec());
        bytes = rest;
    }
    list
}

/// The bytes of a list.
pub fn join(list: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in list {
        let entry = entry.as_ref();
        let length = u32::try_from(entry.len()).expect("inputs are small");
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(entry);
    }
    bytes
}
