//! What a simulated ring is like and what happens to it.

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
pub use argiope_controller::star::NAME as STATIC;
use argiope_controller::star::division::Division;
use argiope_explore::chance::Chance;
use argiope_explore::strategies;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};

/// How long a message takes, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Latency {
    /// Always the same.
    Constant(u64),
    /// Anything between the two.
    Uniform(u64, u64),
    /// Mostly this, but one in twenty takes ten times as long, and one in four hundred a hundred times.
    HeavyTail(u64),
}

impl Latency {
    /// What most messages do not exceed.
    fn slow(self) -> u64 {
        match self {
            Self::Constant(time) | Self::Uniform(_, time) => time.max(1),
            Self::HeavyTail(usual) => 10 * usual.max(1),
        }
    }

    /// Of one message.
    pub fn draw(self, chance: &mut Chance) -> u64 {
        match self {
            Self::Constant(time) => time,
            Self::Uniform(from, to) => from + chance.below((to - from) as usize + 1) as u64,
            Self::HeavyTail(usual) => match chance.below(400) {
                0 => usual * 100,
                1..=19 => usual * 10,
                _ => usual / 2 + chance.below(usual as usize + 1) as u64,
            },
        }
    }
}

/// Something that happens at a time, by the share of the transitions that are done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultEvent {
    /// So many neighbouring controllers fail.
    Fail(usize),
    /// A controller fails, and comes back after so many microseconds with what its disk has kept.
    Restart(u64),
    /// Everything takes a controller so many times as long, from then on.
    Slow(u64),
    /// A controller is silent for so many microseconds, then goes on as if nothing had been.
    Freeze(u64),
    /// The controllers fall into two parts that do not hear each other, for so many microseconds.
    Partition(u64),
    /// A controller joins.
    Join,
    /// A controller leaves in order.
    Leave,
    /// A crawler fails; it is not replaced.
    LoseCrawler,
    /// A crawler comes.
    AddCrawler,
}

/// What a simulated crawl is like.
#[derive(Clone)]
pub struct Scenario {
    /// How many controllers begin.
    pub controllers: usize,
    /// How many crawlers begin.
    pub crawlers: usize,
    /// The knowledge scheme.
    pub scheme: &'static Scheme,
    /// The work is divided among crawlers in advance, around one coordinator: there is no ring, and no scheme.
    pub division: Option<Division>,
    /// The strategy.
    pub strategy: &'static NamedStrategy,
    /// What becomes of what a lost controller knew.
    pub recovery: Recovery,
    /// On how many other controllers there are copies.
    pub backups: usize,
    /// How long messages take.
    pub latency: Latency,
    /// How long an action takes, in microseconds.
    pub action_time: u64,
    /// What a reset costs, in actions.
    pub reset_cost: f64,
    /// How long a controller works on one message, in nanoseconds.
    pub processing_time: u64,
    /// How often controllers see to it that their disks have kept what was written, in microseconds. What was not
    /// kept by then is forgotten when they fail.
    pub sync_interval: u64,
    /// What happens, by the share of the transitions that are done.
    pub scheduled_faults: Vec<(f64, FaultEvent)>,
    /// How often a controller fails, per hour.
    pub failures_per_hour: f64,
    /// How long things take, as controllers are told.
    pub timeouts: PeerTimeouts,
    /// Crawlers say that a task is done before they say where it led, as chapter 3 of the thesis has it. Loses states
    /// when a crawler fails in between; there to show that the checkers notice.
    pub acknowledges_early: bool,
    /// Whether what must hold is checked after every step.
    pub is_checked: bool,
    /// Decides everything that is left to chance.
    pub seed: u64,
}

impl Scenario {
    /// Whether somebody may come back, so that it matters what disks have kept.
    pub fn has_disks(&self) -> bool {
        self.scheduled_faults
            .iter()
            .any(|(_, happening)| matches!(happening, FaultEvent::Restart(_)))
    }

    /// With so many of each, and everything else as usual.
    pub fn new(controllers: usize, crawlers: usize, reset_cost: f64, seed: u64) -> Self {
        let mut scenario = Self {
            controllers,
            crawlers,
            scheme: schemes::find(schemes::DEFAULT).expect("the default is there"),
            division: None,
            strategy: strategies::find("greedy").expect("greedy is there"),
            recovery: Recovery::Retry,
            backups: 1,
            latency: Latency::Constant(1_000),
            action_time: 10_000,
            reset_cost,
            processing_time: 0,
            sync_interval: 50_000,
            scheduled_faults: Vec::new(),
            failures_per_hour: 0.0,
            timeouts: PeerTimeouts::default(),
            acknowledges_early: false,
            is_checked: false,
            seed,
        };
        scenario.set_pace(None, None);
        scenario
    }

    /// Sets how long actions and messages take, and with it how long controllers wait for things.
    pub fn set_pace(&mut self, action: Option<u64>, latency: Option<Latency>) {
        self.action_time = action.unwrap_or(self.action_time).max(1);
        self.latency = latency.unwrap_or(self.latency);
        let (action, slow) = (self.action_time, self.latency.slow());
        self.timeouts = PeerTimeouts {
            task: 20 * action,
            stabilise: 100 * slow,
            answer: 50 * slow,
            resend: 100 * slow,
            idle: 4 * action,
            later: action,
            round: 500 * slow,
        };
    }

    /// The name of the scheme.
    pub fn scheme_name(&self) -> &'static str {
        if self.division.is_some() { STATIC } else { self.scheme.name }
    }

    /// What strategies are told.
    pub fn strategy_settings(&self) -> StrategySettings {
        StrategySettings { reset_cost: self.reset_cost, seed: self.seed }
    }

    /// What controllers are told.
    pub fn peer_settings(&self) -> PeerSettings {
        PeerSettings {
            scheme: self.scheme,
            strategy: self.strategy,
            exploring: self.strategy_settings(),
            recovery: self.recovery,
            backups: self.backups,
            successors: (self.backups + 1).max(3),
            times: self.timeouts,
        }
    }
}
