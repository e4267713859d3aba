//! Which actions a node executes: those of its shares, and those that it was asked to try because
//! another node could not reach them. It defers all others.

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategies;

use super::{ActionShare, Executed, FoundState, StarNode};
use crate::job::{Job, Transition};
use crate::outcome::JobFailure;

impl StarNode {
    /// Defers the actions of a state that other nodes execute, and all plain links; then follows
    /// the own links from one state each.
    pub(super) fn set_aside(&mut self, state: StateKey, actions: &[ActionSignature]) {
        let mut links = Vec::new();
        for (place, &action) in actions.iter().enumerate() {
            let link = self.links.contains(state, action);
            let share = self.share_of(state, actions, place);
            let own = share.is_some_and(|share| self.shares.contains(&share));
            if link || !own || self.links.is_plain(action) {
                self.defer(self.slot(state, action));
            }
            links.extend(link.then_some(action));
        }
        for link in links {
            self.pursue(link);
        }
    }

    /// Defers those of these slots that are free candidates.
    pub(super) fn defer(&mut self, slots: impl IntoIterator<Item = Slot>) {
        for slot in slots {
            if self.is_free(slot) {
                self.explorer().claim(slot);
            }
        }
    }

    /// The share of an action of a state.
    fn share_of(
        &self,
        state: StateKey,
        actions: &[ActionSignature],
        place: usize,
    ) -> Option<usize> {
        let (plan, action) = (self.plan?, actions[place]);
        Some(if self.links.contains(state, action) {
            plan.share_of_link(action)
        } else {
            plan.share(state, action, place, actions.len())
        })
    }

    /// Replaces the offers that this node saw by those that the coordinator announced: all nodes
    /// must divide the same list.
    pub(super) fn correct(&mut self, found: &FoundState) {
        if self.offered(found.key) == found.actions {
            return;
        }
        self.links.learn(found.key, &found.links);
        self.corrected.insert(found.key, found.actions.clone());
        let Some(state) = self.find(found.key) else { return };
        for &action in &found.actions {
            if self.slot(found.key, action).is_none() && self.strategy_extends() {
                self.explorer().extend(state, action);
            }
        }
        let graph = self.explorer().graph();
        let name = |slot: Slot| graph.signature(graph.action_of(slot));
        let is_other = |&slot: &Slot| found.actions.binary_search(&name(slot)).is_err();
        let others: Vec<Slot> = graph.slots(state).filter(is_other).collect();
        self.defer(others);
        self.set_aside(found.key, &found.actions);
        for share in self.shares.clone() {
            self.release_of(share);
            self.report_unseen(share);
        }
    }

    /// Whether the strategy takes in candidates of states that it knows already.
    fn strategy_extends(&self) -> bool {
        strategies::FOR_PARTIAL_GRAPHS.contains(&self.strategy.name)
    }

    /// Reports the actions of a share that this node did not see and its strategy cannot take in:
    /// a node that saw them is to try.
    fn report_unseen(&mut self, share: usize) {
        if self.strategy_extends() {
            return;
        }
        let mut unseen = Vec::new();
        for (&state, actions) in &self.corrected {
            for (place, &action) in actions.iter().enumerate() {
                let its = self.share_of(state, actions, place) == Some(share);
                if its && self.slot(state, action).is_none() {
                    unseen.push((state, action, JobFailure::Unreachable));
                }
            }
        }
        for given_up in unseen {
            if !self.unsaid.closed.contains(&given_up) {
                self.unsaid.closed.push(given_up);
            }
        }
    }

    /// What a state offers, sorted.
    fn offered(&self, state: StateKey) -> Vec<ActionSignature> {
        if let Some(corrected) = self.corrected.get(&state) {
            return corrected.clone();
        }
        let Some(graph) = self.explorer.as_ref().map(Explorer::graph) else { return Vec::new() };
        let slots = graph.find(state).into_iter().flat_map(|state| graph.slots(state));
        let mut actions: Vec<ActionSignature> =
            slots.map(|slot| graph.signature(graph.action_of(slot))).collect();
        actions.sort_unstable();
        actions
    }

    /// Takes a share over: its open candidates become free.
    pub(super) fn take_over(&mut self, share: ActionShare) {
        if !self.shares.insert(share.number) {
            return;
        }
        for step in share.executed {
            if self.links.contains(step.from, step.action) {
                self.links.follow(step.action);
            }
            if let Some(slot) = self.slot(step.from, step.action).filter(|&slot| self.is_open(slot))
                && self.find(step.to).is_some()
                && !self.is_doing(slot)
            {
                self.explorer().record(slot, step.to, Vec::new);
            }
        }
        for (state, action) in share.closed {
            if let Some(slot) = self.slot(state, action).filter(|&slot| self.is_open(slot))
                && !self.is_doing(slot)
            {
                self.explorer().close(slot);
            }
        }
        self.release_of(share.number);
        self.report_unseen(share.number);
        for link in self.links.all() {
            self.pursue(link);
        }
    }

    /// Defers a share that another node holds by now.
    pub(super) fn give_away(&mut self, share: usize) {
        if !self.shares.remove(&share) {
            return;
        }
        self.defer(self.slots_of(share));
        let Some(plan) = self.plan else { return };
        for link in self.links.all() {
            if plan.share_of_link(link) == share {
                self.let_go(link);
            }
        }
    }

    fn release_of(&mut self, share: usize) {
        for slot in self.slots_of(share) {
            if self.is_aside(slot) {
                self.explorer().release(slot);
            }
        }
    }

    /// The open candidates of a share, without plain links.
    fn slots_of(&self, share: usize) -> Vec<Slot> {
        let graph = self.explorer.as_ref().expect("the URL was loaded").graph();
        let mut found = Vec::new();
        for state in (0..graph.states() as u32).map(StateIndex) {
            let key = graph.key(state);
            let actions = self.offered(key);
            for (place, &action) in actions.iter().enumerate() {
                let its = self.share_of(key, &actions, place) == Some(share);
                if its && !self.links.contains(key, action) && !self.links.is_plain(action) {
                    found.extend(
                        self.slot(key, action).filter(|&slot| graph.target(slot).is_none()),
                    );
                }
            }
        }
        found
    }

    /// Adopts an action that another node could not reach, or reports its known outcome.
    pub(super) fn adopt(&mut self, state: StateKey, action: ActionSignature) {
        let slot = self.slot(state, action);
        if let Some(slot) = slot.filter(|&slot| self.is_aside(slot)) {
            self.adopted.insert(slot);
            self.explorer().release(slot);
            return;
        }
        let graph = self.explorer().graph();
        let given_up = slot.is_none_or(|slot| graph.closed().contains(&slot));
        let executed = slot.filter(|&slot| graph.target(slot).is_some());
        let executed = executed.map(|slot| Transition::of(graph, slot));
        if given_up {
            self.unsaid.closed.push((state, action, JobFailure::Unreachable));
        } else if let Some(step) = executed {
            self.unsaid.executed.push(Executed { step, once: false, notes: Vec::new() });
        }
    }

    /// Frees a candidate that was not executed, unless another node executes it by now.
    pub(super) fn release(&mut self, slot: Slot, job: &Job) {
        let actions = self.offered(job.state);
        let place = actions.binary_search(&job.action).ok();
        let share = place.and_then(|place| self.share_of(job.state, &actions, place));
        let own =
            share.is_some_and(|share| self.shares.contains(&share)) || self.adopted.contains(&slot);
        if own && !self.links.is_plain(job.action) && self.is_open(slot) {
            self.explorer().release(slot);
        }
    }
}
