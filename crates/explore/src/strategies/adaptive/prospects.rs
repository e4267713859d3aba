//! Estimates which candidates are likely to find a new state, from this crawl alone.
//!
//! Actions are grouped by their record: never executed, executed once with a find, always the same
//! destination, and so on. Each group counts how often its candidates found a new state. A few
//! executions therefore tell about many actions: where second executions find nothing, the estimate
//! of all other second executions drops at once.

use crate::anticipated::{AnticipatedModel, Behaviour, Classification};
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::{PlannedJob, TransferChoice};

/// The groups of actions, by their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Never,
    OnceFound,
    OnceKnown,
    OnceIdle,
    LeadsToOne,
    Idle,
    /// Several destinations. The tier is the share of executions that found a new state: at least
    /// 1/2, 1/4, 1/8, 1/16, or less.
    Varied(usize),
}

const GROUPS: usize = 11;

impl Group {
    fn at(self) -> usize {
        match self {
            Self::Never => 0,
            Self::OnceFound => 1,
            Self::OnceKnown => 2,
            Self::OnceIdle => 3,
            Self::LeadsToOne => 4,
            Self::Idle => 5,
            Self::Varied(tier) => 6 + tier,
        }
    }
}

/// The probability that a candidate of each group finds a new state, before the crawl has learned
/// anything. Guesses: an untried action may do anything, an idle action is not worth much.
const FIRST_GUESS: [f64; GROUPS] = [0.5, 0.4, 0.2, 0.05, 0.05, 0.01, 0.6, 0.3, 0.15, 0.08, 0.02];
/// The weight of the first guess, in executions.
const GUESS_WEIGHT: f64 = 2.0;
/// The share of a group's record that remains after each execution, so that recent executions count
/// most. Of 0.96 to 0.995, 0.99 found the last states of the test-beds soonest.
const FADE: f64 = 0.99;
/// How much more a candidate elsewhere must promise per action than one in the present state,
/// because its estimate may be old. Between 1 and 3 it matters little. 1.5 wastes the fewest walks
/// where nothing can be learned.
const RELUCTANCE: f64 = 1.5;
/// The least probability of a candidate that is worth a walk. With 0.01 some crawls give up the
/// last states of clipmarks-like (over 300 seeds 7 % behind probability instead of 7 % ahead), with
/// 0.03 those of small applications.
const PROMISING: f64 = 0.005;

/// The record of one action.
#[derive(Clone, Copy, Default)]
struct Record {
    trials: u32,
    finds: u32,
    /// What the action did every time so far, if it always did the same.
    behaviour: Option<Behaviour>,
}

impl Record {
    fn group(self) -> Group {
        match (self.trials, self.behaviour) {
            (0, _) => Group::Never,
            (1, Some(Behaviour::Idles)) => Group::OnceIdle,
            (1, _) if self.finds == 1 => Group::OnceFound,
            (1, _) => Group::OnceKnown,
            (_, Some(Behaviour::LeadsTo(_))) => Group::LeadsToOne,
            (_, Some(Behaviour::Idles)) => Group::Idle,
            (trials, None) => {
                let tier = (0..4).find(|tier| self.finds << (tier + 1) >= trials);
                Group::Varied(tier.unwrap_or(4))
            }
        }
    }

    fn classification(self) -> Classification {
        Classification { group: Some(self.group().at()), behaviour: self.behaviour }
    }

    fn add(&mut self, source: StateIndex, destination: StateIndex, new: bool) {
        self.trials += 1;
        self.finds += u32::from(new);
        self.behaviour = if self.trials == 1 {
            Some(if source == destination {
                Behaviour::Idles
            } else {
                Behaviour::LeadsTo(destination)
            })
        } else {
            self.behaviour.filter(|behaviour| behaviour.destination_from(source) == destination)
        };
    }
}

/// The candidates, grouped by how likely they find a new state.
#[derive(Clone)]
pub struct Prospects {
    records: Vec<Record>,
    finds: [f64; GROUPS],
    trials: [f64; GROUPS],
    anticipated: AnticipatedModel<GROUPS>,
}

