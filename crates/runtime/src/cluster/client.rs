//! Whoever wants something of a ring: to begin a crawl, to follow it, to know how everything stands, and to have the
//! whole model in a directory of its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_controller::peer::atlas::{ContentId, StateRecord};
use argiope_controller::record::Record;
use argiope_controller::spent::Spent;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity::StateMasks;
use argiope_ring::Key;
use argiope_wire::{DialError, Receiver, RecvError, Sender};

use super::connections::Switch;
use super::contents;
use super::protocol::{
    CrawlId, CrawlSpec, FromClient, MemberStatus, Order, Status, ToClient, decode, encode,
};
use crate::learned;
use crate::store::{Batch, Store, StoreError};

/// So many records are written at once.
const AT_ONCE: usize = 256;

/// Why a wish was not granted.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The controller cannot be reached, or does not want to talk.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// It says no; why.
    #[error("{0}")]
    No(String),
    /// The connection broke.
    #[error("the controller at {0} is gone")]
    Gone(String),
    /// It says something that has no place here.
    #[error("the controller at {0} answers something else than was asked")]
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
        let mut last = ClientError::No("no address of a controller was given".to_owned());
        for address in addresses {
            match Self::dial(switch, address).await {
                Ok(client) => return Ok(client),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn wish(&self, wish: &FromClient) -> Result<(), ClientError> {
        self.sender.send(encode(wish)).await.map_err(|_| ClientError::Gone(self.address.clone()))
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
            Some(ToClient::No(why)) => Err(ClientError::No(why)),
            Some(answer) => Ok(answer),
            None => Err(self.confused()),
        }
    }

    fn confused(&self) -> ClientError {
        ClientError::Confused(self.address.clone())
    }

    /// Begins a crawl. To ask for the same one twice does no harm.
    pub async fn start(&mut self, id: CrawlId, order: Order) -> Result<(), ClientError> {
        self.wish(&FromClient::Start(id, order)).await?;
        match self.answer().await? {
            ToClient::Started(_) => Ok(()),
            _ => Err(self.confused()),
        }
    }

    /// How everything stands.
    pub async fn status(&mut self) -> Result<Status, ClientError> {
        self.wish(&FromClient::Status).await?;
        match self.answer().await? {
            ToClient::Status(status) => Ok(status),
            _ => Err(self.confused()),
        }
    }

    /// Wants to hear from time to time how a crawl stands.
    pub async fn follow(&self, id: CrawlId) -> Result<(), ClientError> {
        self.wish(&FromClient::Follow(id)).await
    }

    /// How a crawl stands that is followed, the next time that something is said of it. Can be abandoned.
    pub async fn stands(&mut self) -> Result<Status, ClientError> {
        match self.answer().await? {
            ToClient::Stands(status) => Ok(status),
            _ => Err(self.confused()),
        }
    }

    /// Stops a crawl.
    pub async fn stop(&self, id: CrawlId) -> Result<(), ClientError> {
        self.wish(&FromClient::Stop(id)).await
    }

    /// Everything that the controller keeps of a crawl.
    pub async fn fetch(&mut self, id: CrawlId, into: &mut Fetched) -> Result<(), ClientError> {
        self.wish(&FromClient::Fetch(id)).await?;
        loop {
            match self.answer().await? {
                ToClient::Spec(spec, volatile) => {
                    into.spec.get_or_insert(*spec);
                    into.volatile.merge(volatile);
                }
                ToClient::Spent(controller, spent) => _ = into.spent.insert(controller, spent),
                ToClient::States(records) => {
                    records.into_iter().for_each(|record| into.take(record))
                }
                ToClient::Blobs(blobs) => {
                    let good = blobs.into_iter().filter(contents::is_true);
                    into.blobs.extend(good.map(|blob| (blob.content, blob.bytes)));
                }
                ToClient::End => return Ok(()),
                ToClient::Stands(_) => {}
                ToClient::Started(_) | ToClient::Status(_) | ToClient::No(_) => {
                    return Err(self.confused());
                }
            }
        }
    }
}

/// What controllers keep of a crawl, put together.
#[derive(Default)]
pub struct Fetched {
    spec: Option<CrawlSpec>,
    volatile: StateMasks,
    spent: BTreeMap<Key, Spent>,
    records: BTreeMap<StateKey, StateRecord>,
    blobs: BTreeMap<ContentId, Vec<u8>>,
}

impl Fetched {
    /// Nothing yet but what was spent on the crawl, as far as it was heard: somebody may be gone who knows better.
    pub fn beside(status: &Status, crawl: CrawlId) -> Self {
        let shares =
            |member: &MemberStatus| member.shares.iter().find(|(id, _)| *id == crawl).cloned();
        let heard = status
            .members
            .iter()
            .filter_map(|member| Some((member.member.key, shares(member)?.1.spent)));
        Self { spent: heard.collect(), ..Self::default() }
    }

    /// What was to be crawled, if anybody knew.
    pub fn spec(&self) -> Option<&CrawlSpec> {
        self.spec.as_ref()
    }

    /// What is known only grows: whoever knows more is right.
    fn take(&mut self, record: StateRecord) {
        let Some(known) = self.records.get_mut(&record.key) else {
            self.records.insert(record.key, record);
            return;
        };
        known.content = known.content.or(record.content);
        let executed: BTreeMap<_, _> =
            known.executed.iter().chain(&record.executed).copied().collect();
        known.executed = executed.into_iter().collect();
        known.remarks.add(&record.remarks);
        if record.route.len() < known.route.len() {
            known.route = record.route;
        }
    }

