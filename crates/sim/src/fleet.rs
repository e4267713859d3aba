//! Several simulated crawlers under one controller, as one machine runs them. A job takes about as
//! long as its actions; the controller hears of jobs in the order in which they end.

use std::collections::{BTreeSet, VecDeque};

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{Outcome, Sighting};
use argiope_controller::settings::ControllerSettings;
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{StateIndex, StateKey};
use argiope_explore::model::Model;

use crate::crawl::model_of;
use crate::crawler::{SimulatedCrawler, World};
use crate::event_loop::{self, EventQueue, Simulation};

/// The mean time of an action. A job takes between a half and one and a half of its mean time.
const TICKS_PER_ACTION: u64 = 1000;

/// What a crawler is doing.
enum CrawlerPhase {
    /// Its browser starts, for the first time or after a failure.
    Starting,
    /// It performs a job. More jobs follow if this one ends as predicted.
    Working(Job, VecDeque<Ahead>),
    Idle,
}

/// A crawl by several crawlers, in progress.
pub struct Fleet<'a> {
    world: &'a World<'a>,
    controller: Controller,
    crawlers: Vec<(SimulatedCrawler, CrawlerPhase)>,
    /// The crawlers that are busy, by the time at which each is done; at equal times, by number.
    done: EventQueue<CrawlerId>,
    chance: Chance,
    /// What a reset takes, in actions.
    reset_cost: f64,
    facts: Vec<Fact>,
    /// The entries that the controller was told of.
    entries: BTreeSet<StateKey>,
    assignments: u64,
    finished: Option<(bool, Option<StoppedBy>)>,
}

impl<'a> Fleet<'a> {
    /// Starts a crawl, or continues one that was restored. The first crawler loads the URL at once;
    /// the others load it when the controller tells them to.
    pub fn new(world: &'a World<'a>, controller: Controller, crawlers: u64, seed: u64) -> Self {
        let reset_cost = controller.known().settings().exploring.reset_cost;
        let crawler =
            |number| (SimulatedCrawler::new(&[seed, 0xC4A3, number]), CrawlerPhase::Starting);
        let mut done = EventQueue::with_limit(u64::MAX);
        for crawler in 0..crawlers {
            done.schedule_ranked(0, crawler, CrawlerId(crawler));
        }
        Self {
            world,
            controller,
            crawlers: (0..crawlers).map(crawler).collect(),
            done,
            chance: Chance::new(&[seed, 0xF1EE7]),
            reset_cost,
            facts: Vec::new(),
            entries: BTreeSet::new(),
            assignments: 0,
            finished: None,
        }
    }

    /// Lets the next crawler finish, and applies the controller's decisions. Returns false once the
    /// crawl is over.
    pub fn step(&mut self) -> bool {
        event_loop::step(self)
    }

