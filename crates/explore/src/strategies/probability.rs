//! The probability strategy (paper 001, section 5.5; Dincturk et al. 2012): an action that found new
//! states before is likely to find one again.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::{ActionIndex, StateIndex};
use crate::job::Job;
use crate::strategies::greedy::Nearest;
use crate::strategy::{Described, INITIAL, Settings, Strategy};

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "probability",
    summary: "the action most likely to find a new state first, weighed against the way there",
    help: "Keeps for every action how often it found a new state, and from that the probability that it \
           does again (1/2 for an action never executed). A near state beats a far one unless what the \
           crawler would meet on the extra way is less promising than what waits at its end (Dincturk et \
           al. 2012).",
    make: |settings| Box::new(Probability::new(settings)),
};

/// P(a) = (S + 1) / (N + 2): one half for an action never executed.
const PRIOR_SUCCESSES: f64 = 1.0;
const PRIOR_TRIALS: f64 = 2.0;
/// Over how many executions the average probability is taken; about 500 reproduces the published
/// figures.
const WINDOW: usize = 500;
/// Below this average the crawler would cross the whole graph for the slightest promise. Between 0.2
/// and 0.3 the crawls come out cheapest.
const LEAST_AVERAGE: f64 = 0.25;
const MARGIN: f64 = 1e-6;

#[derive(Clone, Copy, Default)]
struct Record {
    trials: u32,
    successes: u32,
    candidates: u32,
}

impl Record {
    fn probability(self) -> f64 {
        let estimate =
            (f64::from(self.successes) + PRIOR_SUCCESSES) / (f64::from(self.trials) + PRIOR_TRIALS);
        estimate.clamp(MARGIN, 1.0 - MARGIN)
    }
}

/// An action with the probability it had after so many trials; out of date once there are more.
struct Ranked {
    probability: f64,
    action: ActionIndex,
    trials: u32,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.probability
            .total_cmp(&other.probability)
            .then(self.action.cmp(&other.action))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

struct Probability {
    reset_cost: f64,
    records: Vec<Record>,
    ranking: BinaryHeap<Ranked>,
    window: VecDeque<f64>,
    window_sum: f64,
    nearest: Nearest,
    search: Search,
}

/// What a search has seen; kept from one to the next so that nothing is allocated or cleared.
#[derive(Default)]
struct Search {
    round: u32,
    seen: Vec<u32>,
    /// State, slot and entry by which it was entered.
    entries: Vec<(StateIndex, u32, usize)>,
}

const ROOT: usize = usize::MAX;

impl Probability {
    fn new(settings: Settings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            records: Vec::new(),
            ranking: BinaryHeap::new(),
            window: VecDeque::new(),
            window_sum: 0.0,
            nearest: Nearest::new(settings),
            search: Search::default(),
        }
    }

    fn rank(&mut self, action: ActionIndex) {
        let record = self.records[action.at()];
        self.ranking.push(Ranked {
            probability: record.probability(),
            action,
            trials: record.trials,
        });
    }

    /// The best probability of any candidate anywhere.
    fn best_anywhere(&mut self) -> Option<f64> {
        while let Some(top) = self.ranking.peek() {
            let record = self.records[top.action.at()];
            if record.candidates > 0 && record.trials == top.trials {
                return Some(top.probability);
            }
            self.ranking.pop();
        }
        None
    }

    fn average(&self) -> f64 {
        let average = if self.window.is_empty() {
            0.5
        } else {
            self.window_sum / self.window.len() as f64
        };
        average.clamp(LEAST_AVERAGE, 1.0 - MARGIN)
    }

    /// The most promising candidate of a state.
    fn best_in(&self, graph: &Graph, state: StateIndex) -> Option<(f64, Slot)> {
        let mut best: Option<(f64, Slot)> = None;
        for ((index, &action), &target) in (0..).zip(graph.actions(state)).zip(graph.targets(state.at())) {
            if target == UNEXPLORED {
                let probability = self.records[action.at()].probability();
                if best.is_none_or(|(other, _)| probability > other) {
                    best = Some((probability, Slot { state, index }));
                }
            }
        }
        best
    }

