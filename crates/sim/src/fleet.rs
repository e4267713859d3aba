//! Several simulated crawlers under one controller. Time is simulated too: jobs take as long as their
//! steps, more or less, and whoever is done first is heard first. One seed gives one trace.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::Outcome;
use argiope_controller::settings::ControllerSettings;
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::model::Model;

use crate::crawler::{SimulatedCrawler, World};

/// An action takes between a half and one and a half of this.
const TICKS_PER_ACTION: u64 = 1000;

/// What a crawler is doing.
enum Doing {
    /// It is being started, or replaced.
    Starting,
    /// What it does, and what it will do then.
    Working(Job, VecDeque<Ahead>),
    Resting,
}

/// A crawl by several crawlers, in progress.
pub struct Fleet<'a> {
    world: &'a World<'a>,
    controller: Controller,
    crawlers: Vec<(SimulatedCrawler, Doing)>,
    /// When who is done with what it is doing.
    clock: BinaryHeap<Reverse<(u64, u64)>>,
    now: u64,
    chance: Chance,
    /// What a reset takes, in actions.
    reset_cost: f64,
    records: Vec<Fact>,
    asked: u64,
    finished: Option<(bool, Option<StoppedBy>)>,
}

impl<'a> Fleet<'a> {
    /// Begins a crawl, or goes on with one that was restored. The first crawler loads the URL; the others
    /// do when they are told to.
    pub fn new(world: &'a World<'a>, controller: Controller, crawlers: u64, seed: u64) -> Self {
        let reset_cost = controller.known().settings().exploring.reset_cost;
        let crawler = |number| (SimulatedCrawler::new(&[seed, 0xC4A3, number]), Doing::Starting);
        Self {
            world,
            controller,
            crawlers: (0..crawlers).map(crawler).collect(),
            clock: (0..crawlers).map(|crawler| Reverse((0, crawler))).collect(),
            now: 0,
            chance: Chance::new(&[seed, 0xF1EE7]),
            reset_cost,
            records: Vec::new(),
            asked: 0,
            finished: None,
        }
    }

    /// Lets the next crawler finish what it is doing, and carries out what the controller makes of it;
    /// false when the crawl is over.
    pub fn step(&mut self) -> bool {
        if self.finished.is_some() {
            return false;
        }
        let Reverse((now, number)) =
            self.clock.pop().expect("somebody is busy until the crawl is over");
        self.now = now;
        let crawler = CrawlerId(number);
        let (simulated, doing) = &mut self.crawlers[number as usize];
        let input = match std::mem::replace(doing, Doing::Resting) {
            Doing::Starting if number == 0 && now == 0 => {
                let spent = Spent { actions: 0, resets: 1 };
                ControllerInput::Ready { crawler, at: Some(simulated.load(self.world)), spent }
            }
            Doing::Starting => {
                ControllerInput::Ready { crawler, at: None, spent: Spent::default() }
            }
            Doing::Working(job, mut ahead) => {
                let (outcome, spent) = simulated.perform(self.world, &job);
                match (&outcome, ahead.pop_front()) {
                    (Outcome::Failed { .. }, _) => {
                        *doing = Doing::Starting;
                        self.clock.push(Reverse((now + 1, number)));
                    }
                    (Outcome::Done { at, .. }, Some(next)) if at.key == next.after => {
                        self.begin(number, next.job, ahead);
                    }
                    (Outcome::Done { .. } | Outcome::Elsewhere { .. }, _) => {}
                }
                ControllerInput::Finished { crawler, job: job.id, outcome, spent }
            }
            Doing::Resting => unreachable!("nobody waits for a crawler that rests"),
        };
        self.tell(input);
        self.finished.is_none()
    }

    /// Tells the controller something and carries out what it asks for.
    pub fn tell(&mut self, input: ControllerInput) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        for effect in effects {
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    self.asked += 1;
                    self.begin(crawler.0, job, ahead.into());
                }
                ControllerEffect::Keep(record) => self.records.push(record),
                ControllerEffect::Rest { .. } => {}
                ControllerEffect::Finished { complete, stopped_by } => {
                    self.finished = Some((complete, stopped_by))
                }
            }
        }
    }

    fn begin(&mut self, number: u64, job: Job, ahead: VecDeque<Ahead>) {
        let resets = f64::from(u8::from(job.reset)) * self.reset_cost;
        let ticks = (resets * TICKS_PER_ACTION as f64) as u64
            + (job.walk.len() as u64 + 1) * TICKS_PER_ACTION;
        let ticks = ticks / 2 + self.chance.below(ticks as usize + 1) as u64;
        self.clock.push(Reverse((self.now + ticks, number)));
        self.crawlers[number as usize].1 = Doing::Working(job, ahead);
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// What has been kept so far.
    pub fn records(&self) -> &[Fact] {
        &self.records
    }

    /// How the crawl ended, once it did: whether it is complete, and what stopped it.
    pub fn finished(&self) -> Option<(bool, Option<StoppedBy>)> {
        self.finished
    }

    /// How often a crawler had to be told what to do.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// How many crawlers have nothing to do.
    pub fn resting(&self) -> usize {
        self.crawlers.iter().filter(|(_, doing)| matches!(doing, Doing::Resting)).count()
    }

    /// What time it is, in actions.
    pub fn now(&self) -> f64 {
        self.now as f64 / TICKS_PER_ACTION as f64
    }

    /// What the crawl has found, with the application's own numbers: its model once it is complete.
    pub fn found(&self, app: &Model) -> Model {
        let mut model = Model::new(app.name.clone(), app.reset_cost, app.actions.clone());
        model.initial = app.initial;
        let mut transitions: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        if let Some(graph) = self.controller.graph() {
            for state in (0..graph.states() as u32).map(StateIndex) {
                let found = transitions.entry(self.world.state(graph.key(state))).or_default();
                found.extend(graph.slots(state).filter_map(|slot| self.transition(graph, slot)));
                found.sort_unstable();
            }
        }
        for state in 0..app.states() as u32 {
            model.push_state(transitions.remove(&state).unwrap_or_default());
        }
        model
    }

    fn transition(&self, graph: &Graph, slot: Slot) -> Option<(u32, u32)> {
        if graph.closed().contains(&slot) {
            return None;
        }
        let action = self.world.action(graph.signature(graph.action_of(slot)));
        Some((action, self.world.state(graph.key(graph.target(slot)?))))
    }
}

/// Crawls a whole application with so many crawlers.
pub fn crawl_together<'a>(
    world: &'a World<'a>,
    settings: ControllerSettings,
    crawlers: u64,
    seed: u64,
) -> Fleet<'a> {
    let mut fleet = Fleet::new(world, Controller::new(settings), crawlers, seed);
    while fleet.step() {}
    fleet
}
