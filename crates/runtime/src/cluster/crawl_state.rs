//! One controller's share of one crawl: its duty, and what else it knows of the crawl.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::Peer;
use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_controller::spent::Spent;
use argiope_controller::star::Coordinator;
use argiope_controller::star::coordinator::CoordinatorTimeouts;
use argiope_controller::star::division::{self, Division};
use argiope_explore::id::StateKey;
use argiope_explore::identity::{self, StateMasks};
use argiope_explore::strategies;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_ring::Key;

use super::protocol::{CrawlSpec, CrawlTally, Order, SeenPage, TabTimes};

/// The length of the successor list: one less of simultaneous failures does no harm.
const SUCCESSORS: usize = 4;
/// The timeouts of a star, in microseconds. A crawler whose connection breaks is lost at once; one
/// that only falls silent is lost after 80 s.
pub const STAR_TIMES: CoordinatorTimeouts =
    CoordinatorTimeouts { task: 5_000_000, gather: 3_000_000 };
/// The assumed cost of a reset, in actions. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// What controllers have kept of a crawl that none of them has resumed yet.
#[derive(Default)]
pub struct PendingCrawl {
    /// The facts of this controller, and of those that have sent theirs.
    pub facts: Vec<Fact>,
    /// The controllers that have sent all of theirs.
    pub have_sent: BTreeSet<Key>,
    /// The controller to which this one has sent its facts.
    pub sent_to: Option<Key>,
}

/// What a controller does for a crawl.
#[expect(clippy::large_enum_variant, reason = "there are as many as crawls")]
pub enum Duty {
    /// A peer of the crawl's ring.
    Peer(Peer),
    /// The coordinator of a star.
    Coordinator(Coordinator),
    /// Another controller coordinates: messages of crawlers are passed on to it.
    PassOn,
}

/// A controller's share of a crawl.
pub struct CrawlShare {
    /// What the crawl is.
    pub spec: CrawlSpec,
    /// The duty of this controller.
    pub duty: Duty,
    /// Masks of single states, as crawlers have reported them.
    pub volatile: StateMasks,
    /// Pages that crawlers have looked at.
    pub pages: Pages,
    /// What the crawlers that are attached here have spent.
    pub spent: Spent,
    /// What their time went into.
    pub times: TabTimes,
    /// What an earlier process has kept, until a controller resumes the crawl.
    pub pending: Option<PendingCrawl>,
    /// The controller through which it joins the crawl's ring.
    pub joins_through: Option<Key>,
    /// The crawl is over.
    pub finished: bool,
    /// A client has stopped the crawl.
    pub stopped: bool,
    /// This controller has left the crawl's ring.
    pub left: bool,
    counted: Cell<Counted>,
}

/// Pages that crawlers have looked at, by their raw hashes.
#[derive(Default)]
pub struct Pages(HashMap<u128, (StateKey, ContentId)>);

/// The most pages that are kept; crawlers look at further pages themselves.
const MOST_PAGES: usize = 1 << 20;

impl Pages {
    /// Adds a page that a crawler has looked at. Returns whether it was new.
    pub fn learn(&mut self, page: &SeenPage) -> bool {
        let new = self.0.len() < MOST_PAGES && !self.0.contains_key(&page.raw);
        if new {
            self.0.insert(page.raw, (page.state, page.content));
        }
        new
    }

    /// The state of a page, and its content.
    pub fn which(&self, raw: u128) -> Option<(StateKey, ContentId)> {
        self.0.get(&raw).copied()
    }
}

/// Numbers that need a walk over all states, and when to count again.
#[derive(Clone, Copy, Default)]
struct Counted {
    transitions: u64,
    copies: u64,
    next: Option<Instant>,
}

/// Counting takes at most one 200th of the time.
const COUNTING: u32 = 200;

impl CrawlShare {
    /// The share of a crawl, before this controller joins or coordinates.
    pub fn new(spec: CrawlSpec, me: Key) -> Result<Self, String> {
        let duty = match star(&spec.order)? {
            Some(_) => Duty::PassOn,
            None => Duty::Peer(Peer::newcomer(settings(&spec.order)?, me)),
        };
        Ok(Self {
            spec,
            duty,
            volatile: StateMasks::default(),
            pages: Pages::default(),
            spent: Spent::default(),
            times: TabTimes::default(),
            pending: None,
            joins_through: None,
            finished: false,
            stopped: false,
            left: false,
            counted: Cell::default(),
        })
    }

    /// Whether tabs can work for the crawl.
    pub fn is_open(&self) -> bool {
        !self.finished && !self.stopped && !self.left && self.pending.is_none()
    }

    /// The peer, if the crawl has a ring.
    pub fn peer(&self) -> Option<&Peer> {
        match &self.duty {
            Duty::Peer(peer) => Some(peer),
            Duty::Coordinator(_) | Duty::PassOn => None,
        }
    }

    /// The coordinator of a star, if it is here.
    pub fn coordinator(&self) -> Option<&Coordinator> {
        match &self.duty {
            Duty::Coordinator(coordinator) => Some(coordinator),
            Duty::Peer(_) | Duty::PassOn => None,
        }
    }

    /// Whether the work of the crawl is divided in advance.
    pub fn is_star(&self) -> bool {
        self.peer().is_none()
    }

