//! A client of a cluster: it starts and follows crawls, asks for the status, and fetches the whole
//! model into a run directory of its own.

mod seeds;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_browser::Access;
use argiope_controller::job::Route;
use argiope_controller::journal::{ContentId, Fact, distinct_offers};
use argiope_controller::outcome::{JobFailure, Offered};
use argiope_controller::spent::{Spent, SpentByWriter};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_wire::{DialError, Receiver, RecvError, Sender};

use super::connections::Switch;
use super::contents;
use super::protocol::{CrawlId, CrawlSpec, FromClient, Order, Status, ToClient, decode, encode};
use crate::learned::{self, PageFindings};
use crate::store::{Batch, Store, StoreError};

/// The facts that are written in one transaction, at least.
const AT_ONCE: usize = 256;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The controller cannot be reached, or refuses the connection.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The controller refuses; why.
    #[error("{0}")]
    Refused(String),
    /// The connection broke.
    #[error("the controller at {0} is gone")]
    Gone(String),
    /// It sends an answer that does not fit the request.
    #[error("the controller at {0} sends an answer that does not fit the request")]
    Confused(String),
}

/// A connection to a controller.
pub struct Client {
    address: String,
    sender: Sender,
    receiver: Receiver,
}

impl Client {
    /// Dials a controller.
    pub async fn dial(switch: &Switch, address: &str) -> Result<Self, ClientError> {
        let connection = switch.transport.dial(address, &switch.me, &switch.limits).await?;
        let (sender, receiver) = connection.split();
        Ok(Self { address: address.to_owned(), sender, receiver })
    }

