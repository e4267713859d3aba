//! What a crawl knows: a function of the records that it has kept, and of nothing else. So a crawl that
//! is restored from its records knows what the one knew that wrote them. Must not know who is working
//! on what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{INITIAL, RESET_COSTS};

use crate::outcome::{Note, Offered};
use crate::record::Record;
use crate::route::Routes;
use crate::settings::ControllerSettings;
use crate::spent::Spent;

/// A record that contradicts those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// How many records came before it.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// Nothing is known of how many actions a state is away from the initial one.
const UNKNOWN: u32 = u32::MAX;

/// What a crawl knows.
pub struct CrawlKnowledge {
    settings: ControllerSettings,
    /// None until the initial state was seen.
    explorer: Option<Explorer>,
    /// States that were recorded but not yet how they were reached, and what can be done there.
    announced: BTreeMap<StateKey, Vec<ActionSignature>>,
    /// Plain links that belong to a state, or turned out to be plain: nobody else lists them.
    links: BTreeSet<ActionSignature>,
    /// Plain links that were taken.
    taken: BTreeSet<ActionSignature>,
    strays: BTreeMap<Slot, Vec<StateIndex>>,
    /// The states besides the initial one that loading the URL led to.
    landings: Vec<StateIndex>,
    /// How many actions each state is away from the initial one, at least.
    depths: Vec<u32>,
    failed: usize,
    unsettled: usize,
    spent: Spent,
    /// While restoring: what is executed or given up later, though a link elsewhere turns out to be plain.
    spared: BTreeSet<(StateKey, ActionSignature)>,
}

impl CrawlKnowledge {
    /// Of a crawl that has not begun.
    pub fn new(settings: ControllerSettings) -> Self {
        Self {
            settings,
            explorer: None,
            announced: BTreeMap::new(),
            links: BTreeSet::new(),
            taken: BTreeSet::new(),
            strays: BTreeMap::new(),
            landings: Vec::new(),
            depths: Vec::new(),
            failed: 0,
            unsettled: 0,
            spent: Spent::default(),
            spared: BTreeSet::new(),
        }
    }

    /// Of a crawl that kept these records.
    pub fn restore(
        settings: ControllerSettings,
        records: &[Record],
    ) -> Result<Self, Contradiction> {
        let mut known = Self::new(settings);
        let executed = records.iter().filter_map(|record| match record {
            Record::Transition { from, action, .. } | Record::Failed { from, action, .. } => {
                Some((*from, *action))
            }
            Record::State { .. }
            | Record::Strayed { .. }
            | Record::Appeared { .. }
            | Record::Spent { .. } => None,
        });
        known.spared = executed.collect();
        for (at, record) in records.iter().enumerate() {
            known.apply(record).map_err(|what| Contradiction { at, what })?;
        }
        known.spared.clear();
        Ok(known)
    }

