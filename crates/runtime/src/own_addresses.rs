//! The addresses of states, as the crawlers of a process know them: which ones are entries, and
//! which were tried. The controller decides where a job begins; this only says what is loaded
//! (decision 33).

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::Job;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::learned;
use crate::store::ContentHash;

/// The least number of steps that loading an untried address must save, beside the load. A guess:
/// fewer cost less than a look at a page that is another.
const LEAST_SAVED: usize = 3;
/// How many addresses may lead elsewhere before any leads back, and how many more for each that
/// does. A guess: an application whose addresses say nothing is not loaded in vain for each state.
const MOST_MISSED: usize = 4;
const MISSED_PER_ENTRY: usize = 2;
/// The longest address that is tried, in bytes. A page makes it up.
const LONGEST: usize = 2000;

/// An address that may lead to a state on the walk of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// What to load.
    pub address: String,
    /// The state to which it should lead.
    pub state: StateKey,
    /// How many steps of the walk that saves.
    pub steps: usize,
}

/// The addresses of states.
#[derive(Debug)]
pub struct OwnAddresses {
    /// The address of each entry.
    entries: BTreeMap<StateKey, String>,
    /// The addresses that have led a crawler of this process back to their state. A controller of a
    /// ring knows of none.
    verified: BTreeMap<StateKey, String>,
    /// The digests of addresses that are not tried: the URL, and those that were loaded once.
    tried: BTreeSet<ContentHash>,
    /// States without an address to try.
    settled: BTreeSet<StateKey>,
    /// Candidates whose crawler lost its place by an address that led elsewhere.
    displaced: BTreeSet<(StateKey, ActionSignature)>,
    /// How many addresses led elsewhere, and how many led to their state.
    missed: usize,
    entered: usize,
    /// The cost of a load, in actions.
    reset_cost: f64,
}

impl Default for OwnAddresses {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            verified: BTreeMap::new(),
            tried: BTreeSet::new(),
            settled: BTreeSet::new(),
            displaced: BTreeSet::new(),
            missed: 0,
            entered: 0,
            reset_cost: learned::RESET_COST,
        }
    }
}

impl OwnAddresses {
    /// The address of an entry.
    pub fn of_entry(&self, state: StateKey) -> Option<&str> {
        self.entries.get(&state).map(String::as_str)
    }

    /// Takes over what the controller says of a state: the address of an entry, or that it is none.
    pub fn set_entry(&mut self, state: StateKey, address: Option<&str>) {
        match address {
            Some(address) if self.of_entry(state) != Some(address) => {
                self.entries.insert(state, address.to_owned());
                self.tried.insert(digest(address));
            }
            Some(_) => {}
            None => _ = self.entries.remove(&state),
        }
    }

    /// Sets the cost of a load, in actions.
    pub fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }

    /// From now on the address is not tried.
    pub fn mark_tried(&mut self, address: &str) {
        self.tried.insert(digest(address));
    }

    /// An address led to its state.
    pub fn on_entered(&mut self, shortcut: &Shortcut) {
        let Shortcut { state, address, .. } = shortcut;
        if self.verified.insert(*state, address.clone()).is_none() {
            self.entered += 1;
        }
    }

    /// An address led elsewhere. The crawler of the job then stands nowhere; without a reset the
    /// job cannot begin any more, which must not happen to it often.
    pub fn on_missed(&mut self, shortcut: &Shortcut, job: &Job) {
        if self.verified.remove(&shortcut.state).is_none() {
            self.missed += 1;
        }
        if !job.reset {
            self.displaced.insert((job.state, job.action));
        }
    }

    /// The address was not loaded to the end: it may be tried again.
    pub fn unmark_tried(&mut self, address: &str) {
        self.tried.remove(&digest(address));
        self.settled.clear();
    }

    /// Digests of what was tried.
    pub fn tried(&self) -> impl Iterator<Item = u128> {
        self.tried.iter().map(|digest| digest.0)
    }

    /// Takes over digests of what an earlier run has tried.
    pub fn add_tried(&mut self, digests: impl IntoIterator<Item = u128>) {
        self.tried.extend(digests.into_iter().map(ContentHash));
    }

    /// The state nearest to the end of a job's walk whose address has led back to it or was not
    /// tried yet, if loading it would save enough steps. The address counts as tried from then on.
    /// `address_of` reads the address of a state, if it may be loaded.
    pub fn shortcut(
        &mut self,
        job: &Job,
        address_of: impl Fn(StateKey) -> Option<String>,
    ) -> Option<Shortcut> {
        // A job that begins with a load pays for one anyway.
        let price = if job.reset { 0 } else { self.reset_cost.ceil() as usize };
        let least = price.saturating_add(LEAST_SAVED);
        if !job.reset && self.displaced.contains(&(job.state, job.action)) {
            return None;
        }
        let tries = self.missed < MOST_MISSED + MISSED_PER_ENTRY * self.entered;
        for (place, step) in job.walk.iter().enumerate().rev() {
            let (state, steps) = (step.to, place + 1);
            if steps < least {
                return None;
            }
            if let Some(address) = self.verified.get(&state).cloned() {
                return Some(Shortcut { address, state, steps });
            }
            if !tries || self.settled.contains(&state) {
                continue;
            }
            let untried = address_of(state)
                .filter(|address| address.len() <= LONGEST)
                .filter(|address| !self.tried.contains(&digest(address)));
            match untried {
                Some(address) => {
                    self.mark_tried(&address);
                    return Some(Shortcut { address, state, steps });
                }
                None => _ = self.settled.insert(state),
            }
        }
        None
    }
}

