//! Simulated rings as a line of JSON each, or as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::{Cluster, Counts, checks, spec};
use argiope_sim::crawler::World;
use argiope_sim::star::Star;

/// What came of one simulated crawl by a ring. The fields and their order are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterOutcome {
    strategy: &'static str,
    /// What was left to chance.
    pub seed: u64,
    states: usize,
    transitions: usize,
    controllers: usize,
    crawlers: usize,
    scheme: &'static str,
    recovery: &'static str,
    /// Actions, and resets at their cost.
    pub cost: f64,
    /// Until the end was noticed.
    pub simulated_ms: f64,
    /// By kind; those that keep the ring together (`ring`) are not in the total.
    messages: BTreeMap<&'static str, u64>,
    messages_total: u64,
    /// Of the total.
    pub messages_per_transition: f64,
    /// Tasks by the number of actions on the way, those after a reset left out.
    depths: Vec<u64>,
    /// The share of the time that crawlers waited.
    idle_share: f64,
    failures: u64,
    reexecuted: u64,
    /// Whether the model that was found is the application.
    pub model_equal: bool,
    /// What was found to be wrong, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    wall_ms: f64,
}

impl ClusterOutcome {
    /// Of a ring's crawl that is over.
    pub fn of(cluster: &Cluster<'_>, wall_ms: f64) -> Self {
        let wrong = checks::check_end(cluster);
        Self::new(cluster.scenario(), cluster.world(), cluster.counts(), wrong, wall_ms)
    }

    /// Of a star's crawl that is over.
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

    /// The line, with its end. `wall_ms` is the only field that differs between two equal runs.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("figures are plain data");
        line.push('\n');
        line
    }
}

/// Several runs as a table, a row each.
pub fn table(outcomes: &[ClusterOutcome]) -> String {
    let mut text = String::from(
        "seed  scheme          recovery       cost  simulated s  messages each  again  idle  failures  model\n",
    );
    for outcome in outcomes {
        let _ = writeln!(
            text,
            "{:>4}  {:<14}  {:<10}  {:>7.0}  {:>11.3}  {:>13.2}  {:>5}  {:>3.0}%  {:>8}  {}",
            outcome.seed,
            outcome.scheme,
            outcome.recovery,
            outcome.cost,
            outcome.simulated_ms / 1e3,
            outcome.messages_per_transition,
            outcome.reexecuted,
            outcome.idle_share * 100.0,
            outcome.failures,
            outcome.wrong.as_deref().unwrap_or("as it is"),
        );
    }
    text
}
