//! One controller's share of one crawl: what it does for it, and what else it must know of the crawl.

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

/// So many successors survive this many failures at once, less one.
const SUCCESSORS: usize = 4;
/// How long things take in a cluster. A controller that died is noticed by the one before it after at most `stabilise` and
/// `answer`, and the one after it then asks for `answer` whether it is so: 1.7 s. Shorter would take a busy machine for
/// dead, which costs work that is done twice.
const TIMES: PeerTimeouts = PeerTimeouts {
    task: 60_000_000,
    stabilise: 300_000,
    answer: 700_000,
    resend: 1_000_000,
    idle: 200_000,
    later: 50_000,
    round: 3_000_000,
};
/// How long things take in a star. A crawler whose connection breaks is known to be gone; one that only falls silent is
/// taken for lost after 80 s.
pub const STAR_TIMES: CoordinatorTimeouts =
    CoordinatorTimeouts { task: 5_000_000, gather: 3_000_000 };
/// What a reset is taken to cost. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// What several controllers kept of a crawl that none of them goes on with yet.
#[derive(Default)]
pub struct PendingCrawl {
    /// Of this controller, and of those that have sent theirs.
    pub facts: Vec<Fact>,
    /// Who has sent all of it.
    pub have_sent: BTreeSet<Key>,
    /// Whom it was sent to.
    pub sent_to: Option<Key>,
}

/// What a controller does for a crawl.
#[expect(clippy::large_enum_variant, reason = "there are as many as crawls")]
pub enum Duty {
    /// One of those who decide together.
    Peer(Peer),
    /// The coordinator of a star.
    Coordinator(Coordinator),
    /// A crawl that another one coordinates: its crawlers' words are passed on.
    PassOn,
}

/// A share.
pub struct CrawlShare {
    /// What the crawl is.
    pub spec: CrawlSpec,
    /// What this controller does for it.
    pub duty: Duty,
    /// What changes in single states, as far as crawlers have said.
    pub volatile: StateMasks,
    /// Pages that somebody has looked at.
    pub pages: Pages,
    /// What crawlers that are attached here have spent.
    pub spent: Spent,
    /// What their time went into.
    pub times: TabTimes,
    /// What was kept in an earlier life, until it is known who goes on with the crawl.
    pub pending: Option<PendingCrawl>,
    /// Who lets it into the crawl's ring.
    pub joins_through: Option<Key>,
    /// It is over.
    pub finished: bool,
    /// Somebody has stopped it.
    pub stopped: bool,
    /// It has left the crawl's ring.
    pub left: bool,
    counted: Cell<Counted>,
}

/// Pages that somebody has looked at, by their raw hashes.
#[derive(Default)]
pub struct Pages(HashMap<u128, (StateKey, ContentId)>);

/// Pages beyond so many are looked at by everybody who sees them.
const MOST_PAGES: usize = 1 << 20;

impl Pages {
    /// Takes in that somebody has looked at one. Says whether that was new.
    pub fn learn(&mut self, page: &SeenPage) -> bool {
        let new = self.0.len() < MOST_PAGES && !self.0.contains_key(&page.raw);
        if new {
            self.0.insert(page.raw, (page.state, page.content));
        }
        new
    }

    /// The state that a page is, and what it is like.
    pub fn which(&self, raw: u128) -> Option<(StateKey, ContentId)> {
        self.0.get(&raw).copied()
    }
}

/// What was counted one by one, and when to do so again.
#[derive(Clone, Copy, Default)]
struct Counted {
    transitions: u64,
    copies: u64,
    next: Option<Instant>,
}

/// Counting may take one part in so many of the time.
const COUNTING: u32 = 200;

impl CrawlShare {
    /// Of a crawl, before it is known how it takes part.
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

    /// Whether there is something to do for crawlers.
    pub fn is_open(&self) -> bool {
        !self.finished && !self.stopped && !self.left && self.pending.is_none()
    }

    /// Its peer, if the crawl has any.
    pub fn peer(&self) -> Option<&Peer> {
        match &self.duty {
            Duty::Peer(peer) => Some(peer),
            Duty::Coordinator(_) | Duty::PassOn => None,
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

    /// How far it is.
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

    /// What must be counted one by one is counted again only when that takes little of the time.
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

/// How a crawl's work is divided in advance, if it is; a sentence if the order names something that is not there.
pub fn star(order: &Order) -> Result<Option<Division>, String> {
    let Some(name) = order.division() else { return Ok(None) };
    let division = division::find(name).ok_or_else(|| format!("there is no division {name:?}"))?;
    nodes_strategy(order)?;
    Ok(Some(division))
}

/// The strategy of the crawlers of a star: they know the whole application, so it may be any.
pub fn nodes_strategy(order: &Order) -> Result<&'static NamedStrategy, String> {
    let name = &order.settings.strategy;
    strategies::find(name).ok_or_else(|| format!("there is no strategy {name:?}"))
}

/// What strategies are told.
pub fn exploring(order: &Order) -> StrategySettings {
    StrategySettings { reset_cost: RESET_COST, seed: order.settings.seed }
}

/// Why an order cannot be carried out, if it cannot.
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

/// What peers are told; a sentence if the order names something that is not there.
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
        return Err(format!("more than {SUCCESSORS} copies are not kept"));
    }
    Ok(PeerSettings {
        scheme,
        strategy,
        exploring: exploring(order),
        recovery,
        backups: order.backups as usize,
        successors: SUCCESSORS,
        times: TIMES,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_look_at_a_page_is_believed() {
        let page = |raw, state| SeenPage { raw, state: StateKey(state), content: ContentId(9) };
        let mut pages = Pages::default();
        assert_eq!(pages.which(1), None);
        assert!(pages.learn(&page(1, 7)) && pages.learn(&page(2, 7)));
        assert!(!pages.learn(&page(1, 8)));
        assert_eq!(pages.which(1), Some((StateKey(7), ContentId(9))));
    }
}
