//! Bytes in one piece: the derived code of serde reads and writes a list of bytes one by one. The
//! encoding is the same.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }
    deserializer.deserialize_byte_buf(Bytes)
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[test]
    fn bytes_in_one_piece_have_the_encoding_of_a_list() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct Whole(#[serde(with = "super")] Vec<u8>);
        let bytes: Vec<u8> = (0..300).map(|number| number as u8).collect();
        let listed = postcard::to_allocvec(&bytes).unwrap();
        assert_eq!(postcard::to_allocvec(&Whole(bytes.clone())).unwrap(), listed);
        assert_eq!(postcard::from_bytes(&listed), Ok(Whole(bytes)));
    }
}
