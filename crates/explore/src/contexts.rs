//! Contexts: which actions are alike. A context is a deed (what is done to which kind of element)
//! together with what its part shows. Once a context was executed, its other occurrences are
//! predicted to change the same parts in the same way, and they wait.
//!
//! A sample of them is executed to check that. If two executions of a context had different
//! outcomes, the deed depends on another part as well: from then on its contexts include that part.
//! Must not know how the next action is chosen.

use std::collections::{BTreeMap, BTreeSet};

use crate::chance::Chance;
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::parts::{PartAction, PartPlace, StatePart, StateParts};

/// How often a context of an item is executed before the other items are alike.
const ITEMS: usize = 3;
/// How many alike candidates there are for each sample.
const ALIKE_PER_SAMPLE: u64 = 20;
/// The most parts besides its own that a deed is found to depend on.
const MOST_DEPENDENCIES: usize = 3;
/// The executions of a context that are compared with later ones.
const COMPARED: usize = 16;

/// A deed at a place.
type DeedKey = (u64, PartPlace);

/// What the parts show that a deed depends on, its own first.
type Looks = Vec<Vec<StatePart>>;

/// A context: the deed, and what the parts show that it depends on.
pub(crate) type ContextKey = (DeedKey, Looks);

/// What is known about a deed.
#[derive(Clone, Default)]
struct Deed {
    slots: Vec<Slot>,
    depends_on: Vec<PartPlace>,
    contexts: BTreeMap<Looks, ContextRecord>,
}

/// What is known about a context.
#[derive(Clone, Default)]
struct ContextRecord {
    /// Candidates that no crawler has claimed.
    open: BTreeSet<Slot>,
    claimed: BTreeSet<Slot>,
    executed: usize,
    /// The first executions.
    compared: Vec<Slot>,
    is_item: bool,
    /// The candidate that checks whether the others are alike.
    sample: Option<Slot>,
    /// Whether the open candidates wait.
    waits: bool,
    /// Open candidates for which that was not said yet.
    news: Vec<Slot>,
}

impl ContextRecord {
    /// Whether further candidates of the context are alike.
    fn is_known(&self) -> bool {
        let enough = if self.is_item { ITEMS } else { 1 };
        self.executed + self.claimed.len() >= enough
    }
}

/// How far the contexts of a crawl are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContextCounts {
    /// Contexts that were seen.
    pub seen: usize,
    /// Contexts that were executed at least once.
    pub executed: usize,
    /// Parts that were seen, each with what it showed.
    pub parts: usize,
    /// Deeds that were found to depend on another part.
    pub dependent: usize,
    /// Executions whose outcome no part explains.
    pub unexplained: usize,
}

/// The contexts of a crawl.
#[derive(Clone, Default)]
pub struct Contexts {
    seed: u64,
    states: Vec<Option<StateParts>>,
    deeds: BTreeMap<DeedKey, Deed>,
    /// Transitions whose destination is not described yet.
    undescribed: BTreeMap<StateIndex, Vec<Slot>>,
    parts: BTreeSet<StatePart>,
    unexplained: usize,
    /// Nothing waits any more.
    is_over: bool,
}

impl Contexts {
    /// Of a crawl that has not begun. The seed chooses the samples.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Adds the parts of a state. Returns the contexts whose candidates may wait now, or no more.
    pub(crate) fn describe(
        &mut self,
        graph: &Graph,
        state: StateIndex,
        parts: StateParts,
    ) -> Vec<ContextKey> {
        if self.states.len() <= state.at() {
            self.states.resize(state.at() + 1, None);
        }
        if self.states[state.at()].is_some() {
            return Vec::new();
        }
        self.parts.extend(&parts.parts);
        self.states[state.at()] = Some(parts);
        let mut changed = Vec::new();
        for slot in graph.slots(state) {
            if let Some((deed, _)) = self.deed_of(graph, slot) {
                self.deeds.entry(deed).or_default().slots.push(slot);
                changed.extend(self.enlist(graph, slot));
                changed.extend(self.compare(graph, slot));
            }
        }
        for slot in self.undescribed.remove(&state).unwrap_or_default() {
            changed.extend(self.compare(graph, slot));
        }
        changed
    }

    fn parts_of(&self, state: StateIndex) -> Option<&StateParts> {
        self.states.get(state.at())?.as_ref()
    }

    fn deed_of(&self, graph: &Graph, slot: Slot) -> Option<(DeedKey, PartAction)> {
        let parts = self.parts_of(slot.state)?;
        let action = *parts.action(graph.signature(graph.action_of(slot)))?;
        Some(((action.deed, parts.parts[action.part as usize].place), action))
    }

