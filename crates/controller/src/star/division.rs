//! Which node executes which action: the paper's *Assign*.

use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

/// How the actions of a state are divided into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Division {
    /// Every n-th action.
    Stride,
    /// Consecutive runs of equal length.
    Range,
    /// By the hash of the action's signature and the state's key.
    Hash,
}

/// Every division, with its name on the command line.
pub const ALL: [(&str, Division); 3] =
    [("stride", Division::Stride), ("range", Division::Range), ("hash", Division::Hash)];

/// The division with this name.
pub fn find(name: &str) -> Option<Division> {
    ALL.into_iter().find(|(known, _)| *known == name).map(|(_, division)| division)
}

/// The most shares of a division: far more than there are tabs.
pub const MOST_SHARES: usize = 1 << 16;

/// A division into a number of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(Division, usize)", into = "(Division, usize)")]
pub struct DivisionPlan {
    /// The rule.
    pub division: Division,
    /// The number of shares.
    pub shares: usize,
}

/// Another process says how many shares there are: no share divides nothing, and each takes memory.
impl TryFrom<(Division, usize)> for DivisionPlan {
    type Error = &'static str;

    fn try_from((division, shares): (Division, usize)) -> Result<Self, Self::Error> {
        if !(1..=MOST_SHARES).contains(&shares) {
            return Err("a division has too many shares, or none");
        }
        Ok(Self { division, shares })
    }
}

impl From<DivisionPlan> for (Division, usize) {
    fn from(plan: DivisionPlan) -> Self {
        (plan.division, plan.shares)
    }
}

impl DivisionPlan {
    /// The share of an action: the one at position `place` of the `many` that the state offers.
    pub fn share(
        self,
        state: StateKey,
        action: ActionSignature,
        place: usize,
        many: usize,
    ) -> usize {
        match self.division {
            Division::Stride => place % self.shares,
            Division::Range => place * self.shares / many.max(1),
            Division::Hash => {
                let words = [state.0 as u64, (state.0 >> 64) as u64, action.0];
                Chance::new(&words).below(self.shares)
            }
        }
    }

    /// The share of a plain link, equal in all states that offer it.
    pub fn share_of_link(self, link: ActionSignature) -> usize {
        Chance::new(&[link.0]).below(self.shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(division: Division, shares: usize, many: usize) -> Vec<usize> {
        let plan = DivisionPlan { division, shares };
        let share =
            |place| plan.share(StateKey(7), ActionSignature(100 + place as u64), place, many);
        (0..many).map(share).collect()
    }

    #[test]
    fn strides_and_ranges_are_even() {
        assert_eq!(shares(Division::Stride, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(shares(Division::Range, 3, 7), [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(shares(Division::Range, 5, 2), [0, 2]);
    }

    #[test]
    fn a_plan_of_another_process_has_a_sensible_number_of_shares() {
        let read = |shares: usize| {
            let bytes = postcard::to_stdvec(&(Division::Hash, shares)).unwrap();
            postcard::from_bytes::<DivisionPlan>(&bytes)
        };
        assert!(read(0).is_err() && read(MOST_SHARES + 1).is_err());
        let plan = DivisionPlan { division: Division::Hash, shares: 7 };
        assert_eq!(read(7), Ok(plan));
        assert_eq!(postcard::to_stdvec(&plan), postcard::to_stdvec(&(Division::Hash, 7_usize)));
    }

    #[test]
    fn hashes_fill_every_share() {
        let mut shares = shares(Division::Hash, 4, 200);
        shares.sort_unstable();
        shares.dedup();
        assert_eq!(shares, [0, 1, 2, 3]);
    }
}
