//! A file explorer over a generated directory tree. It has the published size of a large explorer
//! whose tree is not known. A state is one directory, open together with its ancestors.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::program::{self, Offers, Program, Wanted};

/// The share of directories, in percent, that become siblings of a drawn directory. The others
/// become its children.
const SIBLINGS: usize = 25;
/// The seed of the tree. Of the trees with about the published number of transitions, this one has
/// the published average path after a reset (7).
const SEED: u64 = 110;

struct Explorer {
    parents: Vec<u32>,
    children: Vec<Vec<u32>>,
}

impl Explorer {
    /// Grows a tree: each new directory becomes a sibling or a child of a drawn one.
    fn new(directories: usize) -> Self {
        let mut chance = Chance::new(&[0xF17E, SEED]);
        let mut parents = vec![0u32];
        let mut children = vec![Vec::new()];
        for directory in 1..directories {
            let drawn = chance.below(directory);
            let parent = if chance.below(100) < SIBLINGS { parents[drawn] } else { drawn as u32 };
            parents.push(parent);
            children.push(Vec::new());
            children[parent as usize].push(directory as u32);
        }
        Self { parents, children }
    }

    /// The directory and its ancestors, up to the root.
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

    /// A click on an open folder closes it. A click on another one opens it and closes the rest.
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
