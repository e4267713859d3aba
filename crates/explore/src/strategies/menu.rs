//! The menu strategy (paper 001, section 5.5; Choudhary et al. 2013): most actions either always
//! lead to the same state or always do nothing, and two executions show which.

use crate::distances::Distances;
use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::{ActionIndex, StateIndex};
use crate::job::{Job, reset_is_cheaper};
use crate::strategies::greedy::Nearest;
use crate::strategy::{Described, INITIAL, Settings, Strategy};

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "menu",
    summary: "tells menu items and idle actions from the rest, and tries the rest first",
    help: "Sorts actions into menu items (always the same destination), idle ones (always back where they \
           were) and others, after two executions from two different states. Actions never executed come \
           first, then those executed once, then the others; menu items and idle actions last, since they \
           find nothing new. Transfers also use what is predicted (Choudhary et al. 2013).",
    make: |settings| Box::new(Menu::new(settings)),
};

/// What is thought of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Never,
    /// Executed once; predicted to do the same again, or to idle if that is what it did.
    Once(Habit),
    Settled(Habit),
    Other,
}

/// What an action does wherever it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    LeadsTo(StateIndex),
    Idles,
}

/// The classes of the state exploration phase, each exhausted before the next.
const RANKS: usize = 3;

impl Class {
    fn rank(self) -> Option<usize> {
        match self {
            Self::Never => Some(0),
            Self::Once(_) => Some(1),
            Self::Other => Some(2),
            Self::Settled(_) => None,
        }
    }

    fn predicts(self, source: StateIndex) -> Option<StateIndex> {
        match self {
            Self::Once(Habit::LeadsTo(state)) | Self::Settled(Habit::LeadsTo(state)) => Some(state),
            Self::Once(Habit::Idles) | Self::Settled(Habit::Idles) => Some(source),
            Self::Never | Self::Other => None,
        }
    }

    /// What is thought after one more execution, from a state where it had not been executed.
    fn after(self, source: StateIndex, destination: StateIndex) -> Self {
        let idled = source == destination;
        match self {
            Self::Never if idled => Self::Once(Habit::Idles),
            Self::Never => Self::Once(Habit::LeadsTo(destination)),
            // It idled where it leads to: a menu item after all.
            Self::Once(Habit::LeadsTo(state)) if state == destination => Self::Settled(Habit::LeadsTo(state)),
            Self::Once(Habit::Idles) if idled => Self::Settled(Habit::Idles),
            Self::Settled(_) if self.predicts(source) == Some(destination) => self,
            Self::Once(_) | Self::Settled(_) | Self::Other => Self::Other,
        }
    }
}

/// The explored transitions and, where there is none, the predicted ones.
#[derive(Default)]
struct Anticipated {
    targets: Vec<Box<[u32]>>,
}

impl Edges for Anticipated {
    fn targets(&self, state: usize) -> &[u32] {
        &self.targets[state]
    }
}

struct Menu {
    reset_cost: f64,
    classes: Vec<Class>,
    /// Where each action has not been executed yet. Emptied lazily of those that were.
    candidates: Vec<Vec<Slot>>,
    anticipated: Anticipated,
    /// How many candidates of each rank a state has.
    counts: Vec<[u32; RANKS]>,
    to_rank: [Distances; RANKS],
    nearest: Nearest,
}

