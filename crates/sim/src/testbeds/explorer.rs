//! A file explorer over a large directory tree that is made by rule, for the published size of which
//! the tree itself is not known. A state is one directory with its chain of ancestors open.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::program::{self, Offers, Program, Wanted};

/// Of a hundred directories so many are put beside one that is there already, the others into it.
const BESIDE: usize = 25;
/// Decides the tree: among those whose explorer comes near to the published number of transitions, the one
/// whose average chain is as long as the published path after a reset (7).
const SEED: u64 = 110;

struct Explorer {
    parents: Vec<u32>,
    children: Vec<Vec<u32>>,
}

impl Explorer {
    /// A tree grows by directories like those that are there: some beside them, most in them.
    fn new(directories: usize) -> Self {
        let mut chance = Chance::new(&[0xF17E, SEED]);
        let mut parents = vec![0u32];
        let mut children = vec![Vec::new()];
        for directory in 1..directories {
            let like = chance.below(directory);
            let parent = if chance.below(100) < BESIDE { parents[like] } else { like as u32 };
            parents.push(parent);
            children.push(Vec::new());
            children[parent as usize].push(directory as u32);
        }
        Self { parents, children }
    }

    /// From the directory up to the root.
    fn chain(&self, directory: u32) -> Vec<u32> {
        let mut chain = vec![directory];
        while let Some(&last) = chain.last().filter(|&&last| last != 0) {
            chain.push(self.parents[last as usize]);
        }
        chain
    }
}

impl Program for Explorer {
    type Page = u32;

    fn start(&self) -> u32 {
        0
    }

    /// Clicking an open folder closes it; clicking any other opens it and closes the rest.
    fn offer(&self, &directory: &u32, offers: &mut Offers<u32>) {
        let chain = self.chain(directory);
        for &folder in chain.iter().rev().flat_map(|&at| &self.children[at as usize]) {
            let to = if chain.contains(&folder) { self.parents[folder as usize] } else { folder };
            offers.nth("folder", folder as usize, to);
        }
    }
}

/// The file explorer of the published size.
pub fn filetree_large() -> Model {
    let wanted =
        Wanted { name: "filetree:large", reset_cost: 12.0, states: 4_622, transitions: 429_654 };
    program::explore(&Explorer::new(wanted.states), &wanted)
}
