//! What the crawlers of one process know of pages: which state a page is, where its actions are,
//! and what is volatile. All of it can be learned again; what must last is in the store.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_browser::agent::{Look, Raw};
use argiope_controller::outcome::Offered;
use argiope_explore::accessible::AccessiblePage;
use argiope_explore::brakes::{BrakedOffers, Brakes};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity::{
    MaskedPage, Masks, NamedIdentity, Recognised, StateMasks, divide, learn_value_masks,
};
use argiope_explore::page::{Kind, Offer, Page, Withheld};

use crate::address::without_logins;
use crate::label;
use crate::learned::{self, PageDoubts, PageFindings};
use crate::numbers::UniqueNumbers;
use crate::own_addresses::OwnAddresses;
use crate::store::{FoundPage, OfferDetail, UnperformedAction, UnperformedActions, WhyUnperformed};

/// How many actions are kept in memory; those of further states are read from the store.
const PLACES: usize = 400_000;
/// The bytes of texts that count as much as one action: pages decide how long they are.
const TEXT_PER_PLACE: usize = 256;
/// How many withheld actions of a crawl are listed; the others are counted.
const MOST_WITHHELD: usize = 50_000;
/// The same for one page.
const MOST_WITHHELD_OF_PAGE: usize = 500;

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
    /// Whether it is dangerous, and the crawl was told to perform it.
    pub allowed: bool,
}

/// An action where it is in the structure of a page. Elements that read the same on pages of
/// different structure may have different handlers.
pub type PlacedAction = (ActionSignature, u64);

impl ActionHandle {
    fn of(offer: &OfferDetail) -> Self {
        Self {
            action: offer.signature,
            kind: offer.kind,
            argument: offer.argument.as_str().into(),
            place: offer.place.as_str().into(),
            allowed: offer.allowed,
        }
    }

    /// The action with the structure around its element, which the agent names after the place.
    pub fn placed(&self) -> PlacedAction {
        let traits = self.place.split_once('~').map_or("", |(_, traits)| traits);
        let structure = traits.split('.').next().unwrap_or_default();
        (self.action, u64::from_str_radix(structure, 36).unwrap_or_default())
    }
}

impl PageActions {
    fn new(raw: Raw, offers: &[OfferDetail]) -> Self {
        let mut places: Vec<ActionHandle> = offers.iter().map(ActionHandle::of).collect();
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
    /// Which actions are left alone.
    brakes: Brakes,
    /// Whether new pages are divided into parts.
    pub divides: bool,
    /// The state that lists each withheld action.
    withheld_in: HashMap<ActionSignature, StateKey>,
    /// Masks of what changes from load to load, on every page.
    pub masks: Masks,
    /// Masks of what changes in single states.
    pub state_masks: StateMasks,
    /// Whether an action needs trusted input (the browser's own) where it is.
    pub trusted: BTreeMap<PlacedAction, bool>,
    /// Addresses whose requests do not end. Only grows.
    pub endless: BTreeSet<String>,
    /// Hosts outside whose requests were blocked. Only grows.
    pub blocked: BTreeSet<String>,
    /// Why what crawlers saw may be wrong. Only grows.
    pub doubts: PageDoubts,
    /// Which addresses lead to states.
    pub own_addresses: OwnAddresses,
    /// The numbers of values that must be unique.
    pub numbers: UniqueNumbers,
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

/// Whether a page that should be another state is that state with other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// It is another state.
    None,
    /// It may be volatile: seen once.
    First,
    /// It is volatile: seen twice, with different values.
    Confirmed,
}

impl PageIndex {
    /// An empty index.
    pub fn new(identity: &'static NamedIdentity, brakes: Brakes) -> Self {
        Self {
            identity,
            brakes,
            divides: false,
            withheld_in: HashMap::new(),
            masks: Masks::default(),
            state_masks: StateMasks::default(),
            trusted: BTreeMap::new(),
            endless: BTreeSet::new(),
            blocked: BTreeSet::new(),
            doubts: PageDoubts::default(),
            own_addresses: OwnAddresses::default(),
            numbers: UniqueNumbers::default(),
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
        PageFindings {
            state_masks: self.state_masks.clone(),
            endless: self.endless.clone(),
            blocked: self.blocked.clone(),
            doubts: self.doubts.clone(),
        }
    }

    /// Adds what crawlers of other processes have learned.
    pub fn learn(&mut self, findings: PageFindings) {
        self.state_masks.merge(findings.state_masks);
        learned::add_bounded(&mut self.endless, findings.endless);
        learned::add_bounded(&mut self.blocked, findings.blocked);
        self.doubts.add_tampered(findings.doubts.tampered);
        self.doubts.truncated |= findings.doubts.truncated;
    }

    /// The identity, which tells states apart.
    pub fn identity(&self) -> &'static NamedIdentity {
        self.identity
    }

