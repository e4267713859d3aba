//! Randomised breadth-first: level by level, and within a level by chance.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::Job;
use crate::strategy::{Described, Strategy};
use crate::transfer::Transfer;

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "random-breadth-first",
    summary: "level by level, in random order within a level",
    help: "Like breadth-first, but among the states that were found equally far from the initial one the \
           next to finish is drawn by chance. A plain baseline that comparisons of crawlers on real sites \
           found hard to beat, so it stands in every comparison here.",
    make: |settings| {
        Box::new(RandomBreadthFirst {
            transfer: Transfer::new(settings),
            chance: Chance::new(&[settings.seed, 0xB4EAD]),
            depth: Vec::new(),
            levels: BTreeMap::new(),
            present: None,
        })
    },
};

struct RandomBreadthFirst {
    transfer: Transfer,
    chance: Chance,
    /// On how deep a level each state was found.
    depth: Vec<u32>,
    levels: BTreeMap<u32, Vec<StateIndex>>,
    present: Option<StateIndex>,
}

impl Strategy for RandomBreadthFirst {
    fn discovered(&mut self, _: &Graph, state: StateIndex, by: Option<Slot>) {
        self.transfer.discovered();
        let depth = by.map_or(0, |slot| self.depth[slot.state.at()] + 1);
        self.depth.push(depth);
        self.levels.entry(depth).or_default().push(state);
    }

    fn executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        while self.present.is_none_or(|state| graph.unexplored_in(state) == 0) {
            let mut level = self.levels.first_entry()?;
            if level.get().is_empty() {
                level.remove();
                continue;
            }
            let drawn = self.chance.below(level.get().len());
            self.present = Some(level.get_mut().swap_remove(drawn));
        }
        self.transfer.job(graph, at, self.present?)
    }
}