    /// The context of a slot, by what its deed is known to depend on.
    fn context_of(&self, graph: &Graph, slot: Slot) -> Option<(ContextKey, bool)> {
        let (deed, PartAction { part, item, .. }) = self.deed_of(graph, slot)?;
        let parts = self.parts_of(slot.state)?;
        let others = self.deeds.get(&deed).map_or(&[][..], |deed| &deed.depends_on);
        let others = others.iter().map(|&place| parts.at(place).to_vec());
        let looks = [vec![parts.parts[part as usize]]].into_iter().chain(others).collect();
        Some(((deed, looks), item))
    }

    fn record(&mut self, (deed, looks): &ContextKey) -> &mut ContextRecord {
        self.deeds.entry(*deed).or_default().contexts.entry(looks.clone()).or_default()
    }

    /// Counts a slot to its context.
    fn enlist(&mut self, graph: &Graph, slot: Slot) -> Option<ContextKey> {
        let (context, is_item) = self.context_of(graph, slot)?;
        let record = self.record(&context);
        record.is_item = is_item;
        if graph.target(slot).is_some() {
            record.open.remove(&slot);
            record.claimed.remove(&slot);
            // One that was given up says nothing about the others.
            if !graph.closed().contains(&slot) {
                record.executed += 1;
                if record.compared.len() < COMPARED {
                    record.compared.push(slot);
                }
            }
        } else if graph.claimed().contains(&slot) {
            record.open.remove(&slot);
            record.claimed.insert(slot);
        } else {
            record.claimed.remove(&slot);
            record.open.insert(slot);
            record.news.push(slot);
        }
        Some(context)
    }

    /// A crawler has claimed a candidate, or released it.
    pub(crate) fn on_claim_changed(&mut self, graph: &Graph, slot: Slot) -> Option<ContextKey> {
        self.enlist(graph, slot)
    }

    /// A candidate was executed or given up. Returns the contexts that changed.
    pub(crate) fn on_settled(&mut self, graph: &Graph, slot: Slot) -> Vec<ContextKey> {
        let mut changed: Vec<ContextKey> = self.enlist(graph, slot).into_iter().collect();
        let to = graph.target(slot).filter(|_| !graph.closed().contains(&slot));
        match to {
            Some(to) if self.parts_of(to).is_none() => {
                self.undescribed.entry(to).or_default().push(slot);
            }
            Some(_) => changed.extend(self.compare(graph, slot)),
            None => {}
        }
        changed
    }

    /// Compares the outcome of an execution with those of the same context. If they differ, the
    /// deed depends on one more part, and all its contexts change.
    fn compare(&mut self, graph: &Graph, slot: Slot) -> Vec<ContextKey> {
        let Some((context @ (deed, _), _)) = self.context_of(graph, slot) else {
            return Vec::new();
        };
        let compared = self.record(&context).compared.clone();
        let all: Vec<Change<'_>> =
            compared.iter().filter_map(|&slot| self.change(graph, slot)).collect();
        let Some(new) = self.change(graph, slot) else { return Vec::new() };
        if all.iter().all(|known| known.agrees_with(&new)) {
            return Vec::new();
        }
        let known = &self.deeds[&deed].depends_on;
        let explanation = if known.len() < MOST_DEPENDENCIES { explain(&all, known) } else { None };
        let Some(place) = explanation else {
            self.unexplained += 1;
            return Vec::new();
        };
        let record = self.deeds.entry(deed).or_default();
        record.depends_on.push(place);
        record.contexts.clear();
        let slots = record.slots.clone();
        slots.into_iter().filter_map(|slot| self.enlist(graph, slot)).collect()
    }