impl Menu {
    fn new(settings: Settings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            classes: Vec::new(),
            candidates: Vec::new(),
            anticipated: Anticipated::default(),
            counts: Vec::new(),
            to_rank: Default::default(),
            nearest: Nearest::new(settings),
        }
    }

    fn predict(&mut self, slot: Slot, target: Option<StateIndex>) {
        let target = target.map_or(UNEXPLORED, |state| state.0);
        let place = &mut self.anticipated.targets[slot.state.at()][slot.index as usize];
        let before = std::mem::replace(place, target);
        if before == target {
            return;
        }
        for distances in &mut self.to_rank {
            if before != UNEXPLORED {
                distances.disconnect(&self.anticipated, slot);
            }
            if target != UNEXPLORED {
                distances.connect(&self.anticipated, slot);
            }
        }
    }

    fn count(&mut self, state: StateIndex, rank: Option<usize>, by: i32) {
        let Some(rank) = rank else { return };
        let count = &mut self.counts[state.at()][rank];
        let before = *count;
        *count = before.checked_add_signed(by).expect("a state loses only candidates it has");
        match (before, *count) {
            (0, 1..) => self.to_rank[rank].set_goal(&self.anticipated, state),
            (1.., 0) => self.to_rank[rank].clear_goal(&self.anticipated, state),
            _ => {}
        }
    }

    /// Changes what is thought of an action, wherever it is still to be executed.
    fn reclassify(&mut self, graph: &Graph, action: ActionIndex, class: Class) {
        let before = std::mem::replace(&mut self.classes[action.at()], class);
        if before == class {
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates[action.at()]);
        candidates.retain(|&slot| graph.target(slot).is_none());
        for &slot in &candidates {
            if before.rank() != class.rank() {
                self.count(slot.state, before.rank(), -1);
                self.count(slot.state, class.rank(), 1);
            }
            self.predict(slot, class.predicts(slot.state));
        }
        self.candidates[action.at()] = candidates;
    }

    /// The way to the nearest candidate of a rank, over anticipated transitions. It ends at its first
    /// unexplored step: whether the prediction holds is seen there, and the rest is decided then.
    fn seek(&self, graph: &Graph, at: StateIndex, rank: usize) -> Option<Job> {
        let distances = &self.to_rank[rank];
        let (here, after_reset) = (distances.get(at), distances.get(INITIAL));
        let reset = reset_is_cheaper(here, after_reset, self.reset_cost);
        if !reset && here.is_none() {
            return None;
        }
        let mut walk = Vec::new();
        let goal = distances.walk(&self.anticipated, if reset { INITIAL } else { at }, &mut walk);
        if let Some(first) = walk.iter().position(|&slot| graph.target(slot).is_none()) {
            let candidate = walk[first];
            walk.truncate(first);
            return Some(Job { reset, walk, candidate });
        }
        let wanted = |&index: &u32| {
            let slot = Slot { state: goal, index };
            graph.target(slot).is_none() && self.classes[graph.action_of(slot).at()].rank() == Some(rank)
        };
        let index = (0..graph.actions(goal).len() as u32).find(wanted).expect("a goal has a candidate");
        Some(Job { reset, walk, candidate: Slot { state: goal, index } })
    }
}

impl Strategy for Menu {
    fn discovered(&mut self, graph: &Graph, state: StateIndex, _: Option<Slot>) {
        self.nearest.discovered(graph, state);
        self.classes.resize(graph.actions_seen(), Class::Never);
        self.candidates.resize_with(graph.actions_seen(), Vec::new);
        self.to_rank.iter_mut().for_each(Distances::add_state);
        self.counts.push([0; RANKS]);
        let actions = graph.actions(state);
        self.anticipated.targets.push(vec![UNEXPLORED; actions.len()].into());
        for (index, &action) in (0..).zip(actions) {
            let slot = Slot { state, index };
            self.candidates[action.at()].push(slot);
            self.count(state, self.classes[action.at()].rank(), 1);
            self.predict(slot, self.classes[action.at()].predicts(state));
        }
    }

    fn executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.nearest.executed(graph, slot);
        let action = graph.action_of(slot);
        let class = self.classes[action.at()];
        self.count(slot.state, class.rank(), -1);
        self.predict(slot, Some(destination));
        self.reclassify(graph, action, class.after(slot.state, destination));
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        // The state exploration phase, then the transition exploration phase. A new state brings
        // candidates of the first ranks and with them the first phase back.
        (0..RANKS).find_map(|rank| self.seek(graph, at, rank)).or_else(|| self.nearest.choose(graph, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_after(executions: &[(u32, u32)]) -> Class {
        executions.iter().fold(Class::Never, |class, &(from, to)| class.after(StateIndex(from), StateIndex(to)))
    }

    #[test]
    fn two_executions_settle_an_action() {
        let leads_to_7 = Habit::LeadsTo(StateIndex(7));
        assert_eq!(class_after(&[(1, 7)]), Class::Once(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (2, 7)]), Class::Settled(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (7, 7)]), Class::Settled(leads_to_7));
        assert_eq!(class_after(&[(1, 1), (2, 2)]), Class::Settled(Habit::Idles));
        assert_eq!(class_after(&[(1, 7), (2, 8)]), Class::Other);
        assert_eq!(class_after(&[(1, 1), (2, 3)]), Class::Other);
    }

    #[test]
    fn one_wrong_prediction_makes_an_action_other_for_good() {
        assert_eq!(class_after(&[(1, 7), (2, 7), (3, 8), (4, 7), (5, 7)]), Class::Other);
    }
}