    /// Whether the brakes let an address be loaded.
    pub fn is_harmless(&self, address: &str) -> bool {
        self.brakes.danger([], [address], []).is_none()
    }

    /// A page that was met before, if its state was reported.
    pub fn page(&self, raw: Raw) -> Option<&KnownPage> {
        self.raws.get(&raw).filter(|known| !self.unreported.contains(&known.key))
    }

    /// Whether a crawler has found a state and not reported it yet.
    pub fn is_unreported(&self, state: StateKey) -> bool {
        self.unreported.contains(&state)
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
        let Look { raw, page, source, withheld, unlisted, beyond, avoided, .. } = look;
        let mut recognised = self.identity.recognise(&page, &self.masks);
        if !self.state_masks.is_empty()
            && !self.first.contains_key(&recognised.key)
            && !stored(recognised.key)
            && let Some(resolved) = self.state_masks.resolve(self.identity, &self.masks, &page)
        {
            recognised = resolved;
        }
        let parts = self.divides.then(|| divide(&page, &self.masks, &recognised.actions));
        let (offers, mut unperformed) = self.judge(&page, &recognised, avoided);
        unperformed.unlisted = unlisted;
        unperformed.beyond = beyond;
        let page = self.list_withheld(page, withheld, recognised.key, &mut unperformed);
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
            unperformed,
            parts,
        };
        (known, found)
    }

    /// Divides the offers of a page into those that are candidates and those that are left alone.
    fn judge(
        &mut self,
        page: &Page,
        recognised: &Recognised,
        avoided: Vec<u32>,
    ) -> (Vec<OfferDetail>, UnperformedActions) {
        let named = AccessiblePage::of(page);
        let told: BTreeSet<u32> = avoided.into_iter().collect();
        let BrakedOffers { dangers, allowed, around } =
            self.brakes.judge(&named, &page.offers, &told);
        let mut offers = Vec::with_capacity(page.offers.len());
        let mut unperformed = UnperformedActions::default();
        let verdicts = dangers.into_iter().zip(allowed);
        let both = page.offers.iter().zip(&recognised.actions);
        for ((offer, action), (danger, allowed)) in both.zip(verdicts) {
            let Some(signature) = *action else { continue };
            let label = label::of(&named, offer);
            if let Some(danger) = danger {
                let why = WhyUnperformed::Avoided(danger);
                unperformed.listed.push(UnperformedAction { signature, label, why });
                continue;
            }
            let (kind, argument) = (offer.kind, offer.argument.clone());
            let place = offer.place.clone();
            let detail = OfferDetail { signature, kind, argument, label, place, allowed };
            if around.contains(&offer.node) {
                // The browser's own pointer could hit what is left alone.
                let placed = ActionHandle::of(&detail).placed();
                self.trusted.entry(placed).or_insert(false);
            }
            offers.push(detail);
        }
        (offers, unperformed)
    }

    /// Lists the withheld actions of a page that no other state lists. Returns the page.
    fn list_withheld(
        &mut self,
        mut page: Page,
        mut withheld: Vec<Withheld>,
        key: StateKey,
        unperformed: &mut UnperformedActions,
    ) -> Page {
        if withheld.is_empty() {
            return page;
        }
        // The agent sends fewer, but a page may have replaced it.
        withheld.truncate(MOST_WITHHELD_OF_PAGE);
        let reasons: Vec<_> = withheld.iter().map(|withheld| withheld.reason).collect();
        let as_offer = |Withheld { kind, node, argument, .. }| Offer {
            kind,
            node,
            onto: None,
            argument,
            place: String::new(),
        };
        let offered =
            std::mem::replace(&mut page.offers, withheld.into_iter().map(as_offer).collect());
        let signatures = self.identity.identity.signatures(&MaskedPage::new(&self.masks, &page));
        let named = AccessiblePage::of(&page).with_hidden();
        for ((offer, signature), reason) in page.offers.iter().zip(signatures).zip(reasons) {
            let Some(signature) = signature else { continue };
            let is_full = self.withheld_in.len() >= MOST_WITHHELD;
            match self.withheld_in.get(&signature) {
                Some(state) if *state != key => {}
                None if is_full => unperformed.unlisted += 1,
                Some(_) | None => {
                    self.withheld_in.insert(signature, key);
                    let why = WhyUnperformed::Withheld(reason);
                    let label = label::of(&named, offer);
                    unperformed.listed.push(UnperformedAction { signature, label, why });
                }
            }
        }
        drop(named);
        page.offers = offered;
        page
    }

