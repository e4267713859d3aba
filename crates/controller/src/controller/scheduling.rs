//! Finds a job for a crawler, mostly by asking the strategy. This module handles what strategies do
//! not know: limits, unreliable transitions, states that only a stray transition reaches, loads
//! that lead to other states.

use std::collections::{BTreeSet, VecDeque};

use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::job::cheaper_transfer;
use argiope_explore::strategy::INITIAL;

use super::{Assigned, Controller};
use crate::input::ControllerEffect;
use crate::job::{Ahead, CrawlerId, Job, JobId, Transition};
use crate::route::{Hop, Routes};

/// A way to the state of a candidate.
struct Way {
    reset: bool,
    walk: Vec<Hop>,
}

impl Controller {
    /// Finds a job for a crawler in this state, and claims its candidate.
    pub(super) fn find_job(&mut self, at: Option<StateIndex>) -> Option<Assigned> {
        if self.known.graph()?.free() == 0 || self.actions_left() == 0 {
            return None;
        }
        let Some(job) = self.known.explorer()?.next(at.unwrap_or(INITIAL)) else {
            return self.nearest_job(at);
        };
        let graph = self.known.graph()?;
        let hop = |&slot: &Slot| graph.target(slot).map(|to| Hop { slot, to });
        let walk = job.walk.iter().map(hop).collect::<Option<Vec<Hop>>>().expect("walks are known");
        let way =
            self.better_way(at, job.candidate, Way { reset: job.reset || at.is_none(), walk });
        if way.walk.len() as u64 >= self.actions_left() {
            self.known.released(job.candidate);
            return self.nearest_job(at);
        }
        Some(self.job(job.candidate, way))
    }

    /// Assigns the same candidate again, after a reset, to a crawler that strayed.
    pub(super) fn try_again(&mut self, crawler: CrawlerId, candidate: Slot, strays: Vec<Hop>) {
        let way = self.walk(self.lands_in, &BTreeSet::new(), |state| state == candidate.state);
        match way.filter(|walk| (walk.len() as u64) < self.actions_left()) {
            Some(walk) => {
                let assigned = self.job(candidate, Way { reset: true, walk });
                let assigned = Assigned { retry_of: Some(strays), ..assigned };
                self.assign(crawler, assigned);
            }
            None => self.known.released(candidate),
        }
    }

    /// Assigns a candidate of the state where a crawler stands.
    pub(super) fn perform_here(&mut self, crawler: CrawlerId, candidate: Slot) {
        if self.actions_left() == 0 {
            return;
        }
        let Some(explorer) = self.known.explorer() else { return };
        explorer.claim(candidate);
        let assigned = self.job(candidate, Way { reset: false, walk: Vec::new() });
        self.assign(crawler, assigned);
    }

    /// Assigns a job, and further jobs as far as their starting states are predicted.
    pub(super) fn assign(&mut self, crawler: CrawlerId, assigned: Assigned) {
        self.idle.remove(&crawler);
        let job = self.spelled_out(&assigned);
        let mut last = assigned.candidate;
        self.busy.insert(crawler, VecDeque::from([assigned]));
        let mut ahead = Vec::new();
        for _ in 0..self.most_ahead() {
            let foreseen = self.known.explorer().and_then(|explorer| explorer.predict(last));
            let Some(after) = foreseen else { break };
            let Some(next) = self.find_job(Some(after)) else { break };
            last = next.candidate;
            let job = self.spelled_out(&next);
            let graph = self.known.graph().expect("a job was found, so there is a state");
            ahead.push(Ahead { after: graph.key(after), job });
            let jobs = self.busy.entry(crawler).or_default();
            jobs.push_back(Assigned { after: Some(after), ..next });
        }
        self.out.push(ControllerEffect::Assign { crawler, job, ahead });
    }

    /// How many jobs a crawler gets beyond one. Towards the end some are left for other crawlers.
    fn most_ahead(&self) -> usize {
        let free = self.known.graph().map_or(0, Graph::free);
        let crawlers = self.busy.len() + self.idle.len();
        self.known.settings().ahead.min(free / (2 * crawlers))
    }

