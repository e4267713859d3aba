//! The counter for values that must be unique. No number is given out twice, also not after a
//! crash: the store knows which blocks of numbers may be used, and a resumed crawl skips one more.

use argiope_browser::agent::PathStep;
use argiope_explore::page::Kind;

/// The numbers that are reserved at once. Far more than a crawl uses between two writes.
const BLOCK: u64 = 1_000;

/// There are this many numbers: eight digits.
const ALL: u64 = 100_000_000;

/// Crawls and processes begin at multiples of this.
const SHARE: u64 = 10_000;

/// Gives out numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UniqueNumbers {
    next: u64,
    reserved: u64,
}

impl UniqueNumbers {
    /// The numbers of a resumed crawl, of which these were reserved.
    pub fn after(reserved: u64) -> Self {
        let next = reserved + BLOCK;
        Self { next, reserved: next }
    }

    /// The numbers of a new crawl. The text says where they begin: the seed, so that a crawl can be
    /// repeated; in a cluster the secret of the process, so that no two processes share any.
    pub fn beginning(text: &str) -> Self {
        let hash = blake3::hash(text.as_bytes());
        let first: &[u8; 8] = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
        let next = u64::from_le_bytes(*first) % (ALL / SHARE) * SHARE;
        Self { next, reserved: next }
    }

    /// The next number, and whether a further block is reserved, which the store must know.
    pub fn issue(&mut self) -> (String, bool) {
        let number = format!("{:08}", self.next % ALL);
        self.next += 1;
        let is_reserved = self.next <= self.reserved;
        if !is_reserved {
            self.reserved += BLOCK;
        }
        (number, !is_reserved)
    }

    /// The numbers below this one may be used.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }
}

/// Whether a step may type a value that must be unique.
pub fn needs_number(step: &PathStep) -> bool {
    match step.kind {
        Kind::Fill => true,
        Kind::Input | Kind::Enter => step.argument.contains("{n}"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_number_is_given_out_twice_also_not_after_a_crash() {
        let mut used = BTreeSet::new();
        let mut numbers = UniqueNumbers::default();
        for issued in [3, 1_000, 2_500, 1] {
            let mut stored = vec![numbers.reserved()];
            for _ in 0..issued {
                let (number, news) = numbers.issue();
                assert!(used.insert(number));
                if news {
                    stored.push(numbers.reserved());
                }
            }
            // The last write is lost.
            stored.pop();
            numbers = UniqueNumbers::after(stored.pop().unwrap_or_default());
        }
        assert_eq!(used.len(), 3_504);
    }

    #[test]
    fn a_number_has_eight_digits() {
        assert_eq!(UniqueNumbers::default().issue(), ("00000000".to_owned(), true));
        let mut numbers = UniqueNumbers::beginning("secret");
        let (first, second) = (numbers.issue().0, numbers.issue().0);
        assert!(first.len() == 8 && second.len() == 8 && first < second, "{first} {second}");
    }
}
