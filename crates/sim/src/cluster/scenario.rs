//! Scenarios: the size, speed and faults of a simulated ring or star.

use std::sync::Arc;

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
pub use argiope_controller::star::NAME as STATIC;
use argiope_controller::star::division::Division;
use argiope_explore::chance::Chance;
use argiope_explore::id::ActionSignature;
use argiope_explore::strategies;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};

/// How long a message takes, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Latency {
    /// Always the same.
    Constant(u64),
    /// Uniformly distributed between the two.
    Uniform(u64, u64),
    /// About this time. One message in twenty takes ten times as long, and one in four hundred a
    /// hundred times.
    HeavyTail(u64),
}

impl Latency {
    /// The time that most messages do not exceed.
    fn slow(self) -> u64 {
        match self {
            Self::Constant(time) | Self::Uniform(_, time) => time.max(1),
            Self::HeavyTail(usual) => 10 * usual.max(1),
        }
    }

    /// Draws the latency of one message.
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

/// A fault, or another change of the ring. It happens once a share of the transitions is executed.
/// Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultEvent {
    /// This number of neighbouring controllers fail.
    Fail(usize),
    /// A controller fails, and restarts after this time with what its disk holds.
    Restart(u64),
    /// A controller restarts as above. It fails again while it joins, and restarts once more.
    RestartTwice(u64),
    /// This number of restarts, one answer timeout apart. Each controller is drawn and is down for
    /// less than one round.
    Storm(usize),
    /// This number of restarts. Each controller is drawn and is down for less than one round; the
    /// next one restarts once every controller is inside the ring and has its replicas.
    Rolling(usize),
    /// All controllers fail at once, and restart after this time.
    Blackout(u64),
    /// A controller fails, and restarts after the crawl has ended.
    Return,
    /// A controller becomes slower by this factor, for good.
    Slow(u64),
    /// A controller freezes for this time, then continues where it stopped.
    Freeze(u64),
    /// The network drops messages between two halves of the ring for this time.
    Partition(u64),
    /// A controller joins.
    Join,
    /// A controller leaves and hands its states over.
    Leave,
    /// A crawler fails. Nothing replaces it.
    LoseCrawler,
    /// A crawler starts.
    AddCrawler,
    /// All crawlers work for another crawl for this time. They abandon their tasks.
    Detach(u64),
}

/// A simulated crawl before it starts.
#[derive(Clone)]
pub struct Scenario {
    /// Controllers at the start.
    pub controllers: usize,
    /// Crawlers at the start.
    pub crawlers: usize,
    /// The knowledge scheme of a ring.
    pub scheme: &'static Scheme,
    /// How a star divides the work among crawlers in advance. Without it the scenario is a ring.
    pub division: Option<Division>,
    /// The strategy.
    pub strategy: &'static NamedStrategy,
    /// The links that load the further addresses with which the crawl begins, in a ring, sorted.
    pub seeds: Arc<[ActionSignature]>,
    /// The failover policy.
    pub recovery: Recovery,
    /// Replicas of each state, beside the owner's.
    pub backups: usize,
    /// The latency of messages.
    pub latency: Latency,
    /// The time of an action, in microseconds.
    pub action_time: u64,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
    /// The time a controller takes to process a message, in nanoseconds.
    pub processing_time: u64,
    /// The longest time until a controller that starts is connected to another one, in
    /// microseconds. Messages between the two are lost until then.
    pub connect_time: u64,
    /// The time between syncs of a controller's disk, in microseconds. A controller that fails
    /// loses what it wrote since the last sync.
    pub sync_interval: u64,
    /// Faults, each with the share of the transitions that is executed when it happens.
    pub scheduled_faults: Vec<(f64, FaultEvent)>,
    /// The rate at which each controller fails, per hour.
    pub failures_per_hour: f64,
    /// The timeouts of controllers.
    pub timeouts: PeerTimeouts,
    /// Crawlers acknowledge a task before they report the state it led to, as in chapter 3 of the
    /// thesis. This loses the state if the crawler fails in between. It proves that the checks
    /// work.
    pub acknowledges_early: bool,
    /// Whether the checks run after every step.
    pub is_checked: bool,
    /// The seed of everything random.
    pub seed: u64,
}

impl Scenario {
    /// Whether controllers may restart, so that their disks matter.
    pub fn has_disks(&self) -> bool {
        let restarts = |fault: &FaultEvent| {
            matches!(
                fault,
                FaultEvent::Restart(_)
                    | FaultEvent::RestartTwice(_)
                    | FaultEvent::Storm(_)
                    | FaultEvent::Rolling(_)
                    | FaultEvent::Blackout(_)
                    | FaultEvent::Return
            )
        };
        self.scheduled_faults.iter().any(|(_, fault)| restarts(fault))
    }

    /// A ring with defaults: no faults, messages of 1 ms, actions of 10 ms.
    pub fn new(controllers: usize, crawlers: usize, reset_cost: f64, seed: u64) -> Self {
        let mut scenario = Self {
            controllers,
            crawlers,
            scheme: schemes::find(schemes::DEFAULT).expect("the default scheme exists"),
            division: None,
            strategy: strategies::find("greedy").expect("greedy exists"),
            seeds: [].into(),
            recovery: Recovery::Retry,
            backups: 1,
            latency: Latency::Constant(1_000),
            action_time: 10_000,
            reset_cost,
            processing_time: 0,
            connect_time: 0,
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

    /// Sets the time of actions and messages, and derives the timeouts of controllers from them.
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

    /// The settings of the strategy.
    pub fn strategy_settings(&self) -> StrategySettings {
        StrategySettings { reset_cost: self.reset_cost, seed: self.seed }
    }

    /// The settings of each controller.
    pub fn peer_settings(&self) -> PeerSettings {
        PeerSettings {
            scheme: self.scheme,
            strategy: self.strategy,
            exploring: self.strategy_settings(),
            seeds: self.seeds.clone(),
            recovery: self.recovery,
            backups: self.backups,
            successors: (self.backups + 1).max(3),
            times: self.timeouts,
        }
    }
}
