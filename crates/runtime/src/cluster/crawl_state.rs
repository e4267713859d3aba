//! One controller's share of one crawl: its duty, and what else it knows of the crawl.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use argiope_browser::Access;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::lifecycle::{Lifecycle, Standing};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::FinalCounts;
use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_controller::spent::{Spent, SpentByWriter};
use argiope_controller::star::Coordinator;
use argiope_controller::star::coordinator::CoordinatorTimeouts;
use argiope_controller::star::division::{self, Division};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity;
use argiope_explore::strategies;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_ring::Key;

use super::protocol::{CrawlId, CrawlSpec, CrawlTally, Order, ProcessSpent, SeenPage, TabTimes};
use crate::learned::PageFindings;
use crate::seed_links::seed_links;

/// The length of the successor list: one less of simultaneous failures does no harm.
const SUCCESSORS: usize = 4;
/// The timeouts of a star, in microseconds. A crawler whose connection breaks is lost at once; one
/// that only falls silent is lost after 80 s.
pub const STAR_TIMES: CoordinatorTimeouts =
    CoordinatorTimeouts { task: 5_000_000, gather: 3_000_000 };
/// The assumed cost of a reset, in actions. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// What a controller does for a crawl.
#[expect(clippy::large_enum_variant, reason = "there are as many as crawls")]
pub enum Duty {
    /// A peer of the crawl's ring.
    Peer(Peer),
    /// The coordinator of a star.
    Coordinator(Coordinator),
    /// Another controller coordinates: messages of crawlers are passed on to it.
    PassOn,
    /// None: the crawl is over. Its facts are on disk. The last progress of the share.
    Ended(CrawlTally),
}

