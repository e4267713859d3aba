//! Finds work for a crawler: in own states, over known paths, or at another controller.

use argiope_explore::graph::Slot;
use argiope_explore::id::{StateIndex, StateKey};
use argiope_ring::Key;

use super::message::{
    LeaseRef, PeerEffect, PeerMessage, PeerTimer, RouteHint, Seek, Task, ToCrawler, WorkRequest,
};
use super::schemes::{Hears, Looks};
use super::search::Search;
use super::{Lease, Peer};
use crate::job::{Job, JobId, Route, Transition};

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
    pub(super) fn employ(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) {
        if self.ending.finished {
            out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Finished));
        } else if !self.find(asking, self.me, Vec::new(), out) {
            self.go_round(asking, out);
        }
    }

    /// Looks for work by the scheme. Returns whether work was found or another controller looks for
    /// it.
    fn find(
        &mut self,
        asking: WorkRequest,
        origin: Key,
        drained: Vec<RouteHint>,
        out: &mut Vec<PeerEffect>,
    ) -> bool {
        let Some(initial) = self.known.graph().initial() else {
            return self.start(asking, out);
        };
        match self.settings.scheme.looks {
            Looks::OwnByReset => self.find_by_reset(asking, out),
            Looks::Own => self.find_own(asking, out),
            Looks::Known => {
                drained.len() <= MOST_DRAINED
                    && (self.find_planned(asking, initial, origin, drained, out)
                        || self.find_by_reset(asking, out))
            }
            Looks::Everywhere { .. } => {
                let remembered = asking.at.and_then(|at| self.remembered.get(&at).cloned());
                let search = match remembered {
                    Some(search) => search.resume(asking, self.me),
                    None => Search::new(asking, self.me, initial),
                };
                self.on_search(search, out);
                true
            }
        }
    }

    /// Nothing is known: the crawler loads the URL. A crawler that stands in a state waits.
    fn start(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) -> bool {
        if asking.at.is_some() {
            return false;
        }
        let id = LeaseRef { by: self.me, job: JobId(self.number()) };
        let task = Task { id, number: asking.number, job: None, route: None, look: true };
        out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Task(task)));
        true
    }

    fn find_by_reset(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) -> bool {
        let here = asking
            .at
            .and_then(|at| self.known.graph().find(at))
            .and_then(|at| self.known.first_free(at));
        if let Some(slot) = here.filter(|&slot| !self.known.graph().is_ask(slot)) {
            self.known.claim(slot);
            self.assign(asking, slot, Way { reset: false, walk: Vec::new() }, out);
            return true;
        }
        let Some(state) = self.known.nearest_by_route() else { return false };
        let Some(slot) = self.known.first_free(state) else { return false };
        self.known.claim(slot);
        self.assign(asking, slot, self.way_by_route(state), out);
        true
    }

    fn way_by_route(&self, state: StateIndex) -> Way {
        let walk = self.known.graph().route(state).map(|route| route.to_vec()).unwrap_or_default();
        Way { reset: true, walk }
    }

    /// Asks the strategy, over the known graph.
    fn find_planned(
        &mut self,
        asking: WorkRequest,
        initial: StateKey,
        origin: Key,
        drained: Vec<RouteHint>,
        out: &mut Vec<PeerEffect>,
    ) -> bool {
        let Some(planned) = self.known.choose(asking.at.unwrap_or(initial)) else { return false };
        let walk = planned.walk.iter().map(|&slot| self.known.graph().step(slot)).collect();
        let way = Way { reset: planned.reset || asking.at.is_none(), walk };
        let state = planned.candidate.state;
        if self.known.ownership().is_own(state) {
            self.known.claim(planned.candidate);
            self.assign(asking, planned.candidate, way, out);
            self.tell_origin(origin, drained, out);
            return true;
        }
        let goal = self.known.graph().key(state);
        let seek = Seek { asking, goal, reset: way.reset, walk: way.walk, origin, drained };
        let hint = self.known.graph().owner(state).filter(|_| !asking.again);
        self.send_to_owner(goal, hint, PeerMessage::Seek(seek), out);
        true
    }

    /// Another controller sends a crawler to an own state.
    pub(super) fn on_seek(&mut self, mut seek: Seek, out: &mut Vec<PeerEffect>) {
        if self.ending.finished {
            out.push(PeerEffect::Tell(seek.asking.crawler, ToCrawler::Finished));
            return;
        }
        if self.known.graph().initial().is_none() {
            return; // The crawler retries.
        }
        for step in &seek.walk {
            self.known.hear(*step);
        }
        for fact in &seek.drained {
            self.known.learn_hint(fact);
        }
        let state = self.known.set_owned(seek.goal, true);
        if let Some(slot) = self.known.first_free(state) {
            self.known.claim(slot);
            self.assign(seek.asking, slot, Way { reset: seek.reset, walk: seek.walk }, out);
            self.tell_origin(seek.origin, seek.drained, out);
            return;
        }
        if !self.known.is_unreconciled(state) {
            seek.drained.push(self.fact(state));
        }
        if !self.find(seek.asking, seek.origin, seek.drained, out) {
            self.go_round(seek.asking, out);
        }
    }

    /// Tells the controller that began the search which states are exhausted.
    fn tell_origin(&mut self, origin: Key, drained: Vec<RouteHint>, out: &mut Vec<PeerEffect>) {
        let shares = self.settings.scheme.hears == Hears::Searches;
        if shares && origin != self.me && !drained.is_empty() {
            self.send_with(origin, None, drained, PeerMessage::Learned, out);
        }
    }

    /// Continues a search that travels.
    pub(super) fn on_search(&mut self, mut search: Search, out: &mut Vec<PeerEffect>) {
        if self.ending.finished {
            out.push(PeerEffect::Tell(search.asking.crawler, ToCrawler::Finished));
            return;
        }
        let Some(initial) = self.known.graph().initial() else { return };
        while let Some(next) = search.next() {
            if !self.owns(next) {
                let hint =
                    self.known.graph().find(next).and_then(|state| self.known.graph().owner(state));
                let hint = hint.filter(|_| !search.asking.again);
                self.send_to_owner(next, hint, PeerMessage::Search(search), out);
                return;
            }
            let state = self.known.set_owned(next, true);
            if let Some(slot) = self.known.first_free(state) {
                let (reset, walk) = search.way();
                self.known.claim(slot);
                self.assign(search.asking, slot, Way { reset, walk }, out);
                let remembers = self.settings.scheme.looks == Looks::Everywhere { remembers: true };
                if remembers && search.visited() > 0 && search.asking.at.is_some() {
                    let root = search.root();
                    self.send_to_owner(
                        root,
                        Some(search.origin),
                        PeerMessage::Remember(root, search.stopped()),
                        out,
                    );
                }
                return;
            }
            let certain = self.known.is_done_with(state);
            search.pass(
                self.known.graph().leads(state),
                certain,
                initial,
                self.settings.exploring.reset_cost,
            );
        }
        self.go_round(search.asking, out);
    }

    /// Gives a crawler a task: to walk to a state and execute a candidate there, which is claimed.
    fn assign(&mut self, asking: WorkRequest, slot: Slot, way: Way, out: &mut Vec<PeerEffect>) {
        let Way { mut reset, mut walk } = way;
        let id = JobId(self.number());
        let state = slot.state;
        let mut step = self.known.graph().step(slot);
        if self.known.graph().is_ask(slot) {
            // To see what the state offers, a crawler only walks there: the last step is the job.
            if walk.is_empty() && !reset {
                Way { reset, walk } = self.way_by_route(state);
            }
            let Some(last) = walk.pop() else {
                let units = self.settings.exploring.reset_cost.ceil() as u64;
                self.lease(id, slot, asking, units, None, None, out);
                return;
            };
            step = last;
        }
        let route = if reset {
            Some(walk.as_slice().into())
        } else {
            self.known
                .graph()
                .find(step.from)
                .and_then(|state| self.known.graph().route(state).cloned())
        };
        let resets = if reset { self.settings.exploring.reset_cost.ceil() as u64 } else { 0 };
        let units = resets + walk.len() as u64 + 1;
        let job = Job { id, reset, walk, state: step.from, action: step.action };
        self.lease(id, slot, asking, units, Some(job), route, out);
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is the task")]
    fn lease(
        &mut self,
        id: JobId,
        slot: Slot,
        asking: WorkRequest,
        units: u64,
        job: Option<Job>,
        route: Option<Route>,
        out: &mut Vec<PeerEffect>,
    ) {
        self.leases.insert(id, Lease { slot, crawler: asking.crawler, since: self.now, units });
        // Twice the slowest recent time per unit of work (the thesis: 2 (c + e_max), without
        // decay).
        let deadline = 2 * self.slowest.saturating_mul(units) + self.settings.times.answer;
        out.push(PeerEffect::Wake(PeerTimer::Lease(id), deadline));
        let id = LeaseRef { by: self.me, job: id };
        let look = self.known.graph().is_ask(slot);
        let task = Task { id, number: asking.number, job, route, look };
        out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Task(task)));
        self.patience = self.settings.times.idle;
    }

    /// Nothing was found here: the request goes round the ring.
    fn go_round(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) {
        match self.member.successors().first().copied() {
            Some(next) if self.waiting.is_none() => {
                self.send(next, PeerMessage::Idle(asking, self.me, LONGEST_ROUND), out);
            }
            // Another request went round just now.
            _ => self.park(asking, out),
        }
    }

    /// A request for work comes round to this controller.
    pub(super) fn on_idle(
        &mut self,
        asking: WorkRequest,
        starter: Key,
        left: u32,
        out: &mut Vec<PeerEffect>,
    ) {
        if self.ending.finished {
            out.push(PeerEffect::Tell(asking.crawler, ToCrawler::Finished));
            return;
        }
        if starter == self.me || left == 0 {
            self.park(asking, out);
            return;
        }
        // A request that goes round takes any work: nearer work was searched for before.
        if self.known.ownership().free() > 0 && self.find_own(asking, out) {
            return;
        }
        match self.member.successors().first().copied() {
            Some(next) => self.send(next, PeerMessage::Idle(asking, starter, left - 1), out),
            None => self.park(asking, out),
        }
    }

    /// Finds work in an own state, by any path.
    fn find_own(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) -> bool {
        match (self.settings.scheme.looks, self.known.graph().initial()) {
            (Looks::Own, Some(initial)) => {
                self.find_planned(asking, initial, self.me, Vec::new(), out)
                    || self.find_by_reset(asking, out)
            }
            (_, Some(_)) => self.find_by_reset(asking, out),
            (_, None) => false,
        }
    }

    fn park(&mut self, asking: WorkRequest, out: &mut Vec<PeerEffect>) {
        self.parked.insert(asking.crawler, asking);
        if self.waiting.is_none() {
            self.waiting = Some(self.patience);
            out.push(PeerEffect::Wake(PeerTimer::Idle, self.patience));
            self.patience = (self.patience * 2).min(self.settings.times.idle * MOST_PATIENCE);
        }
    }

    /// Sends the request of one parked crawler round again. If it finds work, the next one follows.
    pub(super) fn ask_round(&mut self, out: &mut Vec<PeerEffect>) {
        self.waiting = None;
        if let Some((_, asking)) = self.parked.pop_first() {
            self.employ(asking, out);
        }
    }

    /// Gives parked crawlers the work that has appeared. Returns whether one got work.
    pub(super) fn employ_parked(&mut self, out: &mut Vec<PeerEffect>) -> bool {
        if self.ending.finished || self.known.ownership().free() == 0 {
            return false;
        }
        let Some((_, asking)) = self.parked.pop_first() else { return false };
        let planned = match (self.settings.scheme.looks, self.known.graph().initial()) {
            (Looks::Known, Some(initial)) => {
                self.find_planned(asking, initial, self.me, Vec::new(), out)
            }
            _ => false,
        };
        // There may be a route from the initial state but no path from here.
        let found = planned || self.find_own(asking, out);
        if found {
            return true;
        }
        self.parked.insert(asking.crawler, asking);
        false
    }
}