    /// Learns masks for a state whose values change by themselves: its page differs from the
    /// expected one in values alone, and differs again when it is reached again. If the values
    /// come back, the page is another state. `now` is the page, with the state that it would be.
    pub fn suspect(
        &mut self,
        expected: StateKey,
        before: &Page,
        (key, now): (StateKey, &Page),
    ) -> Suspicion {
        if self.cleared.contains(&expected) {
            return Suspicion::None;
        }
        let identity = self.identity;
        let known = match self.state_masks.of(expected) {
            Some(own) => self.masks.and(own),
            None => self.masks.clone(),
        };
        let differs = |page: &Page| learn_value_masks(identity, &known, expected, before, page);
        let Some(mut masks) = differs(now) else { return Suspicion::None };
        if masks.is_empty() {
            // Another tab has learned the masks since this one looked.
            return Suspicion::Confirmed;
        }
        match self.suspects.get(&expected) {
            None => {
                self.suspects.insert(expected, now.clone());
                Suspicion::First
            }
            Some(earlier) if identity.recognise(earlier, &self.masks).key == key => Suspicion::None,
            Some(earlier) => {
                masks.merge(&differs(earlier).unwrap_or_default());
                let global = self.masks.clone();
                self.state_masks.learn(identity, &global, expected, before, &masks);
                Suspicion::Confirmed
            }
        }
    }

    /// Forgets a page: the next crawler that meets it looks again.
    pub fn forget(&mut self, known: &KnownPage) {
        self.withheld_in.retain(|_, state| *state != known.key);
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

#[cfg(test)]
mod tests {
    use argiope_explore::page::PageNode;

    use super::*;

    fn look(raw: u128) -> Look {
        let (page, source, content_type) = (Page::default(), String::new(), "text/html".to_owned());
        Look {
            raw: Raw(raw),
            page,
            source,
            status: 200,
            content_type,
            truncated: false,
            withheld: Vec::new(),
            unlisted: 0,
            beyond: 0,
            avoided: Vec::new(),
        }
    }

    #[test]
    fn an_action_is_placed_by_the_structure_around_it() {
        let placed = |place: &str| {
            let (action, kind, argument) = (ActionSignature(7), Kind::Click, "".into());
            ActionHandle { action, kind, argument, place: place.into(), allowed: false }.placed()
        };
        assert_eq!(placed("1/0~a.b.c.d.e"), (ActionSignature(7), 10));
        assert_eq!(placed("1/5~a.x..y.z"), placed("1/0~a.b.c.d.e"), "rows of one list");
        assert_ne!(placed("1/0~b.b.c.d.e"), placed("1/0~a.b.c.d.e"), "another structure");
        for hostile in ["1/0", "1/0~", "~.", "~~", "1~zzzzzzzzzzzzzzzzzzzz", "1~é"] {
            assert_eq!(placed(hostile), (ActionSignature(7), 0), "{hostile}");
        }
    }

    #[test]
    fn a_tab_that_looked_before_the_masks_were_learned_looks_again() {
        let identity = argiope_explore::identity::find("content").unwrap();
        let mut pages = PageIndex::new(identity, Brakes::default());
        let node = |depth, tag: &str, text: &str| PageNode {
            depth,
            tag: tag.to_owned(),
            text: text.to_owned(),
            attributes: Vec::new(),
            visible: true,
        };
        let page = |number: &str| Page {
            nodes: vec![node(0, "html", ""), node(1, "p", ""), node(2, "#text", number)],
            ..Page::default()
        };
        let key = |page: &Page| identity.recognise(page, &Masks::default()).key;
        let (first, seen) = (page("1"), [page("2"), page("3"), page("4")]);
        let expected = key(&first);
        // Three tabs look, each at another number, and compare one after the other.
        let verdicts = seen.each_ref().map(|now| pages.suspect(expected, &first, (key(now), now)));
        assert_eq!(verdicts, [Suspicion::First, Suspicion::Confirmed, Suspicion::Confirmed]);
        let resolved = pages.state_masks.resolve(identity, &pages.masks, &seen[2]);
        assert_eq!(resolved.map(|recognised| recognised.key), Some(expected));
    }

    #[test]
    fn a_page_is_known_when_its_state_is_reported() {
        let mut pages =
            PageIndex::new(argiope_explore::identity::find("content").unwrap(), Brakes::default());
        let state = pages.recognise(look(1), |_| false).0.key;
        assert!(pages.page(Raw(1)).is_none(), "a crawler that meets it has to look");
        pages.mark_reported(state);
        assert_eq!(pages.page(Raw(1)).unwrap().key, state);
        // Another page of the same state.
        assert_eq!(pages.recognise(look(2), |_| false).0.key, state);
        assert!(pages.page(Raw(2)).is_some());
    }
}
