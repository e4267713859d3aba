//! What the crawlers of one process know of pages: which state a page is, where its actions are,
//! and what is volatile. All of it can be learned again; what must last is in the store.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_browser::agent::{Look, Raw};
use argiope_controller::outcome::Offered;
use argiope_explore::accessible::AccessiblePage;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity::{Masks, NamedIdentity, Recognised, StateMasks};
use argiope_explore::page::{Kind, Page};

use crate::address::without_logins;
use crate::label;
use crate::learned::{self, PageFindings};
use crate::store::{FoundPage, OfferDetail};

/// How many actions are kept in memory; those of further states are read from the store.
const PLACES: usize = 400_000;
/// The bytes of texts that count as much as one action: pages decide how long they are.
const TEXT_PER_PLACE: usize = 256;

/// The actions of one page of a state. They hold as long as the page is the same to the byte.
#[derive(Debug)]
pub struct PageActions {
    /// The page.
    pub raw: Raw,
    /// The actions, ordered by signature.
    places: Box<[ActionHandle]>,
}

/// An action on a page: what is done, and where.
#[derive(Clone, Debug)]
pub struct ActionHandle {
    /// The action.
    pub action: ActionSignature,
    /// The kind of action.
    pub kind: Kind,
    /// The argument of the action, such as a text or a key.
    pub argument: Box<str>,
    /// The place of its element, and its traits.
    pub place: Box<str>,
}

/// An action where it is in the structure of a page. Elements that read the same on pages of
/// different structure may have different handlers.
pub type PlacedAction = (ActionSignature, u64);

impl ActionHandle {
    /// The action with the structure around its element, which the agent names after the place.
    pub fn placed(&self) -> PlacedAction {
        let traits = self.place.split_once('~').map_or("", |(_, traits)| traits);
        let structure = traits.split('.').next().unwrap_or_default();
        (self.action, u64::from_str_radix(structure, 36).unwrap_or_default())
    }
}

impl PageActions {
    fn new(raw: Raw, offers: &[OfferDetail]) -> Self {
        let handle = |offer: &OfferDetail| ActionHandle {
            action: offer.signature,
            kind: offer.kind,
            argument: offer.argument.as_str().into(),
            place: offer.place.as_str().into(),
        };
        let mut places: Vec<ActionHandle> = offers.iter().map(handle).collect();
        places.sort_by_key(|handle| handle.action);
        Self { raw, places: places.into() }
    }

    /// How much of [`PLACES`] it takes.
    fn weight(&self) -> usize {
        let text = |handle: &ActionHandle| handle.argument.len() + handle.place.len();
        self.places.len() + 4 + self.places.iter().map(text).sum::<usize>() / TEXT_PER_PLACE
    }

    /// The actions that the page offers.
    pub fn offers(&self) -> Vec<Offered> {
        let offered = |handle: &ActionHandle| Offered {
            action: handle.action,
            once: handle.kind == Kind::Link,
        };
        self.places.iter().map(offered).collect()
    }

    /// An action of this page.
    pub fn handle(&self, action: ActionSignature) -> Option<&ActionHandle> {
        self.places
            .binary_search_by_key(&action, |handle| handle.action)
            .ok()
            .map(|at| &self.places[at])
    }
}

/// A page whose state is known.
#[derive(Clone, Debug)]
pub struct KnownPage {
    /// Its state.
    pub key: StateKey,
    /// Its actions.
    pub actions: Arc<PageActions>,
}

/// The page index, as the threads of a process share it. Lock order: it comes before the archive
/// of a cluster crawl, and nothing is awaited under it.
#[derive(Clone)]
pub struct SharedPageIndex(Arc<Mutex<PageIndex>>);

impl SharedPageIndex {
    /// Shares an index.
    pub fn new(pages: PageIndex) -> Self {
        Self(Arc::new(Mutex::new(pages)))
    }

    /// Everything in it can be learned again, so that a panic elsewhere does no harm.
    pub fn lock(&self) -> MutexGuard<'_, PageIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the crawlers of a process know of pages.
pub struct PageIndex {
    identity: &'static NamedIdentity,
    /// Masks of what changes from load to load, on every page.
    pub masks: Masks,
    /// Masks of what changes in single states.
    pub state_masks: StateMasks,
    /// Whether an action needs trusted input (the browser's own) where it is.
    pub trusted: BTreeMap<PlacedAction, bool>,
    /// Addresses whose requests do not end. Only grows.
    pub endless: BTreeSet<String>,
    /// Pages that should have been a state and differ from it in values alone.
    pub suspects: BTreeMap<StateKey, Page>,
    /// Suspected states that came back unchanged.
    pub cleared: BTreeSet<StateKey>,
    /// Candidates that failed in one call with other steps.
    pub risky: BTreeSet<(StateKey, ActionSignature)>,
    /// States that a crawler has found and not reported yet. Another crawler that meets one has to
    /// look as well, because the controller does not know it yet.
    unreported: BTreeSet<StateKey>,
    raws: HashMap<Raw, KnownPage>,
    /// The actions of each state's first page.
    first: HashMap<StateKey, Arc<PageActions>>,
    oldest: VecDeque<(Raw, StateKey)>,
    places: usize,
}

impl PageIndex {
    /// An empty index.
    pub fn new(identity: &'static NamedIdentity) -> Self {
        Self {
            identity,
            masks: Masks::default(),
            state_masks: StateMasks::default(),
            trusted: BTreeMap::new(),
            endless: BTreeSet::new(),
            suspects: BTreeMap::new(),
            cleared: BTreeSet::new(),
            risky: BTreeSet::new(),
            unreported: BTreeSet::new(),
            raws: HashMap::new(),
            first: HashMap::new(),
            oldest: VecDeque::new(),
            places: 0,
        }
    }

