//! Places on the circle. Members and what they own are placed by the same keys.

use serde::{Deserialize, Serialize};

/// A place on the circle of 2^128 places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Key(pub u128);

impl Key {
    /// Whether it lies on the way from one place to another, neither included. On the way from a place all round
    /// to itself lies every other place.
    pub fn is_between(self, from: Self, to: Self) -> bool {
        let way = from.distance(to);
        let here = from.distance(self);
        here != 0 && (way == 0 || here < way)
    }

    /// Whether it belongs to the member at `owner` whose predecessor is at `before`.
    pub fn belongs_to(self, before: Self, owner: Self) -> bool {
        self == owner || self.is_between(before, owner)
    }

    /// How far it is to another place, forwards.
    pub fn distance(self, to: Self) -> u128 {
        to.0.wrapping_sub(self.0)
    }

    /// Where a newcomer goes: somewhere in the middle half of the widest gap between those that are there, by chance, so
    /// that two who come at once do not stand in the same place. Of n members that came one by one each owns at least
    /// 1 / 4n of the circle.
    pub fn in_widest_gap(members: &[Self], chance: u128) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable();
        members.dedup();
        let nexts = members.iter().cycle().skip(1);
        // From one that is alone it is all round to itself.
        let gaps =
            members.iter().zip(nexts).map(|(&from, &to)| (from.distance(to).wrapping_sub(1), from));
        match gaps.max() {
            Some((gap, from)) => from.ahead(gap / 4 + chance % (gap / 2).max(1)),
            None => Self(chance),
        }
    }

    /// The place that many steps ahead.
    pub fn ahead(self, steps: u128) -> Self {
        Self(self.0.wrapping_add(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_is_strict_and_goes_round() {
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
    fn newcomers_that_go_into_the_widest_gap_leave_nobody_with_little() {
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
    fn every_key_belongs_to_exactly_one_of_the_members_round_the_circle() {
        let members = [Key(10), Key(20), Key(u128::MAX)];
        for key in [0, 1, 10, 11, 20, 21, u128::MAX - 1, u128::MAX] {
            let owners =
                (0..3).filter(|&at| Key(key).belongs_to(members[(at + 2) % 3], members[at]));
            assert_eq!(owners.count(), 1, "{key}");
        }
        assert!(Key(7).belongs_to(Key(3), Key(3)), "a lone member owns everything");
    }
}