    /// Takes a record in; or says what is wrong with it, and nothing has changed.
    pub fn apply(&mut self, record: &Record) -> Result<(), &'static str> {
        match record {
            Record::State { key, actions, links } => self.apply_state(*key, actions, links),
            Record::Transition { from, action, to, notes, once } => {
                let slot = self.candidate(*from, *action)?;
                if !self.knows(*to) {
                    return Err("a transition leads to a state that was not recorded");
                }
                self.unsettled += usize::from(notes.contains(&Note::Unsettled));
                let actions = self.announced_actions(*to);
                let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
                let landing = explorer.record(slot, *to, || actions);
                self.entered(landing.state, self.depths[slot.state.at()].saturating_add(1));
                if *once {
                    self.withdraw(*action);
                }
                Ok(())
            }
            Record::Failed { from, action, .. } => {
                let slot = self.candidate(*from, *action)?;
                self.explorer.as_mut().ok_or(NO_STATE)?.close(slot);
                self.failed += 1;
                Ok(())
            }
            Record::Strayed { from, action, to } => {
                let slot = self.slot(*from, *action).ok_or("no such transition")?;
                let state = self.bring_in(*to)?;
                let others = self.strays.entry(slot).or_default();
                if !others.contains(&state) {
                    others.push(state);
                }
                self.entered(state, self.depths[slot.state.at()].saturating_add(1));
                Ok(())
            }
            Record::Appeared { at, loaded } => {
                let state = self.bring_in(*at)?;
                if *loaded && state != INITIAL && !self.landings.contains(&state) {
                    self.landings.push(state);
                }
                self.entered(state, if *loaded { 0 } else { UNKNOWN });
                Ok(())
            }
            Record::Spent { actions, resets } => {
                self.spent = Spent { actions: *actions, resets: *resets };
                Ok(())
            }
        }
    }

    fn apply_state(
        &mut self,
        key: StateKey,
        actions: &[ActionSignature],
        links: &[ActionSignature],
    ) -> Result<(), &'static str> {
        let distinct: BTreeSet<_> = actions.iter().collect();
        if self.knows(key) || distinct.len() < actions.len() {
            return Err("a state is recorded twice, or lists an action twice");
        }
        self.links.extend(links);
        if self.explorer.is_some() {
            self.announced.insert(key, actions.to_vec());
        } else {
            let ControllerSettings { strategy, exploring, .. } = self.settings;
            self.explorer = Some(Explorer::new(strategy, exploring, key, actions));
            self.entered(INITIAL, 0);
        }
        Ok(())
    }

    /// The candidate with these names.
    fn candidate(&self, from: StateKey, action: ActionSignature) -> Result<Slot, &'static str> {
        let slot = self.slot(from, action).ok_or("no such candidate")?;
        match self.graph().and_then(|graph| graph.target(slot)) {
            Some(_) => Err("a candidate is recorded twice"),
            None => Ok(slot),
        }
    }

    fn slot(&self, from: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.graph()?;
        graph.slot_of(graph.find(from)?, graph.action_named(action)?)
    }

    /// Makes a state part of the graph that no candidate led to.
    fn bring_in(&mut self, key: StateKey) -> Result<StateIndex, &'static str> {
        if !self.knows(key) {
            return Err("a state was not recorded");
        }
        let actions = self.announced_actions(key);
        Ok(self.explorer.as_mut().ok_or(NO_STATE)?.add_state(key, &actions).state)
    }

    /// What can be done in a state that becomes part of the graph now, without links that were taken since
    /// it was announced.
    fn announced_actions(&mut self, key: StateKey) -> Vec<ActionSignature> {
        let mut actions = self.announced.remove(&key).unwrap_or_default();
        actions.retain(|action| !self.taken.contains(action));
        actions
    }

    /// Gives up every candidate that is this plain link, but for those that somebody is about to execute.
    fn withdraw(&mut self, link: ActionSignature) {
        self.links.insert(link);
        self.taken.insert(link);
        let Some(explorer) = &mut self.explorer else { return };
        let Some(action) = explorer.graph().action_named(link) else { return };
        for state in (0..explorer.graph().states() as u32).map(StateIndex) {
            let graph = explorer.graph();
            let Some(slot) = graph.slot_of(state, action) else { continue };
            let spared =
                graph.claimed().contains(&slot) || self.spared.contains(&(graph.key(state), link));
            if graph.target(slot).is_none() && !spared {
                explorer.close(slot);
            }
        }
    }

    /// A claimed candidate was not executed. If it is a plain link that was taken elsewhere meanwhile, it
    /// need not be.
    pub fn released(&mut self, candidate: Slot) {
        let Some(explorer) = &mut self.explorer else { return };
        let graph = explorer.graph();
        if self.taken.contains(&graph.signature(graph.action_of(candidate))) {
            explorer.close(candidate);
        } else {
            explorer.release(candidate);
        }
    }

    /// A state was entered by so many actions: if that is fewer than before, what is behind it may be
    /// nearer too. What is too deep is held back.
    fn entered(&mut self, state: StateIndex, depth: u32) {
        let Some(explorer) = &mut self.explorer else { return };
        self.depths.resize(explorer.graph().states(), UNKNOWN);
        let mut queue = VecDeque::new();
        if depth < self.depths[state.at()] {
            self.depths[state.at()] = depth;
            queue.push_back(state);
        }
        let avoid = BTreeSet::new();
        while let Some(state) = queue.pop_front() {
            let depth = self.depths[state.at()];
            if let Some(limit) = self.settings.limits.max_depth {
                explorer.hold(state, depth > limit);
            }
            let routes = Routes { graph: explorer.graph(), strays: &self.strays, avoid: &avoid };
            for hop in routes.hops(state) {
                if depth + 1 < self.depths[hop.to.at()] {
                    self.depths[hop.to.at()] = depth + 1;
                    queue.push_back(hop.to);
                }
            }
        }
    }

    /// What is to be recorded of a state that offers this.
    pub fn describe(&self, key: StateKey, offers: &[Offered]) -> Record {
        let mut listed: BTreeMap<ActionSignature, bool> = BTreeMap::new();
        for offered in offers.iter().filter(|offered| !self.links.contains(&offered.action)) {
            *listed.entry(offered.action).or_default() |= offered.once;
        }
        let links = listed.iter().filter(|&(_, &once)| once).map(|(&action, _)| action).collect();
        Record::State { key, actions: listed.into_keys().collect(), links }
    }

    /// Whether a state has been recorded.
    pub fn knows(&self, key: StateKey) -> bool {
        self.announced.contains_key(&key) || self.state(key).is_some()
    }

    /// A state of the graph.
    pub fn state(&self, key: StateKey) -> Option<StateIndex> {
        self.graph()?.find(key)
    }

    /// The graph, once the initial state was seen.
    pub fn graph(&self) -> Option<&Graph> {
        self.explorer.as_ref().map(Explorer::graph)
    }

    /// The explorer, once the initial state was seen.
    pub fn explorer(&mut self) -> Option<&mut Explorer> {
        self.explorer.as_mut()
    }

    /// How many states have been recorded.
    pub fn states(&self) -> usize {
        self.graph().map_or(0, Graph::states) + self.announced.len()
    }

    /// The transitions that led elsewhere as well, and where.
    pub fn strays(&self) -> &BTreeMap<Slot, Vec<StateIndex>> {
        &self.strays
    }

    /// The states besides the initial one that loading the URL led to.
    pub fn landings(&self) -> &[StateIndex] {
        &self.landings
    }

    /// How many plain links have been seen.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// How many candidates were given up because they failed.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// How many transitions ended before their page had settled.
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// What has been spent.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// How many actions the deepest state is away from the initial one.
    pub fn depth(&self) -> u32 {
        self.depths.iter().copied().filter(|&depth| depth != UNKNOWN).max().unwrap_or(0)
    }

    /// Takes in what a reset was measured to cost.
    pub fn measured_reset(&mut self, cost: f64) {
        if cost.is_nan() {
            return;
        }
        self.settings.exploring.reset_cost = cost.clamp(*RESET_COSTS.start(), *RESET_COSTS.end());
        if let Some(explorer) = &mut self.explorer {
            explorer.set_reset_cost(cost);
        }
    }

    /// What was asked for, with the reset cost that was measured last.
    pub fn settings(&self) -> &ControllerSettings {
        &self.settings
    }
}

const NO_STATE: &str = "nothing can happen before there is a state";