    /// Gives the controller an input and applies its effects.
    pub fn tell(&mut self, input: ControllerInput) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        for effect in effects {
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    self.assignments += 1;
                    self.begin(crawler, job, ahead.into());
                }
                ControllerEffect::Keep(fact) => self.facts.push(fact),
                ControllerEffect::Rest { .. } => {}
                ControllerEffect::Finished { complete, stopped_by } => {
                    self.finished = Some((complete, stopped_by));
                }
            }
        }
    }

    /// The controller learns of an entry when a crawler stands there for the first time.
    fn tell_entry(&mut self, at: Option<StateKey>) {
        let entry =
            |&key: &StateKey| self.world.entry(key).is_some() && !self.entries.contains(&key);
        if let Some(key) = at.filter(entry) {
            self.entries.insert(key);
            let at = Sighting::known(key);
            let address = format!("https://app.test/{key:?}");
            self.tell(ControllerInput::Entered { at, address, seed: false, cost: None });
        }
    }

    fn begin(&mut self, crawler: CrawlerId, job: Job, ahead: VecDeque<Ahead>) {
        let resets = f64::from(u8::from(job.reset)) * self.reset_cost;
        let ticks = (resets * TICKS_PER_ACTION as f64) as u64
            + (job.walk.len() as u64 + 1) * TICKS_PER_ACTION;
        let ticks = ticks / 2 + self.chance.below(ticks as usize + 1) as u64;
        self.occupy(crawler, ticks, CrawlerPhase::Working(job, ahead));
    }

    fn occupy(&mut self, crawler: CrawlerId, ticks: u64, phase: CrawlerPhase) {
        self.done.schedule_ranked(ticks, crawler.0, crawler);
        self.crawlers[crawler.0 as usize].1 = phase;
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The facts that the controller has written so far.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// How the crawl ended, once it has: whether it is complete, and what stopped it.
    pub fn finished(&self) -> Option<(bool, Option<StoppedBy>)> {
        self.finished
    }

    /// How often the controller assigned jobs to a crawler.
    pub fn assignments(&self) -> u64 {
        self.assignments
    }

    /// How many crawlers have no job.
    pub fn idle_crawlers(&self) -> usize {
        self.crawlers.iter().filter(|(_, phase)| matches!(phase, CrawlerPhase::Idle)).count()
    }

    /// What the crawl has found, in the application's own numbers. A complete crawl of a faultless
    /// application gives the application.
    pub fn model(&self, app: &Model) -> Model {
        let executed = self.controller.graph().into_iter().flat_map(|graph| {
            let slots = (0..graph.states() as u32).flat_map(|at| graph.slots(StateIndex(at)));
            slots.filter(|slot| !graph.closed().contains(slot)).filter_map(|slot| {
                let action = self.world.action(graph.signature(graph.action_of(slot)));
                let state = |index| self.world.state(graph.key(index));
                Some((state(slot.state), action, state(graph.target(slot)?)))
            })
        });
        model_of(app, executed)
    }
}

impl Simulation for Fleet<'_> {
    type Event = CrawlerId;

    fn events(&mut self) -> &mut EventQueue<CrawlerId> {
        &mut self.done
    }

    fn is_over(&self) -> bool {
        self.finished.is_some()
    }

    fn on_event(&mut self, crawler: CrawlerId) {
        let (simulated, phase) = &mut self.crawlers[crawler.0 as usize];
        let input = match std::mem::replace(phase, CrawlerPhase::Idle) {
            CrawlerPhase::Starting if crawler.0 == 0 && self.done.now() == 0 => {
                let spent = Spent { actions: 0, resets: 1 };
                ControllerInput::Ready { crawler, at: Some(simulated.load(self.world)), spent }
            }
            CrawlerPhase::Starting => {
                ControllerInput::Ready { crawler, at: None, spent: Spent::default() }
            }
            CrawlerPhase::Working(job, mut ahead) => {
                let (outcome, spent) = simulated.perform(self.world, &job);
                match (&outcome, ahead.pop_front()) {
                    (Outcome::Failed { .. }, _) => {
                        self.occupy(crawler, 1, CrawlerPhase::Starting);
                    }
                    (Outcome::Done { at, .. }, Some(next)) if at.key == next.after => {
                        self.begin(crawler, next.job, ahead);
                    }
                    (Outcome::Done { .. } | Outcome::Elsewhere { .. }, _) => {}
                }
                ControllerInput::Finished { crawler, job: job.id, outcome, spent }
            }
            CrawlerPhase::Idle => unreachable!("an idle crawler finishes nothing"),
        };
        let at = match &input {
            ControllerInput::Finished {
                outcome: Outcome::Done { at, .. } | Outcome::Elsewhere { at, .. },
                ..
            } => Some(at.key),
            _ => None,
        };
        self.tell(input);
        self.tell_entry(at);
    }
}

/// Crawls a whole application with several crawlers.
pub fn run_fleet<'a>(
    world: &'a World<'a>,
    settings: ControllerSettings,
    crawlers: u64,
    seed: u64,
) -> Fleet<'a> {
    let mut fleet = Fleet::new(world, Controller::new(settings), crawlers, seed);
    event_loop::run(&mut fleet);
    fleet
}
