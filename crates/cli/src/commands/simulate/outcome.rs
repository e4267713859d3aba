//! Crawls of simulated rings as lines of JSON or as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::{Cluster, Counts, checks, spec};
use argiope_sim::crawler::World;
use argiope_sim::star::Star;

/// The result of one crawl by a simulated ring. The fields and their order are stable.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterOutcome {
    strategy: &'static str,
    /// The seed of the random generator.
    pub seed: u64,
    states: usize,
    transitions: usize,
    controllers: usize,
    crawlers: usize,
    scheme: &'static str,
    recovery: &'static str,
    /// Actions, and resets at their cost.
    pub cost: f64,
    /// The time until the end was detected.
    pub simulated_ms: f64,
    /// Messages by kind; those of the ring itself (`ring`) are not in the total.
    messages: BTreeMap<&'static str, u64>,
    messages_total: u64,
    /// The total over the transitions.
    pub messages_per_transition: f64,
    /// Tasks by the length of their path, without those after a reset.
    depths: Vec<u64>,
    /// The share of time that crawlers are idle.
    idle_share: f64,
    failures: u64,
    reexecuted: u64,
    /// Whether the model found equals the application.
    pub model_equal: bool,
    /// What is wrong, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    wall_ms: f64,
}

impl ClusterOutcome {
    /// The outcome of a ring.
    pub fn of(cluster: &Cluster<'_>, wall_ms: f64) -> Self {
        let wrong = checks::check_end(cluster);
        Self::new(cluster.scenario(), cluster.world(), cluster.counts(), wrong, wall_ms)
    }

    /// The outcome of a star.
    pub fn of_star(star: &Star<'_>, wall_ms: f64) -> Self {
        Self::new(star.scenario(), star.world(), star.counts(), star.violation(), wall_ms)
    }

    fn new(
        scenario: &Scenario,
        world: &World<'_>,
        counts: &Counts,
        wrong: Option<String>,
        wall_ms: f64,
    ) -> Self {
        let Scenario { controllers, crawlers, strategy, recovery, reset_cost, seed, .. } =
            *scenario;
        let time = counts.ended_at as f64 * crawlers as f64;
        Self {
            strategy: strategy.name,
            seed,
            states: world.states(),
            transitions: world.transitions(),
            controllers,
            crawlers,
            scheme: scenario.scheme_name(),
            recovery: spec::recovery_name(recovery),
            cost: counts.spent.cost(reset_cost),
            simulated_ms: counts.ended_at as f64 / 1e3,
            messages: counts.messages.clone(),
            messages_total: counts.total_messages(),
            messages_per_transition: counts.total_messages() as f64
                / world.transitions().max(1) as f64,
            depths: counts.depths.clone(),
            idle_share: if time > 0.0 { counts.idle_time as f64 / time } else { 0.0 },
            failures: counts.failures,
            reexecuted: counts.reexecuted,
            model_equal: wrong.is_none(),
            wrong,
            wall_ms,
        }
    }

    /// The line with its end. Only `wall_ms` differs between two equal runs.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("figures are plain data") + "\n"
    }
}

/// A table with a row for each run.
pub fn table(outcomes: &[ClusterOutcome]) -> String {
    let mut text = String::from(
        "seed  scheme          recovery       cost  simulated s  messages/transition  repeated  idle  \
         failures  model\n",
    );
    for outcome in outcomes {
        let _ = writeln!(
            text,
            "{:>4}  {:<14}  {:<10}  {:>7.0}  {:>11.3}  {:>19.2}  {:>8}  {:>3.0}%  {:>8}  {}",
            outcome.seed,
            outcome.scheme,
            outcome.recovery,
            outcome.cost,
            outcome.simulated_ms / 1e3,
            outcome.messages_per_transition,
            outcome.reexecuted,
            outcome.idle_share * 100.0,
            outcome.failures,
            outcome.wrong.as_deref().unwrap_or("equal"),
        );
    }
    text
}
