//! Positions on the circle of keys. Members, and what they own, have keys on the same circle.

use serde::{Deserialize, Serialize};

/// A position on the circle of 2^128 positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Key(pub u128);

impl Key {
    /// Whether it lies clockwise between two positions, excluding both. If both are the same
    /// position, every other position lies between them.
    pub fn is_between(self, from: Self, to: Self) -> bool {
        let span = from.distance(to);
        let here = from.distance(self);
        here != 0 && (span == 0 || here < span)
    }

    /// Whether it belongs to the member `owner` whose predecessor is `before`.
    pub fn belongs_to(self, before: Self, owner: Self) -> bool {
        self == owner || self.is_between(before, owner)
    }

    /// The clockwise distance to another position.
    pub fn distance(self, to: Self) -> u128 {
        to.0.wrapping_sub(self.0)
    }

    /// The position of a newcomer: random within the middle half of the widest gap between members,
    /// so that two newcomers at once get different positions. After n members joined one by one,
    /// each owns at least 1 / 4n of the circle.
    pub fn in_widest_gap(members: &[Self], chance: u128) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable();
        members.dedup();
        let nexts = members.iter().cycle().skip(1);
        // The gap of a lone member is the whole circle.
        let gaps =
            members.iter().zip(nexts).map(|(&from, &to)| (from.distance(to).wrapping_sub(1), from));
        match gaps.max() {
            Some((gap, from)) => from.ahead(gap / 4 + chance % (gap / 2).max(1)),
            None => Self(chance),
        }
    }

    /// The position a number of steps clockwise.
    pub fn ahead(self, steps: u128) -> Self {
        Self(self.0.wrapping_add(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_excludes_both_ends_and_wraps_around() {
        let cases = [
            (1, 2, 3, true),
            (1, 1, 3, false),
            (1, 3, 3, false),
            (1, 4, 3, false),
            (3, 4, 1, true),
            (3, 0, 1, true),
            (3, 2, 1, false),
            (2, 3, 2, true),
            (2, 1, 2, true),
            (2, 2, 2, false),
        ];
        for (from, key, to, expected) in cases {
            assert_eq!(Key(key).is_between(Key(from), Key(to)), expected, "{from} {key} {to}");
        }
    }

    #[test]
    fn newcomers_in_the_widest_gap_leave_every_member_a_fair_range() {
        for seed in 1..100_u128 {
            let mut members: Vec<Key> = Vec::new();
            for number in 1..40_u128 {
                let chance =
                    (seed << 64 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let newcomer = Key::in_widest_gap(&members, chance);
                assert!(!members.contains(&newcomer));
                members.push(newcomer);
                members.sort_unstable();
                let gaps = members.iter().zip(members.iter().cycle().skip(1));
                let least = gaps.map(|(&from, &to)| from.distance(to).wrapping_sub(1)).min();
                assert!(least >= Some(u128::MAX / (4 * number) - number), "{seed}, {number}");
            }
        }
    }

    #[test]
    fn every_key_belongs_to_exactly_one_member() {
        let members = [Key(10), Key(20), Key(u128::MAX)];
        for key in [0, 1, 10, 11, 20, 21, u128::MAX - 1, u128::MAX] {
            let owners =
                (0..3).filter(|&at| Key(key).belongs_to(members[(at + 2) % 3], members[at]));
            assert_eq!(owners.count(), 1, "{key}");
        }
        assert!(Key(7).belongs_to(Key(3), Key(3)), "a lone member owns everything");
    }
}
