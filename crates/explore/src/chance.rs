//! The seeded generator behind every random choice. The same seed must give the same bytes in every
//! version of argiope, so the generator is defined here and not by a library.

/// A seeded random generator (SplitMix64): one 64-bit word of state, no allocation.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Creates a generator. Its stream depends only on the words of the seed and their order.
    pub fn new(seed: &[u64]) -> Self {
        let mut chance = Self(0x5DEE_CE66_D1CE_4E5B);
        for &word in seed {
            chance.0 ^= word;
            chance.0 = chance.word();
        }
        chance
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws a number below `limit`, which must not be zero. The bias of the multiplication is
    /// below 2^-32 for the sizes used here.
    pub fn below(&mut self, limit: usize) -> usize {
        assert!(limit > 0, "the limit of a draw must not be zero");
        ((u128::from(self.word()) * limit as u128) >> 64) as usize
    }

    /// Shuffles the items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_seed_gives_the_same_stream_in_every_version() {
        let mut chance = Chance::new(&[1, 2]);
        assert_eq!([chance.word(), chance.word()], [17181513483571750677, 17549097048458266643]);
        assert_ne!(Chance::new(&[1, 2]).word(), Chance::new(&[2, 1]).word());
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Chance::new(&[7]).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
