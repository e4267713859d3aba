//! Measurements of simulated rings: several controllers and many crawlers, as in the thesis on
//! crawling with partial knowledge. `report` writes them; the command has the threads.

use argiope_controller::peer::settings::Recovery;

use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::{Cluster, Counts, checks};
use argiope_sim::crawler::World;
use argiope_sim::star::{Star, TimeBreakdown};

pub mod formulas;
pub mod published;
pub mod recovery;

/// An application of the thesis: as published, smaller for slow schemes, and for a quick look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Testbed {
    /// The application by the thesis' name, as [`published`] lists it.
    pub application: &'static str,
    /// The test-bed of the published size.
    pub full: &'static str,
    /// A smaller test-bed of the same kind, for the schemes that are too slow on the full one.
    pub small: &'static str,
    /// The test-bed of --quick.
    pub quick: &'static str,
}

/// In the order of figures 4.1 to 4.3.
pub const TESTBEDS: [Testbed; 3] = [
    Testbed {
        application: "ClipMarks",
        full: "clipmarks-like:large",
        small: "clipmarks-like",
        quick: "bank-like",
    },
    Testbed {
        application: "JQuery File Tree",
        full: "filetree:large",
        small: "filetree:cassandra",
        quick: "filetree:httpd",
    },
    Testbed {
        application: "Bebop",
        full: "bebop-like:large",
        small: "bebop-like",
        quick: "site-like",
    },
];

/// A crawl by a ring.
#[derive(Clone, Debug)]
pub struct RingMeasurement {
    /// The name of the test-bed.
    pub testbed: String,
    /// Transitions of the application.
    pub transitions: usize,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
    /// The name of the scheme.
    pub scheme: &'static str,
    /// The failover policy.
    pub recovery: Recovery,
    /// Controllers at the beginning.
    pub controllers: usize,
    /// Crawlers at the beginning.
    pub crawlers: usize,
    /// Duration of an action, in microseconds.
    pub action: u64,
    /// The counts of the simulator.
    pub counts: Counts,
    /// How each crawler spent its time, if the work was divided in advance.
    pub times: Vec<TimeBreakdown>,
    /// Why the result is invalid, if it is: the crawl did not end, or the model is incomplete.
    pub wrong: Option<String>,
}

/// A crawl whose work was divided in advance.
#[derive(Clone, Debug)]
pub struct Divided {
    /// The name of the strategy of each crawler.
    pub strategy: &'static str,
    /// The name of the division.
    pub division: &'static str,
    /// The measurement.
    pub run: RingMeasurement,
}

/// Crawls an application to the end.
pub fn measure(testbed: &str, world: &World<'_>, scenario: &Scenario) -> RingMeasurement {
    let (counts, wrong, times) = if scenario.division.is_some() {
        let mut star = Star::new(world, scenario.clone());
        star.run();
        (star.counts().clone(), star.violation(), star.crawler_times())
    } else {
        let mut cluster = Cluster::new(world, scenario.clone());
        cluster.run();
        (cluster.counts().clone(), checks::check_end(&cluster), Vec::new())
    };
    RingMeasurement {
        testbed: testbed.to_owned(),
        transitions: world.transitions(),
        reset_cost: scenario.reset_cost,
        scheme: scenario.scheme_name(),
        recovery: scenario.recovery,
        controllers: scenario.controllers,
        crawlers: scenario.crawlers,
        action: scenario.action_time,
        counts,
        times,
        wrong,
    }
}

impl RingMeasurement {
    /// The cost of all crawlers, in actions.
    pub fn cost(&self) -> f64 {
        self.counts.spent.cost(self.reset_cost)
    }

    /// Simulated seconds from the first load to the end.
    pub fn seconds(&self) -> f64 {
        self.counts.ended_at as f64 / 1e6
    }

    /// Simulated time in actions, which compares crawls with other durations of an action.
    pub fn actions_long(&self) -> f64 {
        self.counts.ended_at as f64 / self.action as f64
    }

    /// Messages for each transition, without those that maintain the ring.
    pub fn messages_per_transition(&self) -> f64 {
        self.counts.total_messages() as f64 / self.transitions as f64
    }

    /// Messages of a kind.
    pub fn messages(&self, kind: &str) -> u64 {
        self.counts.messages.get(kind).copied().unwrap_or(0)
    }

    /// The share of time that crawlers are idle.
    pub fn idle(&self) -> f64 {
        self.counts.idle_time as f64 / (self.counts.ended_at as f64 * self.crawlers as f64)
    }

    /// How many times faster than another crawl.
    pub fn speed_up(&self, against: &Self) -> f64 {
        against.counts.ended_at as f64 / self.counts.ended_at as f64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use argiope_sim::testbeds::random;

    /// A ring on a small application.
    pub(crate) fn measured(controllers: usize) -> RingMeasurement {
        let model = random(40, 5, 1);
        let world = World::new(&model);
        measure("random:40:5:1", &world, &Scenario::new(controllers, 4, model.reset_cost, 1))
    }

    #[test]
    fn a_measured_crawl_is_complete() {
        let measured = measured(3);
        assert_eq!(measured.wrong, None);
        let tasks = measured.counts.depths.iter().sum::<u64>() + measured.counts.by_reset;
        assert_eq!(tasks, 200);
        assert!(measured.cost() >= 200.0 && measured.seconds() > 0.0);
        assert!((0.0..1.0).contains(&measured.idle()));
    }

    #[test]
    fn a_crawl_is_as_fast_as_itself() {
        let measured = measured(2);
        assert_eq!(measured.speed_up(&measured), 1.0);
    }
}
