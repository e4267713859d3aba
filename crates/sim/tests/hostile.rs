//! A controller whose crawlers answer at random: it must come to an end, keep its promises and be able
//! to go on from its facts, in any order, whatever they say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_controller::settings::{ControllerSettings, CrawlLimits};
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies::ALL;
use argiope_explore::strategy::StrategySettings;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

/// So many states exist at most; without an end to them no crawl could end.
const STATES: usize = 12;
const ACTIONS: usize = 6;
const AHEAD: usize = 4;
/// Every candidate may fail, be lost or be missed a few times; this is far above all of that together.
const MOST_INPUTS: usize = 60_000;

struct Liar(Chance);

impl Liar {
    /// A state that offers anything, also what it did not offer before, or does not say.
    fn sighting(&mut self) -> Sighting {
        let offers = (0..self.0.below(ACTIONS)).map(|_| Offered {
            action: ActionSignature(self.0.below(ACTIONS) as u64),
            once: self.0.below(8) == 0,
        });
        let offers: Vec<Offered> = offers.collect();
        let key = StateKey(self.0.below(STATES) as u128);
        Sighting { key, offers: (self.0.below(6) > 0).then_some(offers) }
    }

    fn spent(&mut self, job: &Job) -> Spent {
        let actions = self.0.below(job.walk.len() + 2) as u64;
        Spent { actions, resets: u64::from(job.reset) }
    }

    fn outcome(&mut self, job: &Job) -> Outcome {
        let went_right = self.0.below(job.walk.len() + 3) as u32;
        let failures = [
            JobFailure::Hung,
            JobFailure::Crashed,
            JobFailure::NotLoaded,
            JobFailure::Missing,
            JobFailure::Lost,
            JobFailure::Exchanged,
        ];
        match self.0.below(4) {
            0 => Outcome::Failed { went_right, reason: failures[self.0.below(failures.len())] },
            1 => Outcome::Elsewhere { went_right, at: self.sighting() },
            _ => {
                let notes = if self.0.below(4) == 0 { vec![Note::Unsettled] } else { Vec::new() };
                Outcome::Done { at: self.sighting(), notes, once: self.0.below(10) == 0 }
            }
        }
    }

    fn ready(&mut self, crawler: CrawlerId) -> ControllerInput {
        let at = (self.0.below(2) == 0).then(|| self.sighting());
        ControllerInput::Ready { crawler, at, spent: Spent { actions: 0, resets: 1 } }
    }
}

/// What the driver knows: who has which job, and what was kept.
#[derive(Default)]
struct Seen {
    jobs: BTreeMap<CrawlerId, (Job, VecDeque<Ahead>)>,
    away: BTreeSet<CrawlerId>,
    records: Vec<Fact>,
    finished: Option<(bool, Option<StoppedBy>)>,
}

impl Seen {
    fn carry_out(&mut self, effects: Vec<ControllerEffect>) {
        for effect in effects {
            assert!(self.finished.is_none(), "{effect:?} after the end");
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    assert!(!self.away.contains(&crawler), "{crawler:?} is not there");
                    assert!(ahead.len() <= AHEAD);
                    let given = |(job, ahead): &(Job, VecDeque<Ahead>)| {
                        let jobs = std::iter::once(job).chain(ahead.iter().map(|ahead| &ahead.job));
                        jobs.map(|job| (job.state, job.action)).collect::<Vec<_>>()
                    };
                    let new = (job, ahead.into());
                    let mut all: Vec<_> =
                        self.jobs.values().chain([&new]).flat_map(given).collect();
                    let many = all.len();
                    all.sort_unstable();
                    all.dedup();
                    assert_eq!(all.len(), many, "a candidate was given twice");
                    for job in std::iter::once(&new.0).chain(new.1.iter().map(|ahead| &ahead.job)) {
                        for steps in job.walk.windows(2) {
                            assert_eq!(
                                steps[0].to, steps[1].from,
                                "the steps of a walk follow each other"
                            );
                        }
                        assert!(job.walk.last().is_none_or(|last| last.to == job.state));
                    }
                    assert!(
                        self.jobs.insert(crawler, new).is_none(),
                        "{crawler:?} has a job already"
                    );
                }
                ControllerEffect::Keep(record) => self.records.push(record),
                ControllerEffect::Rest { crawler } => assert!(!self.jobs.contains_key(&crawler)),
                ControllerEffect::Finished { complete, stopped_by } => {
                    assert!(self.jobs.is_empty(), "somebody is still working");
                    self.finished = Some((complete, stopped_by));
                }
            }
        }
    }

    /// What one of the crawlers has to say next.
    fn next_input(&mut self, liar: &mut Liar) -> ControllerInput {
        let crawlers = self.jobs.keys().chain(&self.away).copied().collect::<Vec<_>>();
        let crawler = crawlers[liar.0.below(crawlers.len())];
        if self.away.remove(&crawler) {
            return liar.ready(crawler);
        }
        let (job, mut ahead) = self.jobs.remove(&crawler).expect("whoever is not away has a job");
        if liar.0.below(12) == 0 {
            self.away.insert(crawler);
            return ControllerInput::Lost { crawler };
        }
        let mut outcome = liar.outcome(&job);
        match (&mut outcome, ahead.pop_front()) {
            (Outcome::Failed { .. }, _) => {
                self.away.insert(crawler);
            }
            (Outcome::Done { at, .. }, Some(next)) => {
                // Else it would hardly ever come to what was given ahead.
                if liar.0.below(2) == 0 {
                    at.key = next.after;
                }
                if at.key == next.after {
                    self.jobs.insert(crawler, (next.job, ahead));
                }
            }
            (Outcome::Done { .. } | Outcome::Elsewhere { .. }, _) => {}
        }
        ControllerInput::Finished { crawler, job: job.id, outcome, spent: liar.spent(&job) }
    }
}

