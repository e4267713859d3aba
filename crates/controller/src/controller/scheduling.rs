//! Finds a job for a crawler, mostly by asking the strategy. This module handles what strategies do
//! not know: limits, unreliable transitions, states that only a stray transition reaches, loads
//! that lead to other states.

use std::collections::{BTreeSet, VecDeque};

use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::strategy::INITIAL;

use super::{Assigned, Controller};
use crate::input::ControllerEffect;
use crate::job::{Ahead, CrawlerId, Job, JobId, Transition};
use crate::journal::Fact;
use crate::route::{Hop, Routes};

/// No transition.
const NONE: BTreeSet<Slot> = BTreeSet::new();

/// A way to the state of a candidate.
struct Way {
    reset: bool,
    walk: Vec<Hop>,
}

impl Way {
    /// The state in which it begins.
    fn start(&self, candidate: Slot) -> StateIndex {
        self.walk.first().map_or(candidate.state, |hop| hop.slot.state)
    }
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
        if way.as_ref().is_some_and(|way| self.is_doomed(way.reset, way.start(job.candidate)))
            && let Some(link) = self.link_job(at, |_, state| state == job.candidate.state)
        {
            self.known.released(job.candidate);
            return Some(link);
        }
        match way.filter(|way| (way.walk.len() as u64) < self.actions_left()) {
            Some(way) => Some(self.job(job.candidate, way)),
            None => {
                self.known.released(job.candidate);
                self.nearest_job(at)
            }
        }
    }

    /// Assigns the same candidate again, after a reset, to a crawler that strayed.
    pub(super) fn try_again(&mut self, crawler: CrawlerId, candidate: Slot, strays: Vec<Hop>) {
        let way = self.another_way(None, candidate, &NONE);
        match way.filter(|way| (way.walk.len() as u64) < self.actions_left()) {
            Some(way) => {
                let assigned = self.job(candidate, way);
                let assigned = Assigned { retry_of: Some(strays), ..assigned };
                self.assign(crawler, assigned);
            }
            None => self.released(candidate),
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
        let (reset, walk, since) = (way.reset, way.walk, self.suspects.finished());
        Assigned { id, candidate, reset, walk, after: None, retry_of: None, since }
    }

    /// How many actions may still be assigned.
    fn actions_left(&self) -> u64 {
        let Some(limit) = self.known.settings().limits.max_actions else { return u64::MAX };
        let promised: u64 = self.busy.values().flatten().map(Assigned::actions).sum();
        limit.saturating_sub(self.known.spent().actions).saturating_sub(self.written_off + promised)
    }

    /// Whether the limit of actions leaves even the nearest candidate out of reach.
    pub(super) fn is_short_of_actions(&self) -> bool {
        let at = self.idle.values().filter_map(|idle| idle.at);
        let resets = self.resets().map(|(state, _)| state);
        let nearest = self.nearest_walk(at.chain(resets));
        self.actions_left() == 0
            || nearest.is_some_and(|(_, walk)| walk.len() as u64 >= self.actions_left())
    }

    /// The job with the shortest walk of all.
    fn nearest_job(&mut self, at: Option<StateIndex>) -> Option<Assigned> {
        let resets = self.resets().map(|(state, _)| state);
        let starts: Vec<StateIndex> = at.into_iter().chain(resets).collect();
        let Some((place, walk)) = self.nearest_walk(starts.iter().copied()) else {
            return self.link_job(at, |graph, state| graph.unexplored_in(state) > 0);
        };
        if walk.len() as u64 >= self.actions_left() {
            return None;
        }
        let state = walk.last().map_or(starts[place], |hop| hop.to);
        let reset = at.is_none() || place > 0;
        let graph = self.known.graph()?;
        let candidate = graph.first_unexplored(state)?;
        if self.is_doomed(reset, starts[place])
            && let Some(link) = self.link_job(at, |graph, state| graph.unexplored_in(state) > 0)
        {
            return Some(link);
        }
        self.known.explorer()?.claim(candidate);
        Some(self.job(candidate, Way { reset, walk }))
    }

    /// Whether a way begins with a load of the URL that led elsewhere the last time.
    fn is_doomed(&self, reset: bool, start: StateIndex) -> bool {
        reset && start != self.lands_in && !self.is_entry(start)
    }

    /// Follows a plain link once more, from a state that can be reached: no other walk leads to
    /// what is wanted, and the link has led to where one begins.
    fn link_job(
        &mut self,
        at: Option<StateIndex>,
        wanted: impl Fn(&Graph, StateIndex) -> bool,
    ) -> Option<Assigned> {
        let graph = self.known.graph().filter(|_| self.known.shows_links())?;
        let avoid = self.known.ended();
        let routes = Routes { graph, strays: self.known.strays(), avoid };
        let targets = routes.leading_to(|state| wanted(graph, state));
        let starts = self.sure_starts(at);
        let shows = |state| self.known.link_towards(state, &targets).is_some();
        let (place, walk) = self.walk(&starts, &NONE, shows)?;
        if walk.len() as u64 >= self.actions_left() {
            return None;
        }
        let state = walk.last().map_or(starts[place].0, |hop| hop.to);
        let link = self.known.link_towards(state, &targets)?;
        let key = graph.key(state);
        self.keep(Fact::LinkFollower { link, state: key });
        let graph = self.known.graph()?;
        let candidate = graph.slot_of(state, graph.action_named(link)?)?;
        if !graph.is_free(candidate) {
            return None;
        }
        self.known.explorer()?.claim(candidate);
        Some(self.job(candidate, Way { reset: at.is_none() || place > 0, walk }))
    }

    /// Where a walk may begin, with its cost: here, where the URL led last, and the entries.
    fn sure_starts(&self, at: Option<StateIndex>) -> Vec<(StateIndex, f64)> {
        let by_url = (self.lands_in, self.known.settings().exploring.reset_cost);
        let here = at.map(|at| (at, 0.0));
        here.into_iter().chain([by_url]).chain(self.entries()).collect()
    }

    /// The shortest walk to a free candidate, and the place of its start.
    fn nearest_walk(&self, starts: impl Iterator<Item = StateIndex>) -> Option<(usize, Vec<Hop>)> {
        let graph = self.known.graph()?;
        let starts: Vec<(StateIndex, f64)> = starts.map(|start| (start, 0.0)).collect();
        self.walk(&starts, &NONE, |state| graph.unexplored_in(state) > 0)
    }

    /// Where a reset may lead, with its cost: where the URL led last, where else it has led, and
    /// the entries.
    fn resets(&self) -> impl Iterator<Item = (StateIndex, f64)> {
        let others = [INITIAL].into_iter().chain(self.known.landings().iter().copied());
        let others = others.filter(|&state| state != self.lands_in);
        let reset_cost = self.known.settings().exploring.reset_cost;
        let by_url =
            [self.lands_in].into_iter().chain(others).map(move |state| (state, reset_cost));
        by_url.chain(self.entries())
    }

    fn entries(&self) -> impl Iterator<Item = (StateIndex, f64)> {
        let entries = self.known.graph().map_or(&[][..], Graph::entries);
        entries.iter().map(|entry| (entry.state, entry.cost))
    }

    /// Whether a reset to a state loads an address of its own.
    pub(super) fn is_entry(&self, state: StateIndex) -> bool {
        self.entries().any(|(entry, _)| entry == state)
    }

    /// Another way than the strategy's, if that begins with a load that led elsewhere the last
    /// time, or uses an unreliable transition. None if every way ends the application.
    fn better_way(&self, at: Option<StateIndex>, candidate: Slot, way: Way) -> Option<Way> {
        let avoid = self.troubles.unreliable();
        let ends = way.walk.iter().any(|hop| self.known.ended().contains(&hop.slot));
        let reliable = way.walk.iter().all(|hop| !avoid.contains(&hop.slot));
        let by_url = way.reset && !self.is_entry(way.start(candidate));
        if !ends && reliable && (!by_url || self.lands_in == INITIAL) {
            return Some(way);
        }
        let better = self.another_way(at, candidate, avoid);
        let better = better.or_else(|| ends.then(|| self.another_way(at, candidate, &NONE))?);
        better.or_else(|| (!ends).then_some(way))
    }

    fn another_way(
        &self,
        at: Option<StateIndex>,
        candidate: Slot,
        avoid: &BTreeSet<Slot>,
    ) -> Option<Way> {
        let starts = self.sure_starts(at);
        let (place, walk) = self.walk(&starts, avoid, |state| state == candidate.state)?;
        Some(Way { reset: at.is_none() || place > 0, walk })
    }

    fn walk(
        &self,
        starts: &[(StateIndex, f64)],
        avoid: &BTreeSet<Slot>,
        wanted: impl Fn(StateIndex) -> bool,
    ) -> Option<(usize, Vec<Hop>)> {
        let ended = self.known.ended();
        let all: BTreeSet<Slot>;
        let avoid = if ended.is_empty() {
            avoid
        } else {
            all = avoid.union(ended).copied().collect();
            &all
        };
        let routes = Routes { graph: self.known.graph()?, strays: self.known.strays(), avoid };
        routes.cheapest_walk(starts, wanted)
    }
}
