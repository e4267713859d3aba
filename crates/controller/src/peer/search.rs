//! The distributed breadth-first search of the forward schemes as the thesis prints it (section 3.5.5): the search
//! itself travels, from owner to owner of the states it visits.

use std::collections::BTreeSet;

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use super::message::Asking;
use crate::job::Step;

/// A search in progress: a tree of states in the order of their distance, some of them visited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Search {
    /// Who wants something to do.
    pub asking: Asking,
    /// Who began it.
    pub origin: Key,
    /// The tree. The root is where the crawler stands (or the initial state, if it stands nowhere).
    nodes: Vec<Node>,
    known: BTreeSet<StateKey>,
    /// The next to be visited.
    next: usize,
    /// The first that was visited while some of its actions were under way: what lies behind those is not known, so
    /// a search that is remembered goes on from here.
    doubtful: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Node {
    state: StateKey,
    action: ActionSignature,
    /// The root is its own parent; a root that is reached by a reset has none.
    parent: Option<u32>,
    depth: u32,
}

impl Search {
    /// From where a crawler stands; from the initial state, after a reset, if it stands nowhere.
    pub fn new(asking: Asking, origin: Key, initial: StateKey) -> Self {
        let mut search =
            Self { asking, origin, nodes: Vec::new(), known: BTreeSet::new(), next: 0, doubtful: None };
        let (root, parent) = asking.at.map_or((initial, None), |at| (at, Some(0)));
        search.nodes.push(Node { state: root, action: ActionSignature(0), parent, depth: 0 });
        search.known.insert(root);
        search
    }

    /// Goes on where another search from the same state stopped.
    pub fn resume(mut self, asking: Asking, origin: Key) -> Self {
        self.asking = asking;
        self.origin = origin;
        self
    }

    /// The state to be visited, if any is left.
    pub fn next(&self) -> Option<StateKey> {
        self.nodes.get(self.next).map(|node| node.state)
    }

    /// Where it began.
    pub fn root(&self) -> StateKey {
        self.nodes[0].state
    }

    /// How many states were visited.
    pub fn visited(&self) -> usize {
        self.next
    }

    /// Whether every state that was visited was done with.
    pub fn is_certain(&self) -> bool {
        self.doubtful.is_none()
    }

    /// The state was visited and had nothing to do. `certain`: nothing of it is under way. As soon as what comes
    /// next is as far as a reset, the initial state is as good a place to go on from.
    pub fn pass(
        &mut self,
        leads: impl IntoIterator<Item = (ActionSignature, StateKey)>,
        certain: bool,
        initial: StateKey,
        reset_cost: f64,
    ) {
        let parent = self.next;
        if !certain {
            self.doubtful.get_or_insert(parent);
        }
        let depth = self.nodes[parent].depth + 1;
        for (action, state) in leads {
            if self.known.insert(state) {
                self.nodes.push(Node { state, action, parent: Some(parent as u32), depth });
            }
        }
        self.next += 1;
        let far = self.nodes.get(self.next).is_none_or(|next| f64::from(next.depth) > reset_cost);
        if far && self.known.insert(initial) {
            let depth = reset_cost.ceil() as u32;
            let node = Node { state: initial, action: ActionSignature(0), parent: None, depth };
            self.nodes.insert(self.next, node);
            let shift = self.next as u32;
            for node in &mut self.nodes[self.next + 1..] {
                node.parent = node.parent.map(|parent| if parent >= shift { parent + 1 } else { parent });
            }
        }
    }

    /// What is worth remembering when something was found.
    pub fn stopped(&self) -> Self {
        let mut search = self.clone();
        if let Some(doubtful) = search.doubtful.take() {
            // What was added from there on is found again. The rest was added by states before it, whose places do
            // not change.
            search.next = doubtful;
            let mut place = 0..;
            search.nodes.retain(|node| {
                place.next() <= Some(doubtful)
                    || node.parent.is_some_and(|parent| (parent as usize) < doubtful)
            });
            search.known = search.nodes.iter().map(|node| node.state).collect();
        }
        search
    }

    /// How to get to the state that is to be visited: whether by a reset, and the way.
    pub fn way(&self) -> (bool, Vec<Step>) {
        let mut walk = Vec::new();
        let mut at = self.next;
        loop {
            let node = &self.nodes[at];
            match node.parent {
                None => break (true, reversed(walk)),
                Some(parent) if parent as usize == at => break (false, reversed(walk)),
                Some(parent) => {
                    let from = self.nodes[parent as usize].state;
                    walk.push(Step { from, action: node.action, to: node.state });
                    at = parent as usize;
                }
            }
        }
    }

    /// How far from where it began the state is that is to be visited.
    pub fn depth(&self) -> u32 {
        self.nodes.get(self.next).map_or(0, |node| node.depth)
    }
}

fn reversed(mut walk: Vec<Step>) -> Vec<Step> {
    walk.reverse();
    walk
}
