//! The encoding of everything that is hashed. Each text is preceded by its length, so different
//! lists of texts give different bytes.

/// Collects the bytes to hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    /// Begins with the purpose of the hash, so that hashes for different purposes never collide.
    pub(crate) fn tagged(purpose: &str) -> Self {
        let mut encoder = Self::default();
        encoder.text(purpose);
        encoder
    }

    pub(crate) fn mark(&mut self, mark: u8) -> &mut Self {
        self.0.push(mark);
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn wide(&mut self, number: u128) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// The first 128 bits of the hash.
    pub(crate) fn wide_digest(&self) -> u128 {
        let mut first = [0; 16];
        first.copy_from_slice(&blake3::hash(&self.0).as_bytes()[..16]);
        u128::from_le_bytes(first)
    }

    /// The first 64 bits of the hash.
    pub(crate) fn digest(&self) -> u64 {
        // The low half holds the first eight bytes.
        self.wide_digest() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Encoder;

    #[test]
    fn different_lists_of_texts_give_different_digests() {
        let of = |texts: &[&str]| {
            let mut encoder = Encoder::tagged("test");
            for text in texts {
                encoder.text(text);
            }
            encoder.wide_digest()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a", ""]), of(&["", "a"]));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
