//! The menu strategy (paper 001, section 5.5; Choudhary et al. 2013). Most actions either always
//! lead to the same state or never change the state. Two executions show which.

use crate::anticipated::{AnticipatedModel, Behaviour, Classification};
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::greedy::Nearest;
use crate::strategy::{NamedStrategy, Strategy, StrategySettings};

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "menu",
    summary: "recognise menu items and idle actions, and try the others first",
    help: "Classifies actions after two executions from two different states: menu items always lead to \
           the same state, idle actions never change the state, and the others do either. Actions never \
           executed come first, then those executed once, then the others. Menu items and idle actions \
           come last, because they find nothing new. Transfers also use predicted transitions \
           (Choudhary et al. 2013).",
    make: |settings| Box::new(Menu::new(settings)),
};

/// The class of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Never,
    /// Executed once, and predicted to behave the same again.
    Once(Behaviour),
    Classified(Behaviour),
    Other,
}

/// The number of groups in the state exploration phase. Each is exhausted before the next.
const RANKS: usize = 3;

impl Class {
    fn classification(self) -> Classification {
        let (group, behaviour) = match self {
            Self::Never => (Some(0), None),
            Self::Once(behaviour) => (Some(1), Some(behaviour)),
            Self::Other => (Some(2), None),
            Self::Classified(behaviour) => (None, Some(behaviour)),
        };
        Classification { group, behaviour }
    }

    /// The class after one more execution, in a state where the action had not been executed.
    fn after(self, source: StateIndex, destination: StateIndex) -> Self {
        let is_idle = source == destination;
        match self {
            Self::Never if is_idle => Self::Once(Behaviour::Idles),
            Self::Never => Self::Once(Behaviour::LeadsTo(destination)),
            // Executed in its own destination: still a menu item, although it changed nothing.
            Self::Once(Behaviour::LeadsTo(state)) if state == destination => {
                Self::Classified(Behaviour::LeadsTo(state))
            }
            Self::Once(Behaviour::Idles) if is_idle => Self::Classified(Behaviour::Idles),
            Self::Classified(behaviour) if behaviour.destination_from(source) == destination => {
                self
            }
            Self::Once(_) | Self::Classified(_) | Self::Other => Self::Other,
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
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        self.nearest.on_discovered(graph, state, by);
        self.classes.resize(graph.actions_seen(), Class::Never);
        self.anticipated.on_discovered(graph, state, Class::Never.classification());
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_extended(graph, slot);
        self.classes.resize(graph.actions_seen(), Class::Never);
        self.anticipated.on_extended(graph, slot, Class::Never.classification());
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.nearest.on_executed(graph, slot, destination, new);
        self.anticipated.on_executed(graph, slot, destination);
        let action = graph.action_of(slot);
        let class = &mut self.classes[action.at()];
        *class = class.after(slot.state, destination);
        self.anticipated.classify(graph, action, class.classification());
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        // The state exploration phase, then the transition exploration phase. A new state adds
        // candidates of the first ranks, which restarts the first phase.
        (0..RANKS)
            .find_map(|rank| self.anticipated.seek(graph, at, rank))
            .or_else(|| self.nearest.choose(graph, at))
    }

    fn predict(&self, graph: &Graph, slot: Slot) -> Option<StateIndex> {
        match self.classes[graph.action_of(slot).at()] {
            Class::Classified(behaviour) => Some(behaviour.destination_from(slot.state)),
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
        self.nearest.on_closed(graph, slot);
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
    fn two_executions_classify_an_action() {
        let leads_to_7 = Behaviour::LeadsTo(StateIndex(7));
        assert_eq!(class_after(&[(1, 7)]), Class::Once(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (2, 7)]), Class::Classified(leads_to_7));
        assert_eq!(class_after(&[(1, 7), (7, 7)]), Class::Classified(leads_to_7));
        assert_eq!(class_after(&[(1, 1), (2, 2)]), Class::Classified(Behaviour::Idles));
        assert_eq!(class_after(&[(1, 7), (2, 8)]), Class::Other);
        assert_eq!(class_after(&[(1, 1), (2, 3)]), Class::Other);
    }

    #[test]
    fn one_wrong_prediction_classifies_an_action_as_other_for_good() {
        assert_eq!(class_after(&[(1, 7), (2, 7), (3, 8), (4, 7), (5, 7)]), Class::Other);
    }
}