    /// Dials one controller after the other until one answers.
    pub async fn dial_any(switch: &Switch, addresses: &[String]) -> Result<Self, ClientError> {
        let mut last = ClientError::Refused("no address of a controller was given".to_owned());
        for address in addresses {
            match Self::dial(switch, address).await {
                Ok(client) => return Ok(client),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn request(&self, request: &FromClient) -> Result<(), ClientError> {
        self.sender.send(encode(request)).await.map_err(|_| ClientError::Gone(self.address.clone()))
    }

    async fn answer(&mut self) -> Result<ToClient, ClientError> {
        let gone = || ClientError::Gone(self.address.clone());
        let frame = match self.receiver.recv().await {
            Ok(Some(frame)) => frame,
            Ok(None) | Err(RecvError::Broken | RecvError::Io(_) | RecvError::Stalled) => {
                return Err(gone());
            }
            Err(RecvError::TooLarge { .. }) => return Err(self.confused()),
        };
        match decode(&frame) {
            Some(ToClient::Refused(why)) => Err(ClientError::Refused(why)),
            Some(answer) => Ok(answer),
            None => Err(self.confused()),
        }
    }

    fn confused(&self) -> ClientError {
        ClientError::Confused(self.address.clone())
    }

    /// Starts a crawl. The same id twice starts one crawl.
    pub async fn start(&mut self, id: CrawlId, order: Order) -> Result<(), ClientError> {
        let access = order.access();
        self.request(&FromClient::Start(id, order, access)).await?;
        match self.answer().await? {
            ToClient::Started(_) => Ok(()),
            _ => Err(self.confused()),
        }
    }

    /// The status of the cluster.
    pub async fn status(&mut self) -> Result<Status, ClientError> {
        self.request(&FromClient::Status).await?;
        match self.answer().await? {
            ToClient::Status(status) => Ok(status),
            _ => Err(self.confused()),
        }
    }

    /// Asks for the progress of a crawl from time to time.
    pub async fn follow(&self, id: CrawlId) -> Result<(), ClientError> {
        self.request(&FromClient::Follow(id)).await
    }

    /// Gives the secrets of a crawl's login again, in case the controllers have restarted.
    pub async fn give_access(&self, id: CrawlId, access: &Access) -> Result<(), ClientError> {
        self.request(&FromClient::GiveAccess(id, access.clone())).await
    }

    /// The next progress of a crawl that is followed. Can be dropped while it waits.
    pub async fn next_progress(&mut self) -> Result<Status, ClientError> {
        match self.answer().await? {
            ToClient::Progress(status) => Ok(status),
            _ => Err(self.confused()),
        }
    }

    /// Stops a crawl.
    pub async fn stop(&self, id: CrawlId) -> Result<(), ClientError> {
        self.request(&FromClient::Stop(id)).await
    }

    /// Fetches everything that the controller keeps of a crawl.
    pub async fn fetch(&mut self, id: CrawlId, into: &mut Fetched) -> Result<(), ClientError> {
        self.request(&FromClient::Fetch(id)).await?;
        loop {
            match self.answer().await? {
                ToClient::Spec(spec, volatile) => {
                    learned::add_bounded(&mut into.volatile.endless, spec.first.endless.clone());
                    into.spec.get_or_insert(*spec);
                    into.volatile.merge(volatile);
                }
                ToClient::Facts(facts) => facts.into_iter().for_each(|fact| into.take(fact)),
                ToClient::Blobs(blobs) => {
                    let good = blobs.into_iter().filter(contents::is_true);
                    into.blobs.extend(good.map(|blob| (blob.content, blob.bytes)));
                }
                ToClient::End => {
                    into.name_followers();
                    into.enter_seeds();
                    return Ok(());
                }
                ToClient::Progress(_) => {}
                ToClient::Started(_) | ToClient::Status(_) | ToClient::Refused(_) => {
                    return Err(self.confused());
                }
            }
        }
    }
}

/// The facts that controllers keep of a crawl, put together.
#[derive(Default)]
pub struct Fetched {
    spec: Option<CrawlSpec>,
    volatile: PageFindings,
    spent: SpentByWriter,
    /// The states, each in one fact.
    states: BTreeMap<StateKey, Fact>,
    /// What became of the actions of each state.
    outcomes: BTreeMap<StateKey, BTreeSet<Fact>>,
    /// Actions that turned out to be plain links.
    plain: BTreeSet<Fact>,
    /// The links that a state follows.
    followed: BTreeSet<ActionSignature>,
    /// The seeds that were given up.
    seeds_given_up: BTreeMap<ActionSignature, JobFailure>,
    blobs: BTreeMap<ContentId, Vec<u8>>,
}

impl Fetched {
    /// No fact yet, except what was spent according to the last heartbeats: a controller that knows
    /// better may be gone.
    pub fn beside(status: &Status, crawl: CrawlId) -> Self {
        let mut fetched = Self::default();
        for member in &status.members {
            if let Some(tally) = member.shares.get(&crawl) {
                fetched.spent.merge(&tally.writers);
            }
        }
        fetched
    }

    fn take(&mut self, fact: Fact) {
        match fact {
            Fact::State { key, .. } => {
                let joined = match self.states.remove(&key) {
                    Some(known) => joined(known, fact),
                    None => fact,
                };
                self.states.insert(key, joined);
            }
            Fact::Spent { writer, actions, resets } => {
                self.spent.record(writer, Spent { actions, resets });
            }
            Fact::PlainLink { .. } => _ = self.plain.insert(fact),
            Fact::Undeferred => {}
            Fact::Transition { from: state, .. }
            | Fact::GivenUp { from: state, .. }
            | Fact::Stray { from: state, .. }
            | Fact::Appeared { at: state, .. }
            | Fact::LinkFollower { state, .. }
            | Fact::Ended { from: state, .. }
            | Fact::Entry { state, .. }
            | Fact::Parts { state, .. }
            | Fact::Gone { state } => {
                if let Fact::LinkFollower { link, .. } = fact {
                    self.followed.insert(link);
                }
                self.outcomes.entry(state).or_default().insert(fact);
            }
        }
    }

    /// Names the states that follow plain links. Their owner says so, but replicas hold no more
    /// than the transitions: the owner may have been lost after the crawl.
    fn name_followers(&mut self) {
        for (&state, fact) in &self.states {
            let Fact::State { offers, .. } = fact else { continue };
            let Some(outcomes) = self.outcomes.get_mut(&state) else { continue };
            let is_plain = |action| self.plain.contains(&Fact::PlainLink { action });
            let links: BTreeSet<ActionSignature> = offers
                .iter()
                .filter(|offered| offered.once || is_plain(offered.action))
                .map(|offered| offered.action)
                .collect();
            let followed: Vec<ActionSignature> = outcomes
                .iter()
                .filter_map(|fact| match fact {
                    Fact::Transition { action, .. } if links.contains(action) => Some(*action),
                    _ => None,
                })
                .collect();
            for link in followed {
                outcomes.insert(Fact::LinkFollower { link, state });
                self.followed.insert(link);
            }
        }
    }

    /// What became of the actions of a state.
    fn outcomes(&self, state: StateKey) -> impl Iterator<Item = &Fact> {
        self.outcomes.get(&state).into_iter().flatten()
    }

    /// Whether no controller has sent a state.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Why this is not the whole model, if it is not.
    pub fn incomplete(&self) -> Option<String> {
        let destinations = self
            .states
            .keys()
            .flat_map(|&state| self.outcomes(state))
            .filter_map(Fact::destination);
        let missing = destinations.filter(|to| !self.states.contains_key(to)).count();
        let missing = missing + self.entries().filter(|to| !self.states.contains_key(to)).count();
        let left: usize = self.states.values().map(|state| self.open_actions(state)).sum();
        match (self.is_empty(), missing, left + self.open_seeds()) {
            (true, ..) => Some("no controller has a state of it".to_owned()),
            (_, 0, 0) => None,
            (_, 0, left) => Some(format!("{left} known actions were not tried")),
            (_, missing, _) => {
                Some(format!("{missing} transitions lead to states that no controller has"))
            }
        }
    }

    /// How many actions of a state were neither executed nor given up, nor followed from another
    /// state. Of a state that is gone, none: what no other state offers is given up.
    fn open_actions(&self, state: &Fact) -> usize {
        let Fact::State { key, offers, .. } = state else { return 0 };
        if self.outcomes(*key).any(|fact| matches!(fact, Fact::Gone { .. })) {
            return 0;
        }
        let settled = self.outcomes(*key).filter_map(|fact| match fact {
            Fact::Transition { action, .. } | Fact::GivenUp { action, .. } => Some(*action),
            _ => None,
        });
        let settled: BTreeSet<ActionSignature> = settled.collect();
        let is_open = |offered: &&Offered| {
            let elsewhere = offered.once && self.followed.contains(&offered.action);
            !settled.contains(&offered.action) && !elsewhere
        };
        offers.iter().filter(is_open).count()
    }

    /// Writes the facts into a new store, in an order in which a crawl could have found them.
    pub fn write(&self, store: &Store, reset_cost: f64) -> Result<(), StoreError> {
        let Some(initial) = self.states.values().find_map(initial) else { return Ok(()) };
        let mut batch = Batch { named: self.named(reset_cost), ..Batch::default() };
        // No transition need lead to the states of other loads.
        let loaded = self.outcomes.values().flatten().filter_map(|fact| match fact {
            Fact::Appeared { at, .. } | Fact::Entry { state: at, .. } => Some(*at),
            _ => None,
        });
        let loaded = loaded.filter(|at| self.states.contains_key(at));
        let mut seen = BTreeSet::from([initial]);
        let mut queue = VecDeque::from([initial]);
        self.introduce(&mut batch, initial, initial);
        for at in loaded {
            if seen.insert(at) {
                self.introduce(&mut batch, at, initial);
                queue.push_back(at);
            }
        }
        while let Some(from) = queue.pop_front() {
            for to in self.outcomes(from).filter_map(Fact::destination) {
                if self.states.contains_key(&to) && seen.insert(to) {
                    self.introduce(&mut batch, to, initial);
                    queue.push_back(to);
                }
            }
            batch.facts.extend(self.outcomes(from).cloned());
            if batch.facts.len() > AT_ONCE {
                store.commit(&[std::mem::take(&mut batch)])?;
            }
        }
        batch.facts.extend(self.plain.iter().cloned());
        batch.facts.extend(self.spent.facts());
        store.commit(&[batch])
    }

    fn named(&self, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let (masks, origin) = (&spec.first.masks, &spec.first.origin);
        let mut named = learned::fetched(masks, &self.volatile, origin, reset_cost);
        named.push(learned::seeds_left(&self.seeds_left()));
        named
    }

    /// Adds a state and its page. A run directory has pages under their states, and finds its own
    /// routes.
    fn introduce(&self, batch: &mut Batch, key: StateKey, initial: StateKey) {
        let Some(Fact::State { offers, content, .. }) = self.states.get(&key) else { return };
        let bytes = content.and_then(|content| self.blobs.get(&content));
        let found = bytes.and_then(|bytes| contents::unwrap(bytes));
        batch.states.extend(found.map(|found| (key, found)));
        let route = (key == initial).then(Route::default);
        batch.facts.push(Fact::State { key, offers: offers.clone(), route, content: None });
    }
}

/// The initial state, as the route of a state names it.
fn initial(state: &Fact) -> Option<StateKey> {
    let Fact::State { key, route: Some(route), .. } = state else { return None };
    Some(route.first().map_or(*key, |step| step.from))
}

/// One fact of two about the same state: all offers, the shorter route, and the page of either.
fn joined(one: Fact, other: Fact) -> Fact {
    let (
        Fact::State { key, offers, route, content },
        Fact::State { offers: more, route: another, content: page, .. },
    ) = (one, other)
    else {
        unreachable!("both are facts about a state");
    };
    let route = route.into_iter().chain(another).min_by_key(|route| route.len());
    let offers = distinct_offers(offers.into_iter().chain(more));
    Fact::State { key, offers, route, content: content.or(page) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_follower_of_a_link_is_known_when_its_owner_is_lost() {
        let (link, from, other) = (ActionSignature(5), StateKey(1), StateKey(2));
        let state = |key, route: Option<Route>| {
            let offers = vec![Offered { action: link, once: true }];
            Fact::State { key, offers, route, content: None }
        };
        let mut fetched = Fetched::default();
        fetched.take(state(from, Some(Route::default())));
        fetched.take(state(other, None));
        // A replica has the transition alone.
        fetched.take(Fact::Transition { from, action: link, to: other, notes: Vec::new() });
        assert_eq!(fetched.incomplete().as_deref(), Some("1 known actions were not tried"));
        fetched.name_followers();
        assert_eq!(fetched.incomplete(), None);
        let follower = Fact::LinkFollower { link, state: from };
        assert!(fetched.outcomes(from).any(|fact| *fact == follower));
    }

    #[test]
    fn a_state_that_is_gone_has_nothing_left_to_try() {
        let (key, action) = (StateKey(1), ActionSignature(5));
        let mut fetched = Fetched::default();
        let offers = vec![Offered { action, once: false }];
        fetched.take(Fact::State { key, offers, route: Some(Route::default()), content: None });
        assert_eq!(fetched.incomplete().as_deref(), Some("1 known actions were not tried"));
        fetched.take(Fact::Gone { state: key });
        assert_eq!(fetched.incomplete(), None);
    }
}
