//! The menu strategy (paper 001, section 5.5; Choudhary et al. 2013): most actions either always
//! lead to the same state or always do nothing, and two executions show which.

use crate::anticipated::{AnticipatedModel, Behaviour, Classification};
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::greedy::Nearest;
use crate::strategy::{NamedStrategy, Strategy, StrategySettings};

/// How people choose it.
pub const STRATEGY: NamedStrategy = NamedStrategy {
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
    Once(Behaviour),
    Settled(Behaviour),
    Other,
}

/// The classes of the state exploration phase, each exhausted before the next.
const RANKS: usize = 3;

impl Class {
    fn classification(self) -> Classification {
        let (group, habit) = match self {
            Self::Never => (Some(0), None),
            Self::Once(habit) => (Some(1), Some(habit)),
            Self::Other => (Some(2), None),
            Self::Settled(habit) => (None, Some(habit)),
        };
        Classification { group, behaviour: habit }
    }

    /// What is thought after one more execution, from a state where it had not been executed.
    fn after(self, source: StateIndex, destination: StateIndex) -> Self {
        let idled = source == destination;
        match self {
            Self::Never if idled => Self::Once(Behaviour::Idles),
            Self::Never => Self::Once(Behaviour::LeadsTo(destination)),
            // It idled where it leads to: a menu item after all.
            Self::Once(Behaviour::LeadsTo(state)) if state == destination => {
                Self::Settled(Behaviour::LeadsTo(state))
            }
            Self::Once(Behaviour::Idles) if idled => Self::Settled(Behaviour::Idles),
            Self::Settled(habit) if habit.destination_from(source) == destination => self,
            Self::Once(_) | Self::Settled(_) | Self::Other => Self::Other,
        }
    }
}

#[derive(Clone)]
struct Menu {
    classes: Vec<Class>,
    anticipated: AnticipatedModel<RANKS>,
    nearest: Nearest,
}

impl Menu {
    fn new(settings: StrategySettings) -> Self {
        Self {
            classes: Vec::new(),
            anticipated: AnticipatedModel::new(settings.reset_cost),
            nearest: Nearest::new(settings),
        }
    }
}

impl Strategy for Menu {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, _: Option<Slot>) {
        self.nearest.on_discovered(graph, state);
        self.classes.resize(graph.actions_seen(), Class::Never);
        self.anticipated.on_discovered(graph, state, Class::Never.classification());
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_extended(graph, slot);
        self.classes.resize(graph.actions_seen(), Class::Never);
        self.anticipated.on_extended(graph, slot, Class::Never.classification());
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.nearest.on_executed(graph, slot);
        self.anticipated.on_executed(graph, slot, destination);
        let action = graph.action_of(slot);
        let class = &mut self.classes[action.at()];
        *class = class.after(slot.state, destination);
        self.anticipated.classify(graph, action, class.classification());
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        // The state exploration phase, then the transition exploration phase. A new state brings
        // candidates of the first ranks and with them the first phase back.
        (0..RANKS)
            .find_map(|rank| self.anticipated.seek(graph, at, rank))
            .or_else(|| self.nearest.choose(graph, at))
    }

    fn predict(&self, graph: &Graph, slot: Slot) -> Option<StateIndex> {
        match self.classes[graph.action_of(slot).at()] {
            Class::Settled(habit) => Some(habit.destination_from(slot.state)),
            Class::Never | Class::Once(_) | Class::Other => None,
        }
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_claimed(graph, slot);
        self.anticipated.on_claimed(graph, slot);
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_released(graph, slot);
        self.anticipated.on_released(graph, slot);
    }

    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_executed(graph, slot);
        self.anticipated.on_executed(graph, slot, slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.nearest.set_reset_cost(cost);
        self.anticipated.set_reset_cost(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_after(executions: &[(u32, u32)]) -> Class {
        executions
            .iter()
            .fold(Class::Never, |class, &(from, to)| class.after(StateIndex(from), StateIndex(to)))
    }

    #[test]
    fn two_executions_settle_an_action() {
        let leads_to_7 = Behaviour::LeadsTo(StateIndex(7));
        assert_eq!(class_after(&[(1, 7)]), Class::Once(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (2, 7)]), Class::Settled(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (7, 7)]), Class::Settled(leads_to_7));
        assert_eq!(class_after(&[(1, 1), (2, 2)]), Class::Settled(Behaviour::Idles));
        assert_eq!(class_after(&[(1, 7), (2, 8)]), Class::Other);
        assert_eq!(class_after(&[(1, 1), (2, 3)]), Class::Other);
    }

    #[test]
    fn one_wrong_prediction_makes_an_action_other_for_good() {
        assert_eq!(class_after(&[(1, 7), (2, 7), (3, 8), (4, 7), (5, 7)]), Class::Other);
    }
}
