//! Randomised breadth-first: level by level, in random order within a level.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategy::{NamedStrategy, Strategy};
use crate::transfer::TransferSearch;

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "random-breadth-first",
    summary: "finish states level by level, in random order within a level",
    help: "Like breadth-first, but draws the next state at random from those that were found equally far \
           from the initial state. Comparisons of crawlers on real sites found this plain baseline hard \
           to beat, so every comparison here includes it.",
    make: |settings| {
        Box::new(RandomBreadthFirst {
            transfer: TransferSearch::new(settings),
            chance: Chance::new(&[settings.seed, 0xB4EAD]),
            depth: Vec::new(),
            levels: BTreeMap::new(),
            current: None,
        })
    },
};

#[derive(Clone)]
struct RandomBreadthFirst {
    transfer: TransferSearch,
    chance: Chance,
    /// The level on which each state was found.
    depth: Vec<u32>,
    /// The states of each level that were not drawn yet.
    levels: BTreeMap<u32, Vec<StateIndex>>,
    /// The state to finish now.
    current: Option<StateIndex>,
}

impl Strategy for RandomBreadthFirst {
    fn on_discovered(&mut self, _: &Graph, state: StateIndex, by: Option<Slot>) {
        self.transfer.on_discovered();
        let depth = by.map_or(0, |slot| self.depth[slot.state.at()] + 1);
        self.depth.push(depth);
        self.levels.entry(depth).or_default().push(state);
    }

    fn on_executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.on_executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let mut out_of_reach = Vec::new();
        let job = loop {
            let Some(state) =
                self.current.filter(|&state| graph.unexplored_in(state) > 0).or_else(|| {
                    self.current = self.draw();
                    self.current
                })
            else {
                break None;
            };
            if graph.unexplored_in(state) == 0 {
                continue;
            }
            if let Some(job) = self.transfer.plan(graph, at, state) {
                break Some(job);
            }
            // No known path leads there: the crawl found it by a stray, or another controller did.
            out_of_reach.push(state);
            self.current = None;
        };
        out_of_reach.into_iter().for_each(|state| self.put_back(state));
        job
    }

    fn on_released(&mut self, _: &Graph, slot: Slot) {
        if self.current != Some(slot.state) {
            self.put_back(slot.state);
        }
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.transfer.set_reset_cost(cost);
    }
}

impl RandomBreadthFirst {
    fn draw(&mut self) -> Option<StateIndex> {
        loop {
            let mut level = self.levels.first_entry()?;
            if level.get().is_empty() {
                level.remove();
                continue;
            }
            let drawn = self.chance.below(level.get().len());
            return Some(level.get_mut().swap_remove(drawn));
        }
    }

    fn put_back(&mut self, state: StateIndex) {
        let level = self.levels.entry(self.depth[state.at()]).or_default();
        if !level.contains(&state) {
            level.push(state);
        }
    }
}