impl Prospects {
    /// Creates the groups without states.
    pub fn new(reset_cost: f64) -> Self {
        Self {
            records: Vec::new(),
            finds: FIRST_GUESS.map(|guess| guess * GUESS_WEIGHT),
            trials: [GUESS_WEIGHT; GROUPS],
            anticipated: AnticipatedModel::new(reset_cost),
        }
    }

    /// Notes a new state.
    pub fn on_discovered(&mut self, graph: &Graph, state: StateIndex) {
        self.records.resize(graph.actions_seen(), Record::default());
        self.anticipated.on_discovered(graph, state, Record::default().classification());
    }

    /// Notes one more candidate of a known state.
    pub fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.records.resize(graph.actions_seen(), Record::default());
        self.anticipated.on_extended(graph, slot, Record::default().classification());
    }

    /// Notes that a candidate was executed.
    pub fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.anticipated.on_executed(graph, slot, destination);
        let action = graph.action_of(slot);
        let record = &mut self.records[action.at()];
        let group = record.group().at();
        self.finds[group] = self.finds[group] * FADE + f64::from(u8::from(new));
        self.trials[group] = self.trials[group] * FADE + 1.0;
        record.add(slot.state, destination, new);
        self.anticipated.classify(graph, action, record.classification());
    }

    /// Notes that a candidate is no longer free.
    pub fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.anticipated.on_claimed(graph, slot);
    }

    /// Notes that a candidate is free again.
    pub fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.anticipated.on_released(graph, slot);
    }

    /// Notes that a candidate was given up.
    pub fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.anticipated.on_executed(graph, slot, slot.state);
    }

    /// Sets the cost of a reset.
    pub fn set_reset_cost(&mut self, cost: f64) {
        self.anticipated.set_reset_cost(cost);
    }

    /// The probability that a candidate of a group finds a new state.
    fn probability(&self, group: usize) -> f64 {
        self.finds[group] / self.trials[group]
    }

    /// Plans a job for the candidate that promises the most new states per action, if it is
    /// promising enough.
    pub fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let mut groups: [(f64, usize); GROUPS] =
            std::array::from_fn(|group| (self.probability(group), group));
        groups.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut best: Option<(f64, usize)> = None;
        for (probability, group) in groups {
            if probability < PROMISING || best.is_some_and(|(rate, _)| rate >= probability) {
                break; // This group and the later ones could not win even in the present state.
            }
            if let Some(TransferChoice { cost, .. }) =
                self.anticipated.choose_transfer(graph, at, group)
            {
                let rate =
                    if cost > 0.0 { probability / (cost + 1.0) / RELUCTANCE } else { probability };
                if best.is_none_or(|(other, _)| rate > other) {
                    best = Some((rate, group));
                }
            }
        }
        self.anticipated.seek_fullest(graph, at, best?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group_after(executions: &[(u32, u32, bool)]) -> Group {
        let mut record = Record::default();
        for &(from, to, new) in executions {
            record.add(StateIndex(from), StateIndex(to), new);
        }
        record.group()
    }

    #[test]
    fn each_execution_updates_the_group_of_an_action() {
        assert_eq!(group_after(&[]), Group::Never);
        assert_eq!(group_after(&[(0, 1, true)]), Group::OnceFound);
        assert_eq!(group_after(&[(2, 1, false)]), Group::OnceKnown);
        assert_eq!(group_after(&[(2, 2, false)]), Group::OnceIdle);
        assert_eq!(group_after(&[(0, 1, true), (2, 1, false)]), Group::LeadsToOne);
        assert_eq!(group_after(&[(2, 2, false), (3, 3, false)]), Group::Idle);
        assert_eq!(group_after(&[(0, 1, true), (2, 3, true)]), Group::Varied(0));
        assert_eq!(
            group_after(&[(0, 1, true), (2, 3, false), (3, 3, false), (4, 5, false)]),
            Group::Varied(1)
        );
    }
}
