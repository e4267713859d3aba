//! The coordinator of a star: hears of everything, and passes it on to those who ask.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionSignature, StateKey};

use super::division::Plan;
use super::{Found, Share, Tell, ToNode};
use crate::job::{CrawlerId, Step};

/// What the coordinator is told. Times are in microseconds.
#[derive(Clone, Debug)]
pub enum Input {
    /// A crawler tells something.
    Told(Tell),
    /// It is time to look for crawlers that fell silent.
    Woken,
}

/// What the coordinator asks for.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Answer a crawler.
    Answer(CrawlerId, ToNode),
    /// Say `Woken` after so many microseconds.
    Wake(u64),
    /// The crawl is over.
    Finished,
}

/// A crawler is taken for lost when it was silent so many times as long as any ever was.
const SILENCE: u64 = 2;

/// At first crawlers are expected to be silent for so many tasks.
const EXPECTED: u64 = 8;

/// A crawler, as the coordinator knows it.
struct Known {
    shares: Vec<usize>,
    /// How many of the states it was told.
    told: usize,
    heard: u64,
    /// It waits for an answer.
    asks: bool,
    /// It waits for work.
    done: bool,
}

/// The coordinator.
pub struct Coordinator {
    plan: Plan,
    crawlers: BTreeMap<CrawlerId, Known>,
    /// Shares that are nobody's.
    free: BTreeSet<usize>,
    begun: bool,
    /// The states in the order in which they were heard of.
    states: Vec<Found>,
    places: BTreeMap<StateKey, usize>,
    executed: BTreeMap<(StateKey, ActionSignature), StateKey>,
    closed: BTreeSet<(StateKey, ActionSignature)>,
    /// The longest that a crawler with work was silent.
    longest: u64,
    finished: bool,
}

impl Coordinator {
    /// Waits for as many crawlers as there are shares. `task`: how long a task may take, in microseconds, before any was measured.
    pub fn new(plan: Plan, task: u64) -> Self {
        Self {
            plan,
            crawlers: BTreeMap::new(),
            free: (0..plan.shares).collect(),
            begun: false,
            states: Vec::new(),
            places: BTreeMap::new(),
            executed: BTreeMap::new(),
            closed: BTreeSet::new(),
            longest: EXPECTED * task,
            finished: false,
        }
    }

    /// The states that were found.
    pub fn states(&self) -> &[Found] {
        &self.states
    }

    /// Where an action of a state leads, if it was executed.
    pub fn target(&self, state: StateKey, action: ActionSignature) -> Option<StateKey> {
        self.executed.get(&(state, action)).copied()
    }

    /// Takes an input in, at a time in microseconds, and appends what is to be done about it.
    pub fn handle(&mut self, now: u64, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Told(tell) => self.told(now, tell, out),
            Input::Woken => {
                self.look_for_lost(now);
                if !self.finished {
                    out.push(Effect::Wake(SILENCE * self.longest));
                }
            }
        }
        self.answer(now, out);
    }

    fn told(&mut self, now: u64, tell: Tell, out: &mut Vec<Effect>) {
        let known = self.crawlers.entry(tell.crawler).or_insert(Known {
            shares: Vec::new(),
            told: 0,
            heard: now,
            asks: true,
            done: true,
        });
        if self.begun && !known.done {
            self.longest = self.longest.max(now - known.heard);
        }
        known.heard = now;
        known.asks = true;
        known.done = tell.done || !self.begun;
        for found in tell.found {
            if !self.places.contains_key(&found.key) {
                self.places.insert(found.key, self.states.len());
                self.states.push(found);
            }
        }
        for step in tell.executed {
            self.executed.entry((step.from, step.action)).or_insert(step.to);
        }
        self.closed.extend(tell.closed);
        if !self.begun && self.crawlers.len() >= self.plan.shares {
            self.begun = true;
            out.push(Effect::Wake(SILENCE * self.longest));
        }
    }

    /// The shares of crawlers that fell silent at work are free again.
    fn look_for_lost(&mut self, now: u64) {
        let silence = SILENCE * self.longest;
        let lost = |known: &Known| !known.asks && now - known.heard > silence;
        for known in self.crawlers.values_mut().filter(|known| lost(known)) {
            self.free.extend(std::mem::take(&mut known.shares));
            // If it was only slow it will ask again. Nobody waits for it until then.
            known.done = true;
        }
    }

    /// Answers everybody for whom there is something.
    fn answer(&mut self, now: u64, out: &mut Vec<Effect>) {
        if !self.begun || self.finished {
            return;
        }
        let waiting: Vec<CrawlerId> =
            self.crawlers.iter().filter(|(_, known)| known.asks).map(|(&crawler, _)| crawler).collect();
        for crawler in waiting {
            let known = &self.crawlers[&crawler];
            // One without a share comes first; otherwise whoever is out of work takes what is free.
            let needs = known.shares.is_empty() || known.done;
            let shares: Vec<Share> = if needs {
                self.free.pop_first().map(|number| self.share(number)).into_iter().collect()
            } else {
                Vec::new()
            };
            let news = known.told < self.states.len() || !shares.is_empty();
            if known.done && !news {
                continue;
            }
            let states = self.states[known.told..].to_vec();
            let told = self.states.len();
            let known = self.crawlers.get_mut(&crawler).expect("it is there");
            known.shares.extend(shares.iter().map(|share| share.number));
            (known.told, known.asks, known.done, known.heard) = (told, false, false, now);
            out.push(Effect::Answer(crawler, ToNode::News { states, shares }));
        }
        if self.free.is_empty() && self.crawlers.values().all(|known| known.done) {
            self.finished = true;
            let asking = self.crawlers.iter().filter(|(_, known)| known.asks);
            out.extend(asking.map(|(&crawler, _)| Effect::Answer(crawler, ToNode::Finished)));
            out.push(Effect::Finished);
        }
    }

    fn share(&self, number: usize) -> Share {
        let in_share = |&(state, action): &(StateKey, ActionSignature)| {
            let Some(&place) = self.places.get(&state) else { return false };
            let actions = &self.states[place].actions;
            let place = actions.binary_search(&action);
            place.is_ok_and(|place| self.plan.share(state, action, place, actions.len()) == number)
        };
        let executed = self.executed.iter().filter(|(of, _)| in_share(of));
        Share {
            number,
            executed: executed.map(|(&(from, action), &to)| Step { from, action, to }).collect(),
            closed: self.closed.iter().filter(|of| in_share(of)).copied().collect(),
        }
    }
}