    fn spelled_out(&self, assigned: &Assigned) -> Job {
        let graph = self.known.graph().expect("a job was found, so there is a state");
        let Transition { from: state, action, .. } = Transition::of(graph, assigned.candidate);
        let walk = assigned.walk.iter().map(|hop| hop.named(graph)).collect();
        Job { id: assigned.id, reset: assigned.reset, walk, state, action }
    }

    fn job(&mut self, candidate: Slot, way: Way) -> Assigned {
        let id = JobId(self.next_job);
        self.next_job += 1;
        Assigned { id, candidate, reset: way.reset, walk: way.walk, after: None, retry_of: None }
    }

    /// How many actions may still be assigned.
    fn actions_left(&self) -> u64 {
        let Some(limit) = self.known.settings().limits.max_actions else { return u64::MAX };
        let promised: u64 = self.busy.values().flatten().map(Assigned::actions).sum();
        limit.saturating_sub(self.known.spent().actions).saturating_sub(self.written_off + promised)
    }

    /// Whether the limit of actions leaves even the nearest candidate out of reach.
    pub(super) fn is_short_of_actions(&self) -> bool {
        let left = self.actions_left();
        let at = self.idle.values().filter_map(|idle| idle.at);
        let starts: BTreeSet<StateIndex> = at.chain(self.landings()).collect();
        let nearest =
            starts.into_iter().filter_map(|start| self.walk_to_any(start)).map(|walk| walk.len());
        nearest.min().is_some_and(|steps| steps as u64 >= left)
    }

    /// The job with the shortest walk of all.
    fn nearest_job(&mut self, at: Option<StateIndex>) -> Option<Assigned> {
        let here = at.into_iter().map(|at| (false, at));
        let starts: Vec<_> = here.chain(self.landings().map(|landing| (true, landing))).collect();
        let ways = starts.into_iter().filter_map(|(reset, start)| {
            self.walk_to_any(start).map(|walk| (Way { reset, walk }, start))
        });
        let (way, start) = ways.min_by_key(|(way, _)| way.walk.len())?;
        if way.walk.len() as u64 >= self.actions_left() {
            return None;
        }
        let state = way.walk.last().map_or(start, |hop| hop.to);
        let candidate = self.known.graph()?.first_unexplored(state)?;
        self.known.explorer()?.claim(candidate);
        Some(self.job(candidate, way))
    }

    /// Where a reset may lead, the likeliest first.
    fn landings(&self) -> impl Iterator<Item = StateIndex> {
        let others = [INITIAL].into_iter().chain(self.known.landings().iter().copied());
        [self.lands_in].into_iter().chain(others.filter(|&state| state != self.lands_in))
    }

    /// Another way than the strategy's, if that begins with a load that led elsewhere the last
    /// time, or uses an unreliable transition.
    fn better_way(&self, at: Option<StateIndex>, candidate: Slot, way: Way) -> Way {
        let avoid = self.troubles.unreliable();
        let reliable = way.walk.iter().all(|hop| !avoid.contains(&hop.slot));
        if reliable && (!way.reset || self.lands_in == INITIAL) {
            return way;
        }
        let wanted = |state| state == candidate.state;
        let here = at.and_then(|at| self.walk(at, avoid, wanted));
        let landed = self.walk(self.lands_in, avoid, wanted);
        let steps = |walk: &Option<Vec<Hop>>| walk.as_ref().map(|walk| walk.len() as u32);
        let reset_cost = self.known.settings().exploring.reset_cost;
        match cheaper_transfer(steps(&here), steps(&landed), reset_cost).map(|way| way.reset) {
            Some(reset) => {
                Way { reset, walk: if reset { landed } else { here }.unwrap_or_default() }
            }
            None => way,
        }
    }

    fn walk_to_any(&self, from: StateIndex) -> Option<Vec<Hop>> {
        let graph = self.known.graph()?;
        self.walk(from, &BTreeSet::new(), |state| graph.unexplored_in(state) > 0)
    }

    fn walk(
        &self,
        from: StateIndex,
        avoid: &BTreeSet<Slot>,
        wanted: impl Fn(StateIndex) -> bool,
    ) -> Option<Vec<Hop>> {
        let routes = Routes { graph: self.known.graph()?, strays: self.known.strays(), avoid };
        routes.walk(from, wanted)
    }
}