    /// The facts about the application that are known here.
    pub fn facts(&self) -> Vec<Fact> {
        match &self.duty {
            Duty::Peer(peer) => {
                let known = peer.known();
                let Some(_) = known.graph().initial() else { return Vec::new() };
                let states = known.graph().all().flat_map(|(_, state)| known.facts(state));
                let plain = known.graph().plain().iter().map(|&action| Fact::PlainLink { action });
                states.chain(plain).collect()
            }
            Duty::Coordinator(coordinator) => coordinator.facts(),
            Duty::PassOn => Vec::new(),
        }
    }

    /// The progress of the share.
    pub fn tally(&self, crawlers: u32) -> CrawlTally {
        let tally = CrawlTally {
            crawlers,
            spent: self.spent,
            times: self.times,
            finished: self.finished || self.stopped,
            ..CrawlTally::default()
        };
        match &self.duty {
            Duty::Peer(peer) => self.tally_of(peer, tally),
            Duty::Coordinator(coordinator) => {
                let (left, at_work) = (coordinator.left(), coordinator.at_work());
                CrawlTally {
                    states: coordinator.states().len() as u64,
                    transitions: coordinator.transitions() as u64,
                    left: left.saturating_sub(at_work) as u64,
                    leases: at_work.min(left) as u64,
                    inside: true,
                    ..tally
                }
            }
            Duty::PassOn => tally,
        }
    }

    /// Counts states again only when that takes little of the time.
    fn tally_of(&self, peer: &Peer, tally: CrawlTally) -> CrawlTally {
        let known = peer.known();
        let own = known.ownership().own_states() as u64;
        let mut counted = self.counted.get();
        if self.finished || counted.next.is_none_or(|next| Instant::now() > next) {
            let began = Instant::now();
            let all =
                known.graph().all().filter(|&(key, _)| known.graph().is_full(key)).count() as u64;
            counted.transitions = known.executed_own().count() as u64;
            counted.copies = all.saturating_sub(own);
            counted.next = Some(Instant::now() + began.elapsed() * COUNTING);
            self.counted.set(counted);
        }
        CrawlTally {
            states: own,
            transitions: counted.transitions,
            left: known.ownership().free() as u64,
            leases: peer.under_way() as u64,
            copies: counted.copies,
            inside: self.pending.is_none() && peer.member().is_inside(),
            ..tally
        }
    }
}

/// The division of a star; `None` for a ring; a sentence if the order names something unknown.
pub fn star(order: &Order) -> Result<Option<Division>, String> {
    let Some(name) = order.division() else { return Ok(None) };
    let division = division::find(name).ok_or_else(|| format!("there is no division {name:?}"))?;
    nodes_strategy(order)?;
    Ok(Some(division))
}

/// The strategy of the crawlers of a star. They know the whole application, so that any will do.
pub fn nodes_strategy(order: &Order) -> Result<&'static NamedStrategy, String> {
    let name = &order.settings.strategy;
    strategies::find(name).ok_or_else(|| format!("there is no strategy {name:?}"))
}

/// The settings of the strategy.
pub fn exploring(order: &Order) -> StrategySettings {
    StrategySettings { reset_cost: RESET_COST, seed: order.settings.seed }
}

/// Why an order cannot be carried out; `None` if it can.
pub fn refusal(order: &Order) -> Option<String> {
    let identity = &order.settings.identity;
    if identity::find(identity).is_none() {
        return Some(format!("there is no identity {identity:?}"));
    }
    match star(order) {
        Ok(Some(_)) => None,
        Ok(None) => settings(order).err(),
        Err(why) => Some(why),
    }
}

/// The settings of peers; a sentence if the order names something unknown.
pub fn settings(order: &Order) -> Result<PeerSettings, String> {
    let scheme: &'static Scheme = schemes::find(&order.scheme)
        .ok_or_else(|| format!("there is no scheme {:?} for a ring", order.scheme))?;
    identity::find(&order.settings.identity)
        .ok_or_else(|| format!("there is no identity {:?}", order.settings.identity))?;
    let strategy = strategies::find_for_partial_graphs(&order.settings.strategy)?;
    let recovery = match order.recovery.as_str() {
        "retry" => Recovery::Retry,
        "redundancy" => Recovery::Redundancy,
        "combined" => Recovery::Combined { period: None },
        "adaptive" => Recovery::Adaptive,
        other => return Err(format!("there is no recovery {other:?}")),
    };
    if order.backups as usize > SUCCESSORS {
        return Err(format!("at most {SUCCESSORS} replicas of a state are kept"));
    }
    Ok(PeerSettings {
        scheme,
        strategy,
        exploring: exploring(order),
        recovery,
        backups: order.backups as usize,
        successors: SUCCESSORS,
        times: PeerTimeouts::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_at_a_page_counts() {
        let page = |raw, state| SeenPage { raw, state: StateKey(state), content: ContentId(9) };
        let mut pages = Pages::default();
        assert_eq!(pages.which(1), None);
        assert!(pages.learn(&page(1, 7)) && pages.learn(&page(2, 7)));
        assert!(!pages.learn(&page(1, 8)));
        assert_eq!(pages.which(1), Some((StateKey(7), ContentId(9))));
    }
}
