//! What is measured of rings of controllers: a crawl by several controllers and many crawlers, as the
//! thesis on crawling with partial knowledge measures it. Threads and progress are the command's; writing
//! it down is `report`'s.

use argiope_controller::peer::settings::Recovery;

use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::{Cluster, Counts, checks};
use argiope_sim::crawler::World;
use argiope_sim::star::{Star, TimeBreakdown};

pub mod formulas;
pub mod published;
pub mod recovery;

/// An application of the thesis in two sizes: as published, and small enough for every scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Testbed {
    /// The application by the thesis' name, as [`published`] lists it.
    pub application: &'static str,
    /// The test-bed of the published size.
    pub full: &'static str,
    /// A test-bed of the same kind for the schemes that are too slow on the full one.
    pub small: &'static str,
    /// One for a quick look.
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
    /// What a reset costs, in actions.
    pub reset_cost: f64,
    /// The name of the scheme.
    pub scheme: &'static str,
    /// What became of what lost controllers knew.
    pub recovery: Recovery,
    /// How many controllers began.
    pub controllers: usize,
    /// How many crawlers began.
    pub crawlers: usize,
    /// How long an action took, in microseconds.
    pub action: u64,
    /// What was counted.
    pub counts: Counts,
    /// What the time of each crawler went into, where the work was divided in advance.
    pub times: Vec<TimeBreakdown>,
    /// Why the result is worth nothing, if so: it did not end, or something is missing in the model.
    pub wrong: Option<String>,
}

/// A crawl whose work was divided in advance.
#[derive(Clone, Debug)]
pub struct Divided {
    /// The name of the strategy of each crawler.
    pub strategy: &'static str,
    /// The name of the division.
    pub division: &'static str,
    /// What came of it.
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
    /// What crawlers spent, in actions.
    pub fn cost(&self) -> f64 {
        self.counts.spent.cost(self.reset_cost)
    }

    /// Simulated seconds from the first load to the end.
    pub fn seconds(&self) -> f64 {
        self.counts.ended_at as f64 / 1e6
    }

    /// Simulated time in actions, so that it compares with crawls in which actions took another time.
    pub fn actions_long(&self) -> f64 {
        self.counts.ended_at as f64 / self.action as f64
    }

    /// Messages of all kinds but those that keep the ring together, for each transition.
    pub fn messages_per_transition(&self) -> f64 {
        self.counts.total_messages() as f64 / self.transitions as f64
    }

    /// How many messages of a kind were sent.
    pub fn messages(&self, kind: &str) -> u64 {
        self.counts.messages.get(kind).copied().unwrap_or(0)
    }

    /// Which part of their time crawlers had nothing to do.
    pub fn idle(&self) -> f64 {
        self.counts.idle_time as f64 / (self.counts.ended_at as f64 * self.crawlers as f64)
    }

    /// So many times faster than another crawl.
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
    fn nobody_is_faster_than_himself() {
        let measured = measured(2);
        assert_eq!(measured.speed_up(&measured), 1.0);
    }
}
