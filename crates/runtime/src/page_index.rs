//! What the crawlers of one process know together: which page is which state, where its actions are, and
//! what is volatile. All of it can be learned again; what must not be forgotten is in the store.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_browser::agent::{Look, Raw};
use argiope_controller::outcome::Offered;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity::{Masks, NamedIdentity, Recognised, StateMasks};
use argiope_explore::page::{Kind, Page};

use crate::label;
use crate::store::{FoundPage, OfferDetail, StateDetail};

/// How many places of actions are kept in memory; those of states beyond that are read from the store.
const PLACES: usize = 400_000;

/// A page of a state: where its actions are, as long as it is the same to the byte.
#[derive(Debug)]
pub struct PageActions {
    /// The page.
    pub raw: Raw,
    /// The actions, ordered by signature.
    places: Box<[ActionHandle]>,
}

/// Where an action is.
#[derive(Clone, Debug)]
pub struct ActionHandle {
    /// The action.
    pub action: ActionSignature,
    /// What is done.
    pub kind: Kind,
    /// With what.
    pub argument: Box<str>,
    /// Where.
    pub place: Box<str>,
}

impl PageActions {
    fn new(raw: Raw, offers: &[OfferDetail]) -> Self {
        let spot = |offer: &OfferDetail| ActionHandle {
            action: offer.signature,
            kind: offer.kind,
            argument: offer.argument.as_str().into(),
            place: offer.place.as_str().into(),
        };
        let mut places: Vec<ActionHandle> = offers.iter().map(spot).collect();
        places.sort_by_key(|spot| spot.action);
        Self { raw, places: places.into() }
    }

    /// What the page offers.
    pub fn offers(&self) -> Vec<Offered> {
        let offered =
            |spot: &ActionHandle| Offered { action: spot.action, once: spot.kind == Kind::Link };
        self.places.iter().map(offered).collect()
    }

    /// Where an action is on this page.
    pub fn spot(&self, action: ActionSignature) -> Option<&ActionHandle> {
        self.places
            .binary_search_by_key(&action, |spot| spot.action)
            .ok()
            .map(|at| &self.places[at])
    }
}

/// A page that was recognised.
#[derive(Clone, Debug)]
pub struct Known {
    /// The state that it is.
    pub key: StateKey,
    /// Where its actions are.
    pub sheet: Arc<PageActions>,
}

/// What a look at an unknown page brought.
pub struct Sight {
    /// The page, recognised.
    pub known: Known,
    /// What it offers.
    pub offers: Vec<Offered>,
    /// To be stored if the state turns out to be new.
    pub found: FoundPage,
}

/// What the crawlers know, on whichever thread they work.
#[derive(Clone)]
pub struct SharedPageIndex(Arc<Mutex<PageIndex>>);

impl SharedPageIndex {
    /// For crawlers that begin with this.
    pub fn new(knowledge: PageIndex) -> Self {
        Self(Arc::new(Mutex::new(knowledge)))
    }

    /// Everything in it can be learned again: a panic elsewhere leaves nothing behind that would be wrong.
    pub fn lock(&self) -> MutexGuard<'_, PageIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the crawlers know.
pub struct PageIndex {
    identity: &'static NamedIdentity,
    /// What changes from load to load, on every page.
    pub masks: Masks,
    /// What was found to change in single states.
    pub state_masks: StateMasks,
    /// How an action must be done: true if only the browser's own input works.
    pub trusted: BTreeMap<ActionSignature, bool>,
    /// Pages that should have been a state and differed from it in values only.
    pub suspects: BTreeMap<StateKey, Page>,
    /// States that were suspected and came back as they were.
    pub cleared: BTreeSet<StateKey>,
    /// Candidates that failed together with the walk to them.
    pub risky: BTreeSet<(StateKey, ActionSignature)>,
    /// States that a crawler has found and not told anybody of yet: whoever meets them meanwhile has to find them as well.
    untold: BTreeSet<StateKey>,
    raws: HashMap<Raw, Known>,
    /// The page by which a state was first recognised.
    first: HashMap<StateKey, Arc<PageActions>>,
    oldest: VecDeque<(Raw, StateKey)>,
    places: usize,
}

impl PageIndex {
    /// Nothing but how pages are told apart.
    pub fn new(identity: &'static NamedIdentity) -> Self {
        Self {
            identity,
            masks: Masks::default(),
            state_masks: StateMasks::default(),
            trusted: BTreeMap::new(),
            suspects: BTreeMap::new(),
            cleared: BTreeSet::new(),
            risky: BTreeSet::new(),
            untold: BTreeSet::new(),
            raws: HashMap::new(),
            first: HashMap::new(),
            oldest: VecDeque::new(),
            places: 0,
        }
    }