proptest! {
    #[test]
    fn a_controller_ends_whatever_its_crawlers_say(
        seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..6,
        max_states in 1usize..20, max_actions in 0u64..3_000, max_depth in 0u32..12, limited in 0u32..8
    ) {
        let limits = CrawlLimits {
            max_states: (limited & 1 > 0).then_some(max_states),
            max_actions: (limited & 2 > 0).then_some(max_actions),
            max_depth: (limited & 4 > 0).then_some(max_depth),
        };
        let exploring = StrategySettings { reset_cost: 2.0, seed };
        let settings = ControllerSettings { strategy: &ALL[strategy], exploring, limits, ahead: AHEAD };
        let mut liar = Liar(Chance::new(&[seed]));
        let mut controller = Controller::new(settings);
        let mut seen = Seen { away: (0..crawlers).map(CrawlerId).collect(), ..Seen::default() };
        let mut inputs = 0;
        while seen.finished.is_none() {
            inputs += 1;
            prop_assert!(inputs < MOST_INPUTS, "no end in sight: {:?}", controller.progress());
            if seen.jobs.is_empty() && seen.away.is_empty() {
                // Nobody could say where the initial state is: all rest and are started anew.
                prop_assert!(controller.graph().is_none(), "all rest though there is a state");
                seen.away = (0..crawlers).map(CrawlerId).collect();
                for &crawler in &seen.away {
                    controller.handle(ControllerInput::Lost { crawler }, &mut Vec::new());
                }
            }
            let mut effects = Vec::new();
            let input = match liar.0.below(40) {
                0 => ControllerInput::ResetCost(liar.0.below(20) as f64 / 2.0),
                _ => seen.next_input(&mut liar),
            };
            controller.handle(input, &mut effects);
            seen.carry_out(effects);
        }
        let progress = controller.progress();
        let (complete, stopped_by) = seen.finished.expect("it ended");
        prop_assert_eq!(complete, stopped_by.is_none());
        prop_assert_eq!(complete, progress.unexplored == 0);
        prop_assert!(limits.max_states.is_none_or(|limit| progress.states <= limit));
        prop_assert!(limits.max_actions.is_none_or(|limit| progress.actions <= limit));
        let mut shuffled = seen.records.clone();
        shuffled.extend_from_slice(&seen.records[liar.0.below(seen.records.len() + 1)..]);
        liar.0.shuffle(&mut shuffled);
        let restored = Controller::restore(settings, shuffled);
        prop_assert_eq!(restored.map(|it| it.progress()).ok(), Some(progress), "in any order");
        for cut in [seen.records.len(), liar.0.below(seen.records.len() + 1)] {
            let restored = Controller::restore(settings, seen.records[..cut].to_vec());
            prop_assert!(restored.is_ok(), "{:?}", restored.err());
            if cut == seen.records.len() {
                prop_assert_eq!(restored.map(|it| it.progress()).ok(), Some(progress));
            }
        }
    }
}