    /// What these crawlers and others have learned about pages.
    pub fn findings(&self) -> PageFindings {
        PageFindings { state_masks: self.state_masks.clone(), endless: self.endless.clone() }
    }

    /// Adds what crawlers of other processes have learned.
    pub fn learn(&mut self, findings: PageFindings) {
        self.state_masks.merge(findings.state_masks);
        learned::add_endless(&mut self.endless, findings.endless);
    }

    /// The identity, which tells states apart.
    pub fn identity(&self) -> &'static NamedIdentity {
        self.identity
    }

    /// A page that was met before, if its state was reported.
    pub fn page(&self, raw: Raw) -> Option<&KnownPage> {
        self.raws.get(&raw).filter(|known| !self.unreported.contains(&known.key))
    }

    /// A state that was found is reported.
    pub fn mark_reported(&mut self, state: StateKey) {
        self.unreported.remove(&state);
    }

    /// The actions of a state's first page, if they are in memory.
    pub fn actions_of(&self, key: StateKey) -> Option<&Arc<PageActions>> {
        self.first.get(&key)
    }

    /// Adds what the store knows of a state's first page.
    pub fn recall(&mut self, key: StateKey, raw: Raw, offers: &[OfferDetail]) -> Arc<PageActions> {
        let actions = Arc::new(PageActions::new(raw, offers));
        self.remember(KnownPage { key, actions: actions.clone() });
        actions
    }

    /// Finds the state of a page that was looked at. A state that is new to memory and store may be
    /// a known state with other volatile values. Returns also what the store keeps of the page, if
    /// the state is new.
    pub fn recognise(
        &mut self,
        look: Look,
        stored: impl Fn(StateKey) -> bool,
    ) -> (KnownPage, FoundPage) {
        let Look { raw, page, source, .. } = look;
        let mut recognised = self.identity.recognise(&page, &self.masks);
        if !self.state_masks.is_empty()
            && !self.first.contains_key(&recognised.key)
            && !stored(recognised.key)
            && let Some(resolved) = self.state_masks.resolve(self.identity, &self.masks, &page)
        {
            recognised = resolved;
        }
        let offers = offers_of(&page, &recognised);
        let known =
            KnownPage { key: recognised.key, actions: Arc::new(PageActions::new(raw, &offers)) };
        if !self.first.contains_key(&known.key) {
            self.unreported.insert(known.key);
        }
        self.remember(known.clone());
        let found = FoundPage {
            url: without_logins(&page.url).into_owned(),
            title: page.title.clone(),
            found_at: 0,
            raw: raw.0,
            source: source.into_bytes(),
            page,
            screenshot: None,
            offers,
        };
        (known, found)
    }

    /// Forgets a page: the next crawler that meets it looks again.
    pub fn forget(&mut self, known: &KnownPage) {
        self.raws.remove(&known.actions.raw);
        if self.first.get(&known.key).is_some_and(|actions| actions.raw == known.actions.raw) {
            self.first.remove(&known.key);
        }
    }

    fn remember(&mut self, known: KnownPage) {
        self.places += known.actions.weight();
        self.oldest.push_back((known.actions.raw, known.key));
        self.first.entry(known.key).or_insert_with(|| known.actions.clone());
        self.raws.insert(known.actions.raw, known);
        while self.places > PLACES && self.oldest.len() > 1 {
            let Some((raw, key)) = self.oldest.pop_front() else { break };
            if let Some(gone) = self.raws.remove(&raw) {
                self.places = self.places.saturating_sub(gone.actions.weight());
            }
            if self.first.get(&key).is_some_and(|actions| actions.raw == raw) {
                self.first.remove(&key);
            }
        }
    }
}

fn offers_of(page: &Page, recognised: &Recognised) -> Vec<OfferDetail> {
    let named = AccessiblePage::of(page);
    let both = page.offers.iter().zip(&recognised.actions);
    both.filter_map(|(offer, action)| {
        action.map(|signature| OfferDetail {
            signature,
            kind: offer.kind,
            argument: offer.argument.clone(),
            label: label::of(&named, offer),
            place: offer.place.clone(),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(raw: u128) -> Look {
        let (page, source, content_type) = (Page::default(), String::new(), "text/html".to_owned());
        Look { raw: Raw(raw), page, source, status: 200, content_type, truncated: false }
    }

    #[test]
    fn an_action_is_placed_by_the_structure_around_it() {
        let placed = |place: &str| {
            let (action, kind, argument) = (ActionSignature(7), Kind::Click, "".into());
            ActionHandle { action, kind, argument, place: place.into() }.placed()
        };
        assert_eq!(placed("1/0~a.b.c.d.e"), (ActionSignature(7), 10));
        assert_eq!(placed("1/5~a.x..y.z"), placed("1/0~a.b.c.d.e"), "rows of one list");
        assert_ne!(placed("1/0~b.b.c.d.e"), placed("1/0~a.b.c.d.e"), "another structure");
        for hostile in ["1/0", "1/0~", "~.", "~~", "1~zzzzzzzzzzzzzzzzzzzz", "1~é"] {
            assert_eq!(placed(hostile), (ActionSignature(7), 0), "{hostile}");
        }
    }

    #[test]
    fn a_page_is_known_when_its_state_is_reported() {
        let mut pages = PageIndex::new(argiope_explore::identity::find("content").unwrap());
        let state = pages.recognise(look(1), |_| false).0.key;
        assert!(pages.page(Raw(1)).is_none(), "a crawler that meets it has to look");
        pages.mark_reported(state);
        assert_eq!(pages.page(Raw(1)).unwrap().key, state);
        // Another page of the same state.
        assert_eq!(pages.recognise(look(2), |_| false).0.key, state);
        assert!(pages.page(Raw(2)).is_some());
    }
}
