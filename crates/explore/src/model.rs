//! The model of a whole application, as it is exchanged: states, what can be done in each, and where
//! it leads. Knows nothing of crawling; a crawl's own, growing knowledge is `graph`.

/// A finished model: every action of every state with its destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What people call it.
    pub name: String,
    /// The state that a reset (loading the URL) leads to.
    pub initial: u32,
    /// What a reset costs, in actions (the papers' c_r).
    pub reset_cost: f64,
    /// The names of the actions; a transition names its action by the index here.
    pub actions: Vec<String>,
    starts: Vec<u32>,
    transitions: Vec<(u32, u32)>,
}

impl Model {
    /// A model without states yet.
    pub fn new(name: impl Into<String>, reset_cost: f64, actions: Vec<String>) -> Self {
        Self {
            name: name.into(),
            initial: 0,
            reset_cost,
            actions,
            starts: vec![0],
            transitions: Vec::new(),
        }
    }

    /// Adds the next state with its transitions, each an action and a destination.
    pub fn push_state(&mut self, transitions: impl IntoIterator<Item = (u32, u32)>) {
        self.transitions.extend(transitions);
        self.starts
            .push(u32::try_from(self.transitions.len()).expect("at most 2^32 transitions"));
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> usize {
        self.transitions.len()
    }

    /// The transitions of a state: action and destination.
    pub fn from(&self, state: u32) -> &[(u32, u32)] {
        let state = state as usize;
        &self.transitions[self.starts[state] as usize..self.starts[state + 1] as usize]
    }
}
