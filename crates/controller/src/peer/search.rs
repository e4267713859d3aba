//! The distributed breadth-first search of the forward schemes as the thesis prints it (section
//! 3.5.5): the search itself travels, from owner to owner of the states that it visits.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::key_map::KeySet;
use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use super::message::WorkRequest;
use crate::job::Transition;

/// A search in progress: a tree of states in order of distance, some of them visited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Search {
    /// The request that it serves.
    pub asking: WorkRequest,
    /// The controller that began it.
    pub origin: Key,
    /// Shared by the search under way and the remembered one, until one of them continues.
    tree: Arc<Tree>,
    /// The next to be visited.
    next: usize,
    /// The first visited state that had actions under way. Their destinations are not known, so a
    /// remembered search resumes here.
    doubtful: Option<usize>,
}

/// The root is where the crawler stands (or the initial state, if it stands nowhere).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Node>", into = "Vec<Node>")]
struct Tree {
    nodes: Vec<Node>,
    /// The states of the nodes; not serialised.
    known: KeySet<StateKey>,
}

impl From<Tree> for Vec<Node> {
    fn from(tree: Tree) -> Self {
        tree.nodes
    }
}

/// Bytes from the network may be anything: the parents must form a tree that grows from its root.
impl TryFrom<Vec<Node>> for Tree {
    type Error = &'static str;

    fn try_from(nodes: Vec<Node>) -> Result<Self, Self::Error> {
        let grows = |(at, node): (usize, &Node)| {
            node.parent.is_none_or(|parent| (parent as usize) < at.max(1))
        };
        if nodes.is_empty() || !nodes.iter().enumerate().all(grows) {
            return Err("a search that is no tree");
        }
        Ok(Self::of(nodes))
    }
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
    /// Searches from where a crawler stands, or after a reset from the initial state.
    pub fn new(asking: WorkRequest, origin: Key, initial: StateKey) -> Self {
        let (root, parent) = asking.at.map_or((initial, None), |at| (at, Some(0)));
        let nodes = vec![Node { state: root, action: ActionSignature(0), parent, depth: 0 }];
        Self { asking, origin, tree: Arc::new(Tree::of(nodes)), next: 0, doubtful: None }
    }

    /// Resumes where another search from the same state stopped.
    pub fn resume(mut self, asking: WorkRequest, origin: Key) -> Self {
        self.asking = asking;
        self.origin = origin;
        self
    }

    /// The next state to visit, if any is left.
    pub fn next(&self) -> Option<StateKey> {
        self.tree.nodes.get(self.next).map(|node| node.state)
    }

    /// Where it began.
    pub fn root(&self) -> StateKey {
        self.tree.nodes[0].state
    }

    /// How many states were visited.
    pub fn visited(&self) -> usize {
        self.next
    }

    /// Passes a visited state that has no work. `certain`: none of its actions is under way. Once
    /// the next state is as far as a reset, the initial state joins the search.
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
        let tree = Arc::make_mut(&mut self.tree);
        let depth = tree.nodes[parent].depth.saturating_add(1);
        for (action, state) in leads {
            if tree.known.insert(state) {
                tree.nodes.push(Node { state, action, parent: Some(parent as u32), depth });
            }
        }
        self.next += 1;
        let far = tree.nodes.get(self.next).is_none_or(|next| f64::from(next.depth) > reset_cost);
        if far && tree.known.insert(initial) {
            let depth = reset_cost.ceil() as u32;
            let node = Node { state: initial, action: ActionSignature(0), parent: None, depth };
            tree.nodes.insert(self.next, node);
            let shift = self.next as u32;
            for node in &mut tree.nodes[self.next + 1..] {
                node.parent =
                    node.parent.map(|parent| if parent >= shift { parent + 1 } else { parent });
            }
        }
    }

    /// The search to remember once it found work.
    pub fn stopped(&self) -> Self {
        let mut search = self.clone();
        if let Some(doubtful) = search.doubtful.take() {
            // What was added from there on is found again. The rest was added by earlier states,
            // whose positions do not change.
            search.next = doubtful;
            let certain = |&(place, node): &(usize, &Node)| {
                place <= doubtful || node.parent.is_some_and(|parent| (parent as usize) < doubtful)
            };
            let nodes =
                self.tree.nodes.iter().enumerate().filter(certain).map(|(_, node)| node.clone());
            search.tree = Arc::new(Tree::of(nodes.collect()));
        }
        search
    }

    /// The path to the next state: whether it begins with a reset, and its transitions.
    pub fn way(&self) -> (bool, Vec<Transition>) {
        let mut walk = Vec::new();
        let mut at = self.next;
        let reset = loop {
            let node = &self.tree.nodes[at];
            match node.parent {
                None => break true,
                Some(parent) if parent as usize == at => break false,
                Some(parent) => {
                    let from = self.tree.nodes[parent as usize].state;
                    walk.push(Transition { from, action: node.action, to: node.state });
                    at = parent as usize;
                }
            }
        };
        walk.reverse();
        (reset, walk)
    }
}

impl Tree {
    fn of(nodes: Vec<Node>) -> Self {
        let known = nodes.iter().map(|node| node.state).collect();
        Self { nodes, known }
    }
}

// The nodes say everything.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for Tree {}

impl PartialOrd for Tree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tree {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nodes.cmp(&other.nodes)
    }
}

impl Hash for Tree {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.nodes.hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::CrawlerId;

    const INITIAL: StateKey = StateKey(0);

    fn search() -> Search {
        let asking =
            WorkRequest { crawler: CrawlerId(1), number: 1, at: Some(StateKey(1)), again: false };
        Search::new(asking, Key(7), INITIAL)
    }

    fn leads(to: &[u128]) -> Vec<(ActionSignature, StateKey)> {
        to.iter().map(|&to| (ActionSignature(to as u64), StateKey(to))).collect()
    }

    #[test]
    fn a_search_that_has_travelled_goes_on_as_if_it_had_not() {
        let mut here = search();
        here.pass(leads(&[2, 3]), true, INITIAL, 10.0);
        let mut there: Search = postcard::from_bytes(&postcard::to_stdvec(&here).unwrap()).unwrap();
        for search in [&mut here, &mut there] {
            search.pass(leads(&[1, 2, 3, 4]), true, INITIAL, 10.0);
        }
        assert_eq!(here, there);
        assert_eq!(here.tree.nodes.len(), 4, "what is known is not entered twice");
    }

    #[test]
    fn a_remembered_search_does_not_change_when_the_search_continues() {
        let mut first = search();
        first.pass(leads(&[2]), true, INITIAL, 10.0);
        let remembered = first.stopped();
        let mut second = remembered.clone().resume(first.asking, Key(8));
        second.pass(leads(&[3]), true, INITIAL, 10.0);
        assert_eq!((remembered.tree.nodes.len(), second.tree.nodes.len()), (2, 3));
    }
}
