//! A controller whose crawlers report random outcomes: it must end, respect its limits and be able
//! to resume from its facts, in any order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies::ALL;
use argiope_explore::strategy::StrategySettings;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

/// The number of states. It is finite, so that a crawl can end.
const STATES: usize = 12;
const ACTIONS: usize = 6;
const AHEAD: usize = 4;
/// Each candidate may fail, get lost or be missed a few times. This is far above the total.
const MAX_INPUTS: usize = 60_000;

struct RandomCrawler(Chance);

impl RandomCrawler {
    /// A random state. It may offer other actions than before, or leave its actions unknown.
    fn sighting(&mut self) -> Sighting {
        let offers = (0..self.0.below(ACTIONS)).map(|_| Offered {
            action: ActionSignature(self.0.below(ACTIONS) as u64),
            once: self.0.below(8) == 0,
        });
        let offers: Vec<Offered> = offers.collect();
        let key = StateKey(self.0.below(STATES) as u128);
        if self.0.below(6) > 0 { Sighting::described(key, offers) } else { Sighting::known(key) }
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
            JobFailure::LoggedOut,
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

/// The driver: the jobs of each crawler, and the facts.
#[derive(Default)]
struct Driver {
    jobs: BTreeMap<CrawlerId, (Job, VecDeque<Ahead>)>,
    away: BTreeSet<CrawlerId>,
    facts: Vec<Fact>,
    finished: Option<(bool, Option<StoppedBy>)>,
}

impl Driver {
    fn apply(&mut self, effects: Vec<ControllerEffect>) {
        for effect in effects {
            assert!(self.finished.is_none(), "{effect:?} after the end");
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    assert!(!self.away.contains(&crawler), "{crawler:?} is away");
                    assert!(ahead.len() <= AHEAD);
                    let given = |(job, ahead): &(Job, VecDeque<Ahead>)| {
                        let jobs = std::iter::once(job).chain(ahead.iter().map(|ahead| &ahead.job));
                        jobs.map(|job| (job.state, job.action)).collect::<Vec<_>>()
                    };
                    let new = (job, ahead.into());
                    let mut all: Vec<_> =
                        self.jobs.values().chain([&new]).flat_map(given).collect();
                    let count = all.len();
                    all.sort_unstable();
                    all.dedup();
                    assert_eq!(all.len(), count, "a candidate was assigned twice");
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
                ControllerEffect::Keep(fact) => self.facts.push(fact),
                ControllerEffect::Rest { crawler } => assert!(!self.jobs.contains_key(&crawler)),
                ControllerEffect::Finished { complete, stopped_by } => {
                    assert!(self.jobs.is_empty(), "a crawler still has a job");
                    self.finished = Some((complete, stopped_by));
                }
            }
        }
    }

    /// The next input of a drawn crawler.
    fn next_input(&mut self, random: &mut RandomCrawler) -> ControllerInput {
        let crawlers = self.jobs.keys().chain(&self.away).copied().collect::<Vec<_>>();
        let crawler = crawlers[random.0.below(crawlers.len())];
        if self.away.remove(&crawler) {
            return random.ready(crawler);
        }
        let (job, mut ahead) = self.jobs.remove(&crawler).expect("a crawler is away or has a job");
        if random.0.below(12) == 0 {
            self.away.insert(crawler);
            return ControllerInput::Lost { crawler };
        }
        let mut outcome = random.outcome(&job);
        match (&mut outcome, ahead.pop_front()) {
            (Outcome::Failed { .. }, _) => {
                self.away.insert(crawler);
            }
            (Outcome::Done { at, .. }, Some(next)) => {
                // Otherwise a prediction would hardly ever be right.
                if random.0.below(2) == 0 {
                    at.key = next.after;
                }
                if at.key == next.after {
                    self.jobs.insert(crawler, (next.job, ahead));
                }
            }
            (Outcome::Done { .. } | Outcome::Elsewhere { .. }, _) => {}
        }
        ControllerInput::Finished { crawler, job: job.id, outcome, spent: random.spent(&job) }
    }
}

proptest! {
    #[test]
    fn a_controller_ends_with_random_crawlers(
        seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..6,
        max_states in 1usize..20, max_actions in 0u64..3_000, max_depth in 0u32..12, limited in 0u32..8
    ) {
        let limits = CrawlLimits {
            max_states: (limited & 1 > 0).then_some(max_states),
            max_actions: (limited & 2 > 0).then_some(max_actions),
            max_depth: (limited & 4 > 0).then_some(max_depth),
        };
        let exploring = StrategySettings { reset_cost: 2.0, seed };
        let settings = ControllerSettings { strategy: &ALL[strategy], exploring, limits, ahead: AHEAD, stop_at: StopAt::All };
        let mut random = RandomCrawler(Chance::new(&[seed]));
        let mut controller = Controller::new(settings);
        let mut driver = Driver { away: (0..crawlers).map(CrawlerId).collect(), ..Driver::default() };
        let mut inputs = 0;
        while driver.finished.is_none() {
            inputs += 1;
            prop_assert!(inputs < MAX_INPUTS, "the crawl does not end: {:?}", controller.progress());
            if driver.jobs.is_empty() && driver.away.is_empty() {
                // No crawler reported the initial state: all are idle and restart.
                prop_assert!(controller.graph().is_none(), "all crawlers are idle although a state is known");
                driver.away = (0..crawlers).map(CrawlerId).collect();
                for &crawler in &driver.away {
                    controller.handle(ControllerInput::Lost { crawler }, &mut Vec::new());
                }
            }
            let mut effects = Vec::new();
            let input = match random.0.below(40) {
                0 => ControllerInput::ResetCost(random.0.below(20) as f64 / 2.0),
                _ => driver.next_input(&mut random),
            };
            controller.handle(input, &mut effects);
            driver.apply(effects);
        }
        let progress = controller.progress();
        let (complete, stopped_by) = driver.finished.expect("the crawl ended");
        prop_assert_eq!(complete, stopped_by.is_none() && progress.failed == 0);
        prop_assert_eq!(stopped_by.is_none(), progress.unexplored == 0);
        prop_assert!(limits.max_states.is_none_or(|limit| progress.states <= limit));
        prop_assert!(limits.max_actions.is_none_or(|limit| progress.actions <= limit));
        let mut shuffled = driver.facts.clone();
        shuffled.extend_from_slice(&driver.facts[random.0.below(driver.facts.len() + 1)..]);
        random.0.shuffle(&mut shuffled);
        let restored = Controller::restore(settings, shuffled);
        prop_assert_eq!(restored.map(|it| it.progress()).ok(), Some(progress), "in any order");
        for cut in [driver.facts.len(), random.0.below(driver.facts.len() + 1)] {
            let restored = Controller::restore(settings, driver.facts[..cut].to_vec());
            prop_assert!(restored.is_ok(), "{:?}", restored.err());
            if cut == driver.facts.len() {
                prop_assert_eq!(restored.map(|it| it.progress()).ok(), Some(progress));
            }
        }
    }
}