fn digest(address: &str) -> ContentHash {
    ContentHash::of(address.as_bytes())
}

#[cfg(test)]
mod tests {
    use argiope_controller::job::{JobId, Transition};

    use super::*;

    fn job(reset: bool, steps: u128) -> Job {
        let action = ActionSignature(7);
        let step = |at| Transition { from: StateKey(at), action, to: StateKey(at + 1) };
        Job {
            id: JobId(1),
            reset,
            walk: (0..steps).map(step).collect(),
            state: StateKey(steps),
            action,
        }
    }

    /// Every state has an address of its own, except odd ones.
    fn address_of(state: StateKey) -> Option<String> {
        state.0.is_multiple_of(2).then(|| format!("http://a/#{}", state.0))
    }

    fn to(state: u128) -> Shortcut {
        let address = address_of(StateKey(state)).expect("even states have one");
        Shortcut { address, state: StateKey(state), steps: state as usize }
    }

    #[test]
    fn the_last_untried_address_of_a_long_walk_is_tried_once() {
        let mut own = OwnAddresses::default();
        let shortcut = |own: &mut OwnAddresses, job: &Job| {
            own.shortcut(job, address_of).map(|found| (found.address, found.steps))
        };
        let at = |state: usize| Some((format!("http://a/#{state}"), state));
        assert_eq!(shortcut(&mut own, &job(true, 9)), at(8));
        assert_eq!(shortcut(&mut own, &job(true, 9)), at(6));
        assert_eq!(shortcut(&mut own, &job(true, 2)), None, "two steps are not worth a load");
        own.unmark_tried("http://a/#8");
        assert_eq!(shortcut(&mut own, &job(true, 9)), at(8), "the tab was exchanged meanwhile");
    }

    #[test]
    fn a_walk_from_here_must_save_the_load_as_well() {
        let mut own = OwnAddresses::default();
        own.set_reset_cost(5.0);
        assert_eq!(own.shortcut(&job(false, 7), address_of), None);
        assert!(own.shortcut(&job(false, 10), address_of).is_some());
        own.on_missed(&to(10), &job(false, 10));
        assert_eq!(own.shortcut(&job(false, 12), address_of).map(|found| found.steps), Some(12));
        assert_eq!(own.shortcut(&job(false, 10), address_of), None, "its crawler lost its place");
        assert!(own.shortcut(&job(true, 12), address_of).is_some(), "a load comes first anyway");
    }

    #[test]
    fn addresses_that_lead_elsewhere_end_the_trials() {
        let mut own = OwnAddresses::default();
        (0..MOST_MISSED).for_each(|_| own.on_missed(&to(8), &job(true, 9)));
        assert_eq!(own.shortcut(&job(true, 9), address_of), None);
        own.on_entered(&to(20));
        assert!(own.shortcut(&job(true, 9), address_of).is_some());
    }

    #[test]
    fn an_address_that_led_back_is_loaded_until_it_leads_elsewhere() {
        let mut own = OwnAddresses::default();
        own.on_entered(&to(8));
        assert_eq!(own.shortcut(&job(true, 9), address_of), Some(to(8)));
        assert_eq!(own.shortcut(&job(true, 9), address_of), Some(to(8)));
        (0..MOST_MISSED + MISSED_PER_ENTRY).for_each(|_| own.on_missed(&to(6), &job(true, 9)));
        assert_eq!(own.shortcut(&job(true, 9), address_of), Some(to(8)), "others are not tried");
        own.on_missed(&to(8), &job(true, 9));
        assert_eq!(own.shortcut(&job(true, 9), address_of), None);
    }

    #[test]
    fn an_entry_is_loaded_until_the_controller_drops_it_and_never_tried() {
        let mut own = OwnAddresses::default();
        own.set_entry(StateKey(8), Some("http://a/#8"));
        assert_eq!(own.of_entry(StateKey(8)), Some("http://a/#8"));
        let found = own.shortcut(&job(true, 9), address_of).unwrap();
        assert_eq!(found.state, StateKey(6));
        own.set_entry(StateKey(8), None);
        assert_eq!(own.of_entry(StateKey(8)), None);
        let digests: Vec<u128> = own.tried().collect();
        let mut again = OwnAddresses::default();
        again.add_tried(digests);
        let found = again.shortcut(&job(true, 9), address_of).unwrap();
        assert_eq!(found.state, StateKey(4), "both were tried before");
    }
}