    fn walk_to(&self, mut at: usize) -> (bool, Vec<Slot>) {
        let mut walk = Vec::new();
        while self.search.entries[at].2 != ROOT {
            let (_, index, before) = self.search.entries[at];
            walk.push(Slot {
                state: self.search.entries[before].0,
                index,
            });
            at = before;
        }
        walk.reverse();
        // Entry 0 is the present state, entry 1 the initial one after a reset.
        (at == 1, walk)
    }
}

impl Strategy for Probability {
    fn discovered(&mut self, graph: &Graph, state: StateIndex, _: Option<Slot>) {
        self.nearest.discovered(graph, state);
        self.search.seen.push(0);
        self.records.resize(graph.actions_seen(), Record::default());
        for &action in graph.actions(state) {
            self.records[action.at()].candidates += 1;
            if self.records[action.at()].candidates == 1 {
                self.rank(action);
            }
        }
    }

    fn executed(&mut self, graph: &Graph, slot: Slot, _: StateIndex, new: bool) {
        self.nearest.executed(graph, slot);
        let action = graph.action_of(slot);
        let record = &mut self.records[action.at()];
        self.window.push_back(record.probability());
        self.window_sum += record.probability();
        if self.window.len() > WINDOW {
            self.window_sum -= self.window.pop_front().unwrap_or(0.0);
        }
        record.trials += 1;
        record.successes += u32::from(new);
        record.candidates -= 1;
        self.rank(action);
    }

    /// Looks for the state s that minimises ln(1 - P(s)) - d(s) ln(1 - P_avg), which is the papers'
    /// comparison of a near with a far state written as one key. Two breadth-first searches run side
    /// by side, from here and from the initial state after a reset, and stop where even the best
    /// candidate anywhere would come too late.
    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        let least = (1.0 - self.best_anywhere()?).ln();
        let per_step = -(1.0 - self.average()).ln();
        self.search.round += 1;
        self.search.entries.clear();
        self.search.entries.push((at, 0, ROOT));
        self.search.entries.push((INITIAL, 0, ROOT));
        let mut queues = [VecDeque::from([(0usize, 0u32)]), VecDeque::from([(1usize, 0u32)])];
        let roots = [0.0, self.reset_cost];
        let mut best: Option<(f64, usize, Slot)> = None;
        loop {
            let cost = |which: usize| {
                queues[which]
                    .front()
                    .map(|&(_, depth)| roots[which] + f64::from(depth))
            };
            let which = match (cost(0), cost(1)) {
                (None, None) => break,
                (Some(here), Some(after_reset)) => usize::from(after_reset < here),
                (here, _) => usize::from(here.is_none()),
            };
            let Some((entry, depth)) = queues[which].pop_front() else {
                break;
            };
            let cost = roots[which] + f64::from(depth);
            if best.is_some_and(|(key, ..)| least + cost * per_step >= key) {
                break;
            }
            let state = self.search.entries[entry].0;
            if std::mem::replace(&mut self.search.seen[state.at()], self.search.round) == self.search.round {
                continue;
            }
            if let Some((probability, slot)) = self.best_in(graph, state) {
                let key = (1.0 - probability).ln() + cost * per_step;
                if best.is_none_or(|(other, ..)| key < other) {
                    best = Some((key, entry, slot));
                }
            }
            for (index, &to) in (0..).zip(graph.targets(state.at())) {
                if to == UNEXPLORED || self.search.seen[to as usize] == self.search.round {
                    continue;
                }
                // How near the next candidate is says from which state on it cannot pay any more.
                let Some(further) = self.nearest.distance(StateIndex(to)) else {
                    continue;
                };
                let soonest = least + (cost + 1.0 + f64::from(further)) * per_step;
                if best.is_none_or(|(key, ..)| soonest < key) {
                    self.search.entries.push((StateIndex(to), index, entry));
                    queues[which].push_back((self.search.entries.len() - 1, depth + 1));
                }
            }
        }
        let (_, entry, candidate) = best?;
        let (reset, walk) = self.walk_to(entry);
        Some(Job {
            reset,
            walk,
            candidate,
        })
    }
}