    /// How many states there are, and how many transitions.
    pub fn counts(&self) -> (usize, usize) {
        (self.records.len(), self.records.values().map(|record| record.executed.len()).sum())
    }

    /// Why this is not all of it, if it is not.
    pub fn incomplete(&self) -> Option<String> {
        let followed = self.followed();
        let missing = self
            .records
            .values()
            .flat_map(destinations)
            .filter(|to| !self.records.contains_key(to));
        let missing = missing.count();
        let open = |record: &StateRecord| {
            let is_open = |action: &&ActionSignature| {
                !is_settled(record, **action) && !is_elsewhere(record, **action, &followed)
            };
            record.actions.iter().filter(is_open).count()
        };
        let left: usize = self.records.values().map(open).sum();
        match (self.records.is_empty(), missing, left) {
            (true, ..) => Some("nobody has anything of it".to_owned()),
            (_, 0, 0) => None,
            (_, 0, left) => Some(format!("{left} known actions were not tried")),
            (_, missing, _) => {
                Some(format!("{missing} transitions lead to states that nobody has"))
            }
        }
    }

    /// The plain links that were followed somewhere.
    fn followed(&self) -> BTreeSet<ActionSignature> {
        let links = |record: &StateRecord, action| record.remarks.links.contains(&action);
        let of = |record: &StateRecord| {
            let executed = record.executed.iter().map(|&(action, _)| action);
            executed.filter(|&action| links(record, action)).collect::<Vec<_>>()
        };
        self.records.values().flat_map(of).collect()
    }

    /// Writes all of it into a new store, as a crawl on one machine would have.
    pub fn write(&self, store: &Store, reset_cost: f64) -> Result<(), StoreError> {
        let Some(initial) = self.records.values().next().map(StateRecord::initial) else {
            return Ok(());
        };
        let followed = self.followed();
        let mut batch = Batch { named: self.named(reset_cost), ..Batch::default() };
        let mut seen = BTreeSet::from([initial]);
        let mut queue = VecDeque::from([initial]);
        self.introduce(&mut batch, initial, &followed);
        while let Some(from) = queue.pop_front() {
            let Some(record) = self.records.get(&from) else { continue };
            for to in destinations(record) {
                if self.records.contains_key(&to) && seen.insert(to) {
                    self.introduce(&mut batch, to, &followed);
                    queue.push_back(to);
                }
            }
            self.tell(&mut batch, record);
            if batch.records.len() > AT_ONCE {
                store.commit(&[std::mem::take(&mut batch)])?;
            }
        }
        let spent = self.spent.values().copied().fold(Spent::default(), Spent::plus);
        batch.records.push(Record::Spent { actions: spent.actions, resets: spent.resets });
        store.commit(&[batch])
    }

    /// What became of the actions of a state.
    fn tell(&self, batch: &mut Batch, record: &StateRecord) {
        let (from, remarks) = (record.key, &record.remarks);
        for &(action, to) in record.executed.iter().filter(|(_, to)| self.records.contains_key(to))
        {
            let notes = remarks.notes.get(&action).and_then(|content| self.blobs.get(content));
            let notes = notes.and_then(|bytes| contents::unwrap_notes(bytes)).unwrap_or_default();
            let once = remarks.links.contains(&action);
            batch.records.push(Record::Transition { from, action, to, notes, once });
        }
        let leads = |action, to| record.executed.contains(&(action, to));
        for &(action, to) in remarks.strays.iter().filter(|&&(action, to)| !leads(action, to)) {
            if self.records.contains_key(&to) && record.actions.contains(&action) {
                batch.records.push(Record::Strayed { from, action, to });
            }
        }
        let executed = |action| record.executed.iter().any(|&(known, _)| known == action);
        for (&action, &reason) in remarks.reasons.iter().filter(|&(&action, _)| !executed(action)) {
            batch.records.push(Record::Failed { from, action, reason });
        }
    }

    fn named(&self, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
        let Some(spec) = &self.spec else { return Vec::new() };
        learned::fetched(&spec.first.masks, &self.volatile, &spec.first.origin, reset_cost)
    }

    fn introduce(&self, batch: &mut Batch, key: StateKey, followed: &BTreeSet<ActionSignature>) {
        let Some(record) = self.records.get(&key) else { return };
        let bytes = record.content.and_then(|content| self.blobs.get(&content));
        let found = bytes.and_then(|bytes| contents::unwrap(bytes));
        let here = |action: &ActionSignature| !is_elsewhere(record, *action, followed);
        let actions: Vec<_> = record.actions.iter().copied().filter(here).collect();
        let is_link = |action: &ActionSignature| record.remarks.links.contains(action);
        let links = actions.iter().copied().filter(is_link).collect();
        batch.records.push(Record::State { key, actions, links });
        batch.states.extend(found.map(|found| (key, found)));
    }
}

/// Where the actions of a state have led.
fn destinations(record: &StateRecord) -> impl Iterator<Item = StateKey> + '_ {
    record.executed.iter().chain(&record.remarks.strays).map(|&(_, to)| to)
}

/// Whether an action was executed or given up.
fn is_settled(record: &StateRecord, action: ActionSignature) -> bool {
    record.remarks.reasons.contains_key(&action)
        || record.executed.iter().any(|&(known, _)| known == action)
}

/// Whether an action is a plain link that was followed from another state.
fn is_elsewhere(
    record: &StateRecord,
    action: ActionSignature,
    followed: &BTreeSet<ActionSignature>,
) -> bool {
    record.remarks.links.contains(&action)
        && followed.contains(&action)
        && !is_settled(record, action)
}
