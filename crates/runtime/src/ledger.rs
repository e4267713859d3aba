//! The ledger of a crawl: every action that was seen and not performed, with the reason. It is made
//! from the facts and from what is stored with each state; the graph holds nothing of it.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::Controller;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note};
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::page::Hindrance;
use serde::{Deserialize, Serialize};

use crate::store::{OfferDetail, Store, StoreError, WhyUnperformed};

/// The kind of the note that a refused question leaves. The page agent writes it.
const REFUSED: &str = "refused confirm";

/// Why an action was not performed, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerReason {
    /// No user sees it in any state.
    Invisible,
    /// Something else lies over it in every state.
    Covered,
    /// The page has disabled it in every state.
    Disabled,
    /// It leads out of the scope of the crawl.
    OutOfScope,
    /// It is dangerous, or the crawl was told to leave it alone.
    Avoided,
    /// It sends what a safe crawl does not send.
    Unsafe,
    /// A limit of the crawl or of a page came first.
    OverLimit,
    /// Every attempt failed, or the application could not be loaded after it.
    Failed,
    /// It was performed, and the page was still busy when the time was up.
    Unsettled,
    /// Its state does not come back.
    Gone,
}

impl LedgerReason {
    /// All reasons, in the order of the ledger.
    pub const ALL: [Self; 10] = [
        Self::Avoided,
        Self::Unsafe,
        Self::OutOfScope,
        Self::Invisible,
        Self::Covered,
        Self::Disabled,
        Self::OverLimit,
        Self::Failed,
        Self::Unsettled,
        Self::Gone,
    ];

    /// Its name, in output and as an argument.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invisible => "invisible",
            Self::Covered => "covered",
            Self::Disabled => "disabled",
            Self::OutOfScope => "out-of-scope",
            Self::Avoided => "avoided",
            Self::Unsafe => "unsafe",
            Self::OverLimit => "over-limit",
            Self::Failed => "failed",
            Self::Unsettled => "unsettled",
            Self::Gone => "gone",
        }
    }

    /// What it means, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Invisible => "on the page, but out of sight in every state",
            Self::Covered => "under something else in every state",
            Self::Disabled => "disabled in every state",
            Self::OutOfScope => "leads out of the scope of the crawl",
            Self::Avoided => "left alone: dangerous, or named by --avoid",
            Self::Unsafe => "sends what --safe does not let through",
            Self::OverLimit => "beyond a limit of the crawl or of a page",
            Self::Failed => "failed each time, or ended the application",
            Self::Unsettled => "performed, but the page stayed busy",
            Self::Gone => "its state does not come back",
        }
    }
}

/// One action of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Why it was not performed.
    pub reason: LedgerReason,
    /// The action; none for actions that a page has beyond its limits.
    pub action: Option<ActionSignature>,
    /// What people call it. It comes from a page.
    pub label: String,
    /// The reason in more words; may come from a page.
    pub detail: String,
    /// The states where it was seen, in the order of discovery.
    pub states: Vec<StateIndex>,
    /// How many actions it stands for.
    pub count: usize,
}

/// The ledger of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By reason, then by the first state.
    pub entries: Vec<LedgerEntry>,
    /// How many more actions pages withhold: a page lists two hundred.
    pub unlisted: usize,
}

impl Ledger {
    /// Reads the ledger of a stored crawl.
    pub fn read(store: &Store, controller: &Controller) -> Result<Self, StoreError> {
        let Some(graph) = controller.graph() else { return Ok(Self::default()) };
        let mut reader = LedgerReader::new(store, controller, graph);
        for state in (0..graph.states() as u32).map(StateIndex) {
            reader.add_state(state)?;
        }
        reader.add_notes()?;
        Ok(reader.finish())
    }

    /// How many actions there are of each reason.
    pub fn counts(&self) -> BTreeMap<LedgerReason, usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.entries {
            *counts.entry(entry.reason).or_default() += entry.count;
        }
        counts
    }
}

/// What an entry is about: equal actions with the same reason are one entry.
type EntryKey = (LedgerReason, ActionSignature, String);

struct LedgerReader<'a> {
    store: &'a Store,
    controller: &'a Controller,
    graph: &'a Graph,
    /// Actions that were performed in some state, or are still to be.
    offered: BTreeSet<ActionSignature>,
    entries: BTreeMap<EntryKey, LedgerEntry>,
    /// Counts of states that have more actions than the limits allow.
    beyond: Vec<LedgerEntry>,
    unlisted: usize,
}

impl<'a> LedgerReader<'a> {
    fn new(store: &'a Store, controller: &'a Controller, graph: &'a Graph) -> Self {
        let states = (0..graph.states() as u32).map(StateIndex);
        let slots = states.flat_map(|state| graph.slots(state));
        let open = slots.filter(|slot| !graph.closed().contains(slot));
        let offered = open.map(|slot| graph.signature(graph.action_of(slot))).collect();
        let (entries, beyond) = (BTreeMap::new(), Vec::new());
        Self { store, controller, graph, offered, entries, beyond, unlisted: 0 }
    }

    fn add(
        &mut self,
        state: StateIndex,
        (reason, action): (LedgerReason, ActionSignature),
        label: &str,
        detail: String,
    ) {
        let key = (reason, action, detail);
        let entry = self.entries.entry(key).or_insert_with_key(|(_, _, detail)| LedgerEntry {
            reason,
            action: Some(action),
            label: label.to_owned(),
            detail: detail.clone(),
            states: Vec::new(),
            count: 1,
        });
        if entry.states.last() != Some(&state) {
            entry.states.push(state);
        }
    }

