//! Changes inputs: flips bits, replaces numbers, moves and repeats pieces, and mixes two inputs. An
//! input that is a list of frames is changed frame by frame, so that most of it still decodes.
//! Knows nothing of what the bytes mean.

use argiope_explore::chance::Chance;

use crate::MAX_INPUT;
use crate::frames;

/// Numbers at which decoders and machines are likely to be wrong.
const NUMBERS: [u128; 20] = [
    0,
    1,
    2,
    3,
    7,
    16,
    63,
    64,
    127,
    128,
    255,
    256,
    u16::MAX as u128,
    i32::MAX as u128,
    u32::MAX as u128,
    u32::MAX as u128 + 1,
    i64::MAX as u128,
    u64::MAX as u128 - 1,
    u64::MAX as u128,
    u128::MAX,
];

/// At most this many changes are made to an input at once.
const MOST_CHANGES: usize = 4;
/// The longest piece that is moved, repeated or removed.
const LONGEST_PIECE: usize = 256;

/// Makes new inputs from known ones.
pub struct Mutator {
    chance: Chance,
    framed: bool,
    tokens: &'static [&'static str],
}

impl Mutator {
    /// A mutator whose choices depend on the seed alone. `framed`: an input is a list of frames.
    /// `tokens` are pieces of text that the format knows.
    pub fn new(seed: u64, framed: bool, tokens: &'static [&'static str]) -> Self {
        Self { chance: Chance::new(&[seed]), framed, tokens }
    }

    /// Chooses an input of a corpus. Half of the time one of those that were added last.
    pub fn choose<'a>(&mut self, corpus: &'a [Vec<u8>]) -> &'a [u8] {
        let last = corpus.len().min(64);
        let at = if self.chance.below(2) == 0 {
            corpus.len() - 1 - self.chance.below(last)
        } else {
            self.chance.below(corpus.len())
        };
        &corpus[at]
    }

    /// Changes an input. `other` is a second input, to take pieces from.
    pub fn mutate(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = if self.framed && self.chance.below(16) > 0 {
            self.mutate_frames(input, other)
        } else {
            let mut bytes = input.to_vec();
            self.change(&mut bytes, other);
            bytes
        };
        bytes.truncate(MAX_INPUT);
        bytes
    }

    fn mutate_frames(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut list = frames::split(input);
        let others = frames::split(other);
        for _ in 0..1 + self.chance.below(MOST_CHANGES) {
            if list.is_empty() {
                list.push(Vec::new());
            }
            let at = self.chance.below(list.len());
            match self.chance.below(12) {
                0 if list.len() > 1 => _ = list.remove(at),
                1 => list.insert(at, list[self.chance.below(list.len())].clone()),
                2 => {
                    let other = self.chance.below(list.len());
                    list.swap(at, other);
                }
                3 if !others.is_empty() => {
                    list.insert(at, others[self.chance.below(others.len())].clone());
                }
                4 if !others.is_empty() => {
                    list.truncate(at + 1);
                    let from = self.chance.below(others.len());
                    list.extend(others[from..].iter().cloned());
                }
                _ => {
                    let piece = if others.is_empty() {
                        &[][..]
                    } else {
                        &others[self.chance.below(others.len())]
                    };
                    let mut frame = std::mem::take(&mut list[at]);
                    self.change(&mut frame, piece);
                    list[at] = frame;
                }
            }
        }
        frames::join(&list)
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..1 + self.chance.below(MOST_CHANGES) {
            self.change_once(bytes, other);
        }
    }

    fn change_once(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.chance.below(bytes.len() + 1);
        let here = at.min(bytes.len().saturating_sub(1));
        match self.chance.below(14) {
            0 | 1 if !bytes.is_empty() => bytes[here] ^= 1 << self.chance.below(8),
            2 if !bytes.is_empty() => bytes[here] = self.chance.word() as u8,
            3 if !bytes.is_empty() => {
                bytes[here] = bytes[here].wrapping_add(self.chance.below(9) as u8).wrapping_sub(4);
            }
            4 => self.put_number(bytes, at),
            5 => self.put_varint(bytes, at),
            6 => _ = bytes.drain(self.piece(bytes, at)),
            7 => {
                let piece = bytes[self.piece(bytes, at)].to_vec();
                let to = self.chance.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            8 => {
                let piece = bytes[self.piece(bytes, at)].to_vec();
                let times = 1 + self.chance.below(8);
                bytes.splice(at..at, piece.repeat(times));
            }
            9 | 10 => {
                let from = self.chance.below(other.len() + 1);
                let piece = other[self.piece(other, from)].to_vec();
                let upto = if self.chance.below(2) == 0 { at } else { self.piece(bytes, at).end };
                bytes.splice(at..upto, piece);
            }
            11 if !self.tokens.is_empty() => {
                let token = self.tokens[self.chance.below(self.tokens.len())];
                let upto = if self.chance.below(2) == 0 { at } else { self.piece(bytes, at).end };
                bytes.splice(at..upto, token.bytes());
            }
            12 => bytes.truncate(at),
            _ => bytes.insert(at, self.chance.word() as u8),
        }
    }

    /// A piece that begins at a place.
    fn piece(&mut self, bytes: &[u8], at: usize) -> std::ops::Range<usize> {
        let longest = (bytes.len() - at).min(LONGEST_PIECE);
        let length = if self.chance.below(4) == 0 { longest } else { longest.min(16) };
        at..at + self.chance.below(length + 1)
    }

    fn number(&mut self) -> u128 {
        NUMBERS[self.chance.below(NUMBERS.len())]
    }

    /// Overwrites bytes with a number of fixed width, in either order.
    fn put_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let width = 1 << self.chance.below(5);
        let number = self.number();
        let mut encoded = number.to_le_bytes()[..width].to_vec();
        if self.chance.below(2) == 0 {
            encoded.reverse();
        }
        let upto = (at + width).min(bytes.len());
        bytes.splice(at..upto, encoded);
    }

    /// Replaces or inserts a number as postcard writes it.
    fn put_varint(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let mut number = self.number();
        let mut encoded = Vec::new();
        loop {
            let low = (number & 0x7f) as u8;
            number >>= 7;
            if number == 0 {
                encoded.push(low);
                break;
            }
            encoded.push(low | 0x80);
        }
        // The number that stands there ends with the first byte that has no continuation bit.
        let there = bytes[at..].iter().position(|byte| byte & 0x80 == 0).map_or(0, |end| end + 1);
        let upto = if self.chance.below(3) == 0 { at } else { at + there };
        bytes.splice(at..upto, encoded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_inputs_and_most_of_them_are_new() {
        let input = frames::join(&[vec![1, 2, 3], vec![4; 20]]);
        let made = |seed| -> Vec<Vec<u8>> {
            let mut mutator = Mutator::new(seed, true, &["token"]);
            (0..2_000).map(|_| mutator.mutate(&input, &input)).collect()
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
        let distinct: std::collections::BTreeSet<_> = made(1).into_iter().collect();
        assert!(distinct.len() > 1_500, "{}", distinct.len());
    }

    #[test]
    fn most_mutated_lists_are_still_lists_of_frames() {
        let input = frames::join(&[vec![1; 10], vec![2; 10], vec![3; 10]]);
        let mut mutator = Mutator::new(3, true, &[]);
        let whole = |bytes: &[u8]| frames::join(&frames::split(bytes)) == bytes;
        let count = (0..1_000).filter(|_| whole(&mutator.mutate(&input, &input))).count();
        assert!(count > 900, "{count}");
    }

    #[test]
    fn inputs_are_bounded() {
        let large = vec![7; MAX_INPUT];
        let mut mutator = Mutator::new(4, false, &[]);
        assert!((0..200).all(|_| mutator.mutate(&large, &large).len() <= MAX_INPUT));
        assert!((0..200).all(|_| mutator.mutate(&[], &[]).len() <= MAX_INPUT));
    }
}