    /// What the parts showed before and after a transition.
    fn change(&self, graph: &Graph, slot: Slot) -> Option<Change<'_>> {
        let to = graph.target(slot)?;
        Some(Change { before: self.parts_of(slot.state)?, after: self.parts_of(to)? })
    }

    /// Chooses a sample for each context that has none and of which enough candidates wait. Returns
    /// the contexts that have a new one.
    pub(crate) fn choose_samples(&mut self, graph: &Graph) -> Vec<ContextKey> {
        let seed = self.seed;
        let mut changed = Vec::new();
        for (deed, record) in &mut self.deeds {
            for (looks, context) in &mut record.contexts {
                if context.sample.is_some() || !context.is_known() {
                    continue;
                }
                let draw = |slot: &Slot| {
                    let (key, action) =
                        (graph.key(slot.state).0, graph.signature(graph.action_of(*slot)));
                    Chance::new(&[seed, key as u64, (key >> 64) as u64, action.0]).word()
                };
                let first = context.open.iter().map(|slot| (draw(slot), *slot)).min();
                if let Some((draw, slot)) = first
                    && draw <= u64::MAX / ALIKE_PER_SAMPLE
                {
                    context.sample = Some(slot);
                    context.news.push(slot);
                    changed.push((*deed, looks.clone()));
                }
            }
        }
        changed
    }

    /// Lets no candidate wait any more. Returns all contexts.
    pub(crate) fn end(&mut self) -> Vec<ContextKey> {
        self.is_over = true;
        let keys = |(deed, record): (&DeedKey, &Deed)| {
            let deed = *deed;
            record.contexts.keys().map(move |looks| (deed, looks.clone())).collect::<Vec<_>>()
        };
        self.deeds.iter().flat_map(keys).collect()
    }

    /// The open candidates of a context that wait now and did not before, or the other way round.
    /// Says of each whether it waits; some may have been as they are.
    pub(crate) fn take_news(&mut self, (deed, looks): &ContextKey) -> Vec<(Slot, bool)> {
        // The contexts of a deed change when it turns out to depend on another part.
        let deed = self.deeds.get_mut(deed);
        let Some(record) = deed.and_then(|deed| deed.contexts.get_mut(looks)) else {
            return Vec::new();
        };
        let waits = record.is_known() && !self.is_over;
        let news = std::mem::take(&mut record.news);
        let (open, sample) = (&record.open, record.sample);
        let changed: Vec<Slot> = if std::mem::replace(&mut record.waits, waits) == waits {
            news.into_iter().filter(|slot| open.contains(slot)).collect()
        } else {
            open.iter().copied().collect()
        };
        changed.into_iter().map(|slot| (slot, waits && sample != Some(slot))).collect()
    }

    /// How far the contexts are executed.
    pub fn counts(&self) -> ContextCounts {
        let contexts = || self.deeds.values().flat_map(|deed| deed.contexts.values());
        ContextCounts {
            seen: contexts().count(),
            executed: contexts().filter(|context| context.executed > 0).count(),
            parts: self.parts.len(),
            dependent: self.deeds.values().filter(|deed| !deed.depends_on.is_empty()).count(),
            unexplained: self.unexplained,
        }
    }

    /// An estimate of how many candidates all combinations of parts would have that were not found
    /// yet: the parts of each kind of page are taken to be independent.
    pub fn combinations(&self) -> f64 {
        // The looks of each place, by the places that a page has.
        let mut kinds: BTreeMap<Vec<PartPlace>, KindOfPage> = BTreeMap::new();
        for state in self.states.iter().flatten() {
            let mut places: Vec<PartPlace> = state.parts.iter().map(|part| part.place).collect();
            places.dedup();
            let kind = kinds.entry(places.clone()).or_default();
            kind.states += 1;
            kind.actions += state.actions.len();
            for place in places {
                kind.looks.entry(place).or_default().insert(state.at(place));
            }
        }
        let candidates = |kind: &KindOfPage<'_>| {
            let combinations: f64 = kind.looks.values().map(|looks| looks.len() as f64).product();
            let missing = (combinations - kind.states as f64).max(0.0);
            missing * kind.actions as f64 / kind.states as f64
        };
        kinds.values().map(candidates).sum()
    }
}

/// The states that have parts at the same places.
#[derive(Default)]
struct KindOfPage<'a> {
    states: usize,
    actions: usize,
    looks: BTreeMap<PartPlace, BTreeSet<&'a [StatePart]>>,
}

/// What the parts showed before and after a transition.
#[derive(Clone, Copy)]
struct Change<'a> {
    before: &'a StateParts,
    after: &'a StateParts,
}

impl Change<'_> {
    /// Whether one rule explains both changes: each place either shows the same after both, or is
    /// as it was in both.
    fn agrees_with(&self, other: &Self) -> bool {
        let all = [self.before, self.after, other.before, other.after];
        let places: BTreeSet<PartPlace> =
            all.iter().flat_map(|state| &state.parts).map(|part| part.place).collect();
        let is_kept = |change: &Self, place| change.before.at(place) == change.after.at(place);
        places.into_iter().all(|place| {
            self.after.at(place) == other.after.at(place)
                || (is_kept(self, place) && is_kept(other, place))
        })
    }
}

/// The first part that explains why changes differ: those before which it showed the same agree.
fn explain(changes: &[Change<'_>], known: &[PartPlace]) -> Option<PartPlace> {
    let places: BTreeSet<PartPlace> =
        changes.iter().flat_map(|change| &change.before.parts).map(|part| part.place).collect();
    places.into_iter().filter(|place| !known.contains(place)).find(|&place| {
        let mut first: BTreeMap<&[StatePart], &Change<'_>> = BTreeMap::new();
        changes.iter().all(|change| {
            let same = first.entry(change.before.at(place)).or_insert(change);
            same.agrees_with(change)
        })
    })
}