    /// Adds what is stored with a state, and its candidates that were not executed.
    fn add_state(&mut self, state: StateIndex) -> Result<(), StoreError> {
        let Some(detail) = self.store.detail(self.graph.key(state))? else { return Ok(()) };
        for unperformed in detail.unperformed.listed {
            let action = unperformed.signature;
            let (reason, why) = match unperformed.why {
                WhyUnperformed::Avoided(danger) => {
                    (LedgerReason::Avoided, danger.in_words().to_owned())
                }
                WhyUnperformed::Withheld(_) if self.offered.contains(&action) => continue,
                WhyUnperformed::Withheld(hindrance) => (reason_of(hindrance), String::new()),
            };
            self.add(state, (reason, action), &unperformed.label, why);
        }
        self.unlisted += detail.unperformed.unlisted as usize;
        let beyond = detail.unperformed.beyond as usize;
        if beyond > 0 {
            self.beyond.push(LedgerEntry {
                reason: LedgerReason::OverLimit,
                action: None,
                label: "further actions of the page".to_owned(),
                detail: "beyond the limits of one page".to_owned(),
                states: vec![state],
                count: beyond,
            });
        }
        self.add_slots(state, &detail.offers);
        Ok(())
    }

    /// Adds the candidates of a state that were not executed, and what ended the application.
    fn add_slots(&mut self, state: StateIndex, offers: &[OfferDetail]) {
        let label = |action| {
            let offer = offers.iter().find(|offer| offer.signature == action);
            offer.map_or("unknown action", |offer| offer.label.as_str())
        };
        for slot in self.graph.slots(state) {
            let Some((reason, detail)) = self.fate_of(slot) else { continue };
            let action = self.graph.signature(self.graph.action_of(slot));
            self.add(state, (reason, action), label(action), detail.to_owned());
        }
    }

    fn fate_of(&self, slot: Slot) -> Option<(LedgerReason, &'static str)> {
        let known = self.controller.known();
        if known.ended().contains(&slot) {
            return Some((LedgerReason::Failed, ENDED));
        }
        match known.given_up_slots().get(&slot) {
            Some(JobFailure::Unreachable) => {
                Some((LedgerReason::Gone, JobFailure::Unreachable.in_words()))
            }
            Some(reason) => Some((LedgerReason::Failed, reason.in_words())),
            None if self.graph.target(slot).is_none() => {
                Some((LedgerReason::OverLimit, "the crawl stopped before it"))
            }
            None => None,
        }
    }

    /// Adds what notes say of actions that were performed, but not to their end.
    fn add_notes(&mut self) -> Result<(), StoreError> {
        let mut noted: Vec<(StateKey, ActionSignature, LedgerReason, String)> = Vec::new();
        for fact in self.store.facts()? {
            if let Fact::Transition { from, action, notes, .. } = fact? {
                let reasons = notes.iter().filter_map(reason_of_note);
                noted.extend(reasons.map(|(reason, detail)| (from, action, reason, detail)));
            }
        }
        noted.sort();
        let mut labels: Option<(StateKey, Vec<OfferDetail>)> = None;
        for (from, action, reason, detail) in noted {
            let Some(state) = self.graph.find(from) else { continue };
            if labels.as_ref().is_none_or(|(key, _)| *key != from) {
                labels = Some((from, self.store.detail(from)?.map_or(Vec::new(), |it| it.offers)));
            }
            let offers = labels.as_ref().map_or(&[][..], |(_, offers)| offers);
            let offer = offers.iter().find(|offer| offer.signature == action);
            let label = offer.map_or("unknown action", |offer| offer.label.as_str()).to_owned();
            self.add(state, (reason, action), &label, detail);
        }
        Ok(())
    }

    fn finish(self) -> Ledger {
        let mut entries: Vec<LedgerEntry> = self.entries.into_values().collect();
        for entry in &mut entries {
            entry.states.sort_unstable();
            entry.states.dedup();
        }
        entries.extend(self.beyond);
        let place = |reason| LedgerReason::ALL.iter().position(|&other| other == reason);
        entries.sort_by_key(|entry| (place(entry.reason), entry.states.first().copied()));
        Ledger { entries, unlisted: self.unlisted }
    }
}

/// What the ledger says of an action that ended the application.
const ENDED: &str = "the application could not be loaded after it";

fn reason_of(hindrance: Hindrance) -> LedgerReason {
    match hindrance {
        Hindrance::Invisible => LedgerReason::Invisible,
        Hindrance::Covered => LedgerReason::Covered,
        Hindrance::Disabled => LedgerReason::Disabled,
        Hindrance::OutOfScope => LedgerReason::OutOfScope,
    }
}

/// What a note says of an action that was performed, but not to its end. The note of a request that
/// a safe crawl stops becomes [`LedgerReason::Unsafe`] here.
fn reason_of_note(note: &Note) -> Option<(LedgerReason, String)> {
    match note {
        Note::Unsettled => Some((LedgerReason::Unsettled, String::new())),
        Note::OutOfScope(url) => Some((LedgerReason::OutOfScope, url.clone())),
        Note::Dialog(kind, question) if kind == REFUSED => {
            Some((LedgerReason::Avoided, format!("its question was refused: {question:?}")))
        }
        Note::Unsafe(method, url) => Some((LedgerReason::Unsafe, format!("{method} {url}"))),
        Note::Ended => Some((LedgerReason::Failed, ENDED.to_owned())),
        Note::Dialog(..)
        | Note::Window(_)
        | Note::Download(_)
        | Note::Route(_)
        | Note::Tampered
        | Note::Allowed => None,
    }
}