    /// How pages are told apart.
    pub fn identity(&self) -> &'static NamedIdentity {
        self.identity
    }

    /// A page that was met before, of a state that was told of.
    pub fn page(&self, raw: Raw) -> Option<&Known> {
        self.raws.get(&raw).filter(|known| !self.untold.contains(&known.key))
    }

    /// What was found has been told.
    pub fn told(&mut self, state: StateKey) {
        self.untold.remove(&state);
    }

    /// The page by which a state was first recognised, if it is in memory.
    pub fn sheet(&self, key: StateKey) -> Option<&Arc<PageActions>> {
        self.first.get(&key)
    }

    /// Takes in what the store knows of a state.
    pub fn recall(&mut self, key: StateKey, detail: &StateDetail) -> Arc<PageActions> {
        let sheet = Arc::new(PageActions::new(Raw(detail.raw), &detail.offers));
        self.remember(Known { key, sheet: sheet.clone() });
        sheet
    }

    /// Names a page that was looked at. A state that neither memory nor the store knows by its own name may
    /// be one that has volatile parts.
    pub fn recognise(&mut self, look: Look, stored: impl Fn(StateKey) -> bool) -> Sight {
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
        let known = Known { key: recognised.key, sheet: Arc::new(PageActions::new(raw, &offers)) };
        if !self.first.contains_key(&known.key) {
            self.untold.insert(known.key);
        }
        self.remember(known.clone());
        let offered = |offer: &OfferDetail| Offered {
            action: offer.signature,
            once: offer.kind == Kind::Link,
        };
        Sight {
            known,
            offers: offers.iter().map(offered).collect(),
            found: FoundPage {
                url: page.url.clone(),
                title: page.title.clone(),
                found_at: 0,
                raw: raw.0,
                source: source.into_bytes(),
                page,
                screenshot: None,
                offers,
            },
        }
    }

    /// The page is to be looked at again when it is met again.
    pub fn forget(&mut self, known: &Known) {
        self.raws.remove(&known.sheet.raw);
        if self.first.get(&known.key).is_some_and(|sheet| sheet.raw == known.sheet.raw) {
            self.first.remove(&known.key);
        }
    }

    fn remember(&mut self, known: Known) {
        self.places += known.sheet.places.len() + 4;
        self.oldest.push_back((known.sheet.raw, known.key));
        self.first.entry(known.key).or_insert_with(|| known.sheet.clone());
        self.raws.insert(known.sheet.raw, known);
        while self.places > PLACES && self.oldest.len() > 1 {
            let Some((raw, key)) = self.oldest.pop_front() else { break };
            if let Some(gone) = self.raws.remove(&raw) {
                self.places = self.places.saturating_sub(gone.sheet.places.len() + 4);
            }
            if self.first.get(&key).is_some_and(|sheet| sheet.raw == raw) {
                self.first.remove(&key);
            }
        }
    }
}

fn offers_of(page: &Page, recognised: &Recognised) -> Vec<OfferDetail> {
    let both = page.offers.iter().zip(&recognised.actions);
    both.filter_map(|(offer, action)| {
        action.map(|signature| OfferDetail {
            signature,
            kind: offer.kind,
            argument: offer.argument.clone(),
            label: label::of(page, offer),
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
    fn a_page_is_known_when_its_state_was_told_of() {
        let mut knowledge = PageIndex::new(argiope_explore::identity::find("content").unwrap());
        let state = knowledge.recognise(look(1), |_| false).known.key;
        assert!(knowledge.page(Raw(1)).is_none(), "whoever meets it meanwhile has to look");
        knowledge.told(state);
        assert_eq!(knowledge.page(Raw(1)).unwrap().key, state);
        // Another page of the same state.
        assert_eq!(knowledge.recognise(look(2), |_| false).known.key, state);
        assert!(knowledge.page(Raw(2)).is_some());
    }
}
