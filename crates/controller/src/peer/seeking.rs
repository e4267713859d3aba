//! Finds work for a crawler: in own states, over known paths, or at another controller.

use argiope_explore::graph::Slot;
use argiope_explore::id::StateIndex;
use argiope_ring::Key;

use super::message::{
    LeaseRef, PeerEffect, PeerMessage, PeerTimer, RouteHint, Seek, Task, ToCrawler, WorkRequest,
};
use super::schemes::{Hears, Looks};
use super::search::Search;
use super::{Lease, Peer};
use crate::job::{Job, JobId, Transition};

/// A search that met more exhausted states than this knows too little: a reset is cheaper.
const MOST_DRAINED: usize = 64;
/// No ring is longer.
const LONGEST_ROUND: u32 = 10_000;
/// The longest wait of parked crawlers, as a multiple of the first.
const MOST_PATIENCE: u64 = 16;

/// A path to a state: with or without a reset, and the transitions.
struct Way {
    reset: bool,
    walk: Vec<Transition>,
}

impl Peer {
    /// Finds work for a crawler, or parks it.
    pub(super) fn employ(&mut self, asking: WorkRequest) {
        if self.is_finished() {
            self.out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Finished));
        } else if !self.find(asking, self.me, Vec::new()) {
            self.go_round(asking);
        }
    }

    /// Looks for work by the scheme. Returns whether work was found or another controller looks for
    /// it.
    fn find(&mut self, asking: WorkRequest, origin: Key, drained: Vec<RouteHint>) -> bool {
        let Some(initial) = self.known.graph.initial() else {
            return self.start(asking);
        };
        match self.settings.scheme.looks {
            Looks::OwnByReset => self.find_by_reset(asking),
            Looks::Own => self.find_own(asking),
            Looks::Known => {
                drained.len() <= MOST_DRAINED
                    && (self.find_planned(asking, origin, drained) || self.find_by_reset(asking))
            }
            Looks::Everywhere { .. } => {
                let remembered = asking.at.and_then(|at| self.remembered.get(&at).cloned());
                let search = match remembered {
                    Some(search) => search.resume(asking, self.me),
                    None => Search::new(asking, self.me, initial),
                };
                self.on_search(search);
                true
            }
        }
    }

    /// Nothing is known: the crawler loads the URL. A crawler that stands in a state waits.
    fn start(&mut self, asking: WorkRequest) -> bool {
        if asking.at.is_some() {
            return false;
        }
        let id = LeaseRef { by: self.me, job: JobId(self.number()) };
        let task = Task { id, number: asking.number, job: None, route: None, look: true };
        self.out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Task(task)));
        true
    }

    fn find_by_reset(&mut self, asking: WorkRequest) -> bool {
        let here = asking.at.and_then(|at| self.known.graph.find(at));
        let here = here.and_then(|at| self.known.first_free(at));
        if let Some(slot) = here.filter(|&slot| !self.known.graph.is_ask(slot)) {
            self.assign(asking, slot, Way { reset: false, walk: Vec::new() });
            return true;
        }
        let Some(state) = self.known.nearest_by_route() else { return false };
        let Some(slot) = self.known.first_free(state) else { return false };
        self.assign(asking, slot, self.way_by_route(state));
        true
    }

    /// The way to a state after a reset. Where none is known, a load may lead there by chance.
    fn way_by_route(&self, state: StateIndex) -> Way {
        let graph = &self.known.graph;
        let route = graph.at(state).route.clone();
        let route = route.or_else(|| graph.route_by(state, &graph.ways()?));
        Way { reset: true, walk: route.map(|route| route.to_vec()).unwrap_or_default() }
    }

    /// Gives a crawler a free candidate of the own state that it stands in.
    pub(super) fn assign_here(&mut self, asking: WorkRequest, slot: Slot) {
        self.assign(asking, slot, Way { reset: false, walk: Vec::new() });
    }

    /// Asks the strategy, over the known graph.
    fn find_planned(&mut self, asking: WorkRequest, origin: Key, drained: Vec<RouteHint>) -> bool {
        let Some(planned) = self.known.choose(asking.at) else { return false };
        let walk = planned.walk.iter().map(|&slot| self.known.graph.step(slot)).collect();
        let way = Way { reset: planned.reset || asking.at.is_none(), walk };
        let state = planned.candidate.state;
        if self.known.ownership.is_own(state) {
            self.assign(asking, planned.candidate, way);
            self.tell_origin(origin, drained);
            return true;
        }
        let goal = self.known.graph.key(state);
        let seek = Seek { asking, goal, reset: way.reset, walk: way.walk, origin, drained };
        let hint = self.known.graph.at(state).owner.filter(|_| !asking.again);
        self.send_to_owner(goal, hint, PeerMessage::Seek(seek));
        true
    }

    /// Another controller sends a crawler to an own state.
    pub(super) fn on_seek(&mut self, mut seek: Seek) {
        if self.is_finished() {
            self.out.push(PeerEffect::Tell(seek.asking.crawler, ToCrawler::Finished));
            return;
        }
        if self.known.graph.initial().is_none() {
            return; // The crawler retries.
        }
        self.known.hear_all(&seek.walk);
        for fact in &seek.drained {
            self.known.learn_hint(fact);
        }
        let state = self.known.set_owned(seek.goal, true);
        if let Some(slot) = self.known.first_free(state) {
            self.assign(seek.asking, slot, Way { reset: seek.reset, walk: seek.walk });
            self.tell_origin(seek.origin, seek.drained);
            return;
        }
        if !self.known.ownership.is_unreconciled(seek.goal) {
            seek.drained.push(self.fact(state));
        }
        if !self.find(seek.asking, seek.origin, seek.drained) {
            self.go_round(seek.asking);
        }
    }

    /// Tells the controller that began the search which states are exhausted.
    fn tell_origin(&mut self, origin: Key, drained: Vec<RouteHint>) {
        let shares = self.settings.scheme.hears == Hears::Searches;
        if shares && origin != self.me && !drained.is_empty() {
            self.send_with(origin, None, drained, PeerMessage::Learned);
        }
    }

    /// Continues a search that travels.
    pub(super) fn on_search(&mut self, mut search: Search) {
        if self.is_finished() {
            self.out.push(PeerEffect::Tell(search.asking.crawler, ToCrawler::Finished));
            return;
        }
        let Some(initial) = self.known.graph.initial() else { return };
        while let Some(next) = search.next() {
            if !self.owns(next) {
                let hint = self.known.graph.get(next).and_then(|known| known.owner);
                let hint = hint.filter(|_| !search.asking.again);
                self.send_to_owner(next, hint, PeerMessage::Search(search));
                return;
            }
            let state = self.known.set_owned(next, true);
            if let Some(slot) = self.known.first_free(state) {
                let (reset, walk) = search.way();
                self.assign(search.asking, slot, Way { reset, walk });
                let remembers = self.settings.scheme.looks == Looks::Everywhere { remembers: true };
                if remembers && search.visited() > 0 && search.asking.at.is_some() {
                    let root = search.root();
                    let remember = PeerMessage::Remember(root, search.stopped());
                    self.send_to_owner(root, Some(search.origin), remember);
                }
                return;
            }
            let certain = self.known.is_done_with(state);
            let leads = self.known.graph.leads(state);
            search.pass(leads, certain, initial, self.settings.exploring.reset_cost);
        }
        self.go_round(search.asking);
    }

    /// Gives a crawler a task: to walk to a state and execute a free candidate there.
    fn assign(&mut self, asking: WorkRequest, slot: Slot, way: Way) {
        self.known.claim(slot);
        let Way { mut reset, mut walk } = way;
        let id = JobId(self.number());
        let look = self.known.graph.is_ask(slot);
        let step = if look {
            // To see what the state offers, a crawler only walks there: the last step is the job.
            if walk.is_empty() && !reset {
                Way { reset, walk } = self.way_by_route(slot.state);
            }
            walk.pop()
        } else {
            Some(self.known.graph.step(slot))
        };
        let route = match step {
            Some(_) if reset => Some(walk.as_slice().into()),
            Some(step) => self.known.graph.get(step.from).and_then(|known| known.route.clone()),
            None => None,
        };
        let is_seed = |step: &&Transition| self.settings.seeds.binary_search(&step.action).is_ok();
        let seeds = walk.iter().chain(&step).filter(is_seed).count() as u64;
        let loads = seeds + u64::from(reset);
        let resets = loads * self.settings.exploring.reset_cost.ceil() as u64;
        let units = resets + walk.len() as u64 + u64::from(step.is_some());
        let (crawler, since, again) = (asking.crawler, self.now, reset || !walk.is_empty());
        self.leases.insert(id, Lease { slot, crawler, since, units, again });
        // Twice the slowest recent time per unit of work (the thesis: 2 (c + e_max), without
        // decay).
        let deadline = 2 * self.slowest.saturating_mul(units) + self.settings.times.answer;
        self.wake(PeerTimer::Lease(id), deadline);
        let job = step.map(|step| Job { id, reset, walk, state: step.from, action: step.action });
        let id = LeaseRef { by: self.me, job: id };
        let task = Task { id, number: asking.number, job, route, look };
        self.out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Task(task)));
        self.patience = self.settings.times.idle;
    }

    /// Nothing was found here: the request goes round the ring.
    fn go_round(&mut self, asking: WorkRequest) {
        match self.successor() {
            Some(next) if self.waiting.is_none() => {
                self.send(next, PeerMessage::Idle(asking, self.me, LONGEST_ROUND));
            }
            // Another request went round just now.
            _ => self.park(asking),
        }
    }

    /// A request for work comes round to this controller.
    pub(super) fn on_idle(&mut self, asking: WorkRequest, starter: Key, left: u32) {
        if self.is_finished() {
            self.out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Finished));
            return;
        }
        if starter == self.me || left == 0 {
            self.park(asking);
            return;
        }
        // A request that goes round takes any work: nearer work was searched for before.
        if self.known.ownership.free() > 0 && self.find_own(asking) {
            return;
        }
        match self.successor() {
            Some(next) => self.send(next, PeerMessage::Idle(asking, starter, left - 1)),
            None => self.park(asking),
        }
    }

    /// Finds work in an own state, by any path.
    fn find_own(&mut self, asking: WorkRequest) -> bool {
        let planned = match self.settings.scheme.looks {
            Looks::Own => self.find_planned(asking, self.me, Vec::new()),
            Looks::OwnByReset | Looks::Everywhere { .. } | Looks::Known => false,
        };
        planned || self.find_by_reset(asking)
    }

    fn park(&mut self, asking: WorkRequest) {
        self.parked.insert(asking.crawler, asking);
        if self.waiting.is_none() {
            self.waiting = Some(self.patience);
            self.wake(PeerTimer::Idle, self.patience);
            self.patience = (self.patience * 2).min(self.settings.times.idle * MOST_PATIENCE);
        }
    }

    /// Sends the request of one parked crawler round again. If it finds work, the next one follows.
    pub(super) fn ask_round(&mut self) {
        self.waiting = None;
        if let Some((_, asking)) = self.parked.pop_first() {
            self.employ(asking);
        }
    }

    /// Gives parked crawlers the work that has appeared. Returns whether one got work.
    pub(super) fn employ_parked(&mut self) -> bool {
        if self.is_finished() || self.known.ownership.free() == 0 {
            return false;
        }
        let Some((_, asking)) = self.parked.pop_first() else { return false };
        let planned = self.settings.scheme.looks == Looks::Known
            && self.find_planned(asking, self.me, Vec::new());
        // There may be a route from the initial state but no path from here.
        let found = planned || self.find_own(asking);
        if !found {
            self.parked.insert(asking.crawler, asking);
        }
        found
    }
}