/// A controller's share of a crawl.
pub struct CrawlShare {
    /// What the crawl is.
    pub spec: CrawlSpec,
    /// The duty of this controller.
    pub duty: Duty,
    /// What crawlers have learned about pages.
    pub volatile: PageFindings,
    /// Pages that crawlers have looked at.
    pub pages: Pages,
    /// What crawlers have spent, as far as this controller heard of it first.
    pub spent: Spent,
    /// What each crawler process has spent, and whether that is on disk.
    pub writers: SpentByWriter,
    pub has_new_costs: bool,
    /// What the time of the crawlers that are attached here went into.
    pub times: TabTimes,
    /// How this controller takes part in the crawl.
    pub lifecycle: Lifecycle,
    /// A client has stopped the crawl.
    pub stopped: bool,
    /// Why the crawl was stopped, if a crawler could not go on.
    pub trouble: Option<String>,
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
            volatile: PageFindings::default(),
            pages: Pages::default(),
            spent: Spent::default(),
            writers: SpentByWriter::default(),
            has_new_costs: false,
            times: TabTimes::default(),
            lifecycle: Lifecycle::newcomer(me),
            stopped: false,
            trouble: None,
            left: false,
            counted: Cell::default(),
        })
    }

    /// Whether the crawl is over.
    pub fn is_over(&self) -> bool {
        matches!(self.duty, Duty::Ended(_)) || self.is_finished() || self.stopped
    }

    /// Whether every action was executed.
    pub fn is_finished(&self) -> bool {
        self.lifecycle.standing() == Standing::Finished
    }

    /// Whether tabs can work for the crawl. In a ring they wait until this controller is inside.
    pub fn is_open(&self) -> bool {
        let takes_part = match &self.duty {
            Duty::Peer(peer) => peer.member().is_inside(),
            Duty::Coordinator(_) | Duty::PassOn => true,
            Duty::Ended(_) => false,
        };
        takes_part && !self.is_over() && !self.left && !self.lacks_access()
    }

    /// Whether the crawl needs secrets that this controller does not have: it has restarted.
    pub fn lacks_access(&self) -> bool {
        self.spec.order.lacks_access() && !self.is_over()
    }

    /// Why the crawl does not go on here, if it is so.
    pub fn trouble(&self, id: CrawlId) -> Option<String> {
        let waits = || {
            format!(
                "its tabs wait for the login, which no controller keeps on its disk; to give it \
                 again: argiope attach {id} with the variables and the options of the login"
            )
        };
        self.trouble.clone().or_else(|| self.lacks_access().then(waits))
    }

    /// Takes in what a crawler process has spent.
    pub fn on_spent(&mut self, (writer, total): ProcessSpent) {
        let more = self.writers.record(writer, total);
        self.spent = self.spent.plus(more);
        self.has_new_costs |= more != Spent::default();
    }

    /// Takes in what another controller knows of costs.
    pub fn on_spent_elsewhere(&mut self, writers: &SpentByWriter) {
        self.has_new_costs |= self.writers.merge(writers);
    }

    /// The crawl has ended. A ring's facts are on disk; a star's coordinator still answers.
    pub fn end(&mut self, ended: Option<FinalCounts>) {
        self.lifecycle.on_finished();
        self.spec.order.settings.access = Access::default();
        self.pages = Pages::default();
        if self.coordinator().is_none() {
            let last = CrawlTally { left: 0, leases: 0, ..self.tally(0) };
            self.duty = Duty::Ended(CrawlTally { ended, ..last });
        }
    }

    /// The peer, if the crawl has a ring.
    pub fn peer(&self) -> Option<&Peer> {
        match &self.duty {
            Duty::Peer(peer) => Some(peer),
            Duty::Coordinator(_) | Duty::PassOn | Duty::Ended(_) => None,
        }
    }

    /// The coordinator of a star, if it is here.
    pub fn coordinator(&self) -> Option<&Coordinator> {
        match &self.duty {
            Duty::Coordinator(coordinator) => Some(coordinator),
            Duty::Peer(_) | Duty::PassOn | Duty::Ended(_) => None,
        }
    }

    /// Whether the work of the crawl is divided in advance.
    pub fn is_star(&self) -> bool {
        self.spec.order.division().is_some()
    }

    /// The facts about the application that are known here; `None` if they are only on disk.
    pub fn facts(&self) -> Option<Vec<Fact>> {
        let facts = match &self.duty {
            Duty::Peer(_) if self.lifecycle.is_outside() => self.lifecycle.facts().to_vec(),
            Duty::Peer(peer) => {
                let known = peer.known();
                let Some(_) = known.graph().initial() else { return Some(Vec::new()) };
                let states = known.graph().all().flat_map(|(_, state)| known.facts(state));
                let plain = known.graph().plain().iter().map(|&action| Fact::PlainLink { action });
                states.chain(plain).collect()
            }
            Duty::Coordinator(coordinator) => coordinator.facts(),
            Duty::PassOn => Vec::new(),
            Duty::Ended(_) => return None,
        };
        Some(facts)
    }

    /// The progress of the share.
    pub fn tally(&self, crawlers: u32) -> CrawlTally {
        let tally = CrawlTally {
            crawlers,
            spent: self.spent,
            writers: self.writers.clone(),
            times: self.times,
            standing: self.lifecycle.standing(),
            finished: self.is_over(),
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
                    ended: self.is_finished().then(|| FinalCounts {
                        states: coordinator.states().len() as u64,
                        transitions: coordinator.transitions() as u64,
                    }),
                    ..tally
                }
            }
            Duty::PassOn => tally,
            Duty::Ended(last) => CrawlTally {
                states: last.states,
                transitions: last.transitions,
                copies: last.copies,
                ended: last.ended,
                ..tally
            },
        }
    }

    /// Counts states again only when that takes little of the time.
    fn tally_of(&self, peer: &Peer, tally: CrawlTally) -> CrawlTally {
        let known = peer.known();
        let own = known.ownership().own_states() as u64;
        let mut counted = self.counted.get();
        if self.is_over() || counted.next.is_none_or(|next| Instant::now() > next) {
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

/// The links that load the further addresses of the crawl.
pub fn seeds(order: &Order) -> Arc<[ActionSignature]> {
    seed_links(&order.settings.seeds).into_keys().collect()
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
        seeds: seeds(order),
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
