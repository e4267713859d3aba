//! Controllers restart at the worst moments, with the timeouts of real processes: none stays
//! outside the ring, none crawls again after the end, and the model equals the application.

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::peer::settings::PeerTimeouts;
use argiope_explore::model::Model;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::{Cluster, checks, spec};
use argiope_sim::crawler::World;
use argiope_sim::testbeds::Recipe;

#[path = "shared/seeds.rs"]
mod seeds;
use seeds::seeds;

/// Fault plans, each with the number of replicas.
const PLANS: &[(&str, usize)] = &[
    ("return@30%", 1),
    ("return@10%+restart:2s@50%+return@80%", 2),
    ("restart-twice:100ms@30%", 1),
    ("restart-twice:2s@20%+restart-twice:10ms@60%", 1),
    ("storm:8@30%", 2),
    ("blackout:500ms@40%", 1),
    ("restart:5s@20%+leave@50%+restart:10ms@51%", 1),
    ("detach:3s@0%+detach:1s@50%", 1),
];

fn scenario(app: &Model, scheme: &'static Scheme, recovery: &str, seed: u64) -> Scenario {
    let (plan, backups) = PLANS[(seed % PLANS.len() as u64) as usize];
    let mut scenario = Scenario::new(4, 6, app.reset_cost, seed);
    scenario.scheme = scheme;
    scenario.recovery = spec::parse_recovery(recovery).expect("the name is known");
    scenario.backups = backups;
    scenario.set_pace(Some(200_000), Some(Latency::Uniform(300, 3_000)));
    scenario.timeouts = PeerTimeouts::default();
    scenario.connect_time = 200_000;
    (scenario.scheduled_faults, scenario.failures_per_hour) =
        spec::parse_faults(plan).expect("the plan is valid");
    scenario.is_checked = true;
    scenario
}

fn survives(name: &str) {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let scheme = schemes::find(name).expect("the name is known");
    for recovery in spec::RECOVERIES {
        for seed in 0..seeds() {
            let mut cluster = Cluster::new(&world, scenario(&app, scheme, recovery, seed));
            cluster.run();
            let (plan, _) = PLANS[(seed % PLANS.len() as u64) as usize];
            let wrong = checks::check_end(&cluster);
            assert_eq!(wrong, None, "{name}, {recovery}, {plan}, seed {seed}");
        }
    }
}

#[test]
fn global_survives_restarts() {
    survives("global");
}

#[test]
fn reset_only_survives_restarts() {
    survives("reset-only");
}

#[test]
fn local_survives_restarts() {
    survives("local");
}

#[test]
fn shared_survives_restarts() {
    survives("shared");
}

#[test]
fn forward_survives_restarts() {
    survives("forward");
}

#[test]
fn forward_local_survives_restarts() {
    survives("forward-local");
}

#[test]
fn forward_global_survives_restarts() {
    survives("forward-global");
}

#[test]
fn gossip_survives_restarts() {
    survives("gossip");
}

#[test]
fn restarts_that_wait_for_replicas_repeat_nothing() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for scheme in schemes::ALL {
        // Without the wait, it fails within 40 seeds.
        for seed in 0..seeds().div_ceil(4) {
            let mut rolling = scenario(&app, scheme, "redundancy", seed);
            rolling.backups = 1;
            (rolling.scheduled_faults, _) = spec::parse_faults("rolling:9@10%").expect("a plan");
            let mut cluster = Cluster::new(&world, rolling);
            cluster.run();
            assert_eq!(checks::check_end(&cluster), None, "{}, seed {seed}", scheme.name);
            let counts = cluster.counts();
            assert_eq!(counts.redundant_tasks, 0, "{}, seed {seed}", scheme.name);
            assert!(counts.failures > 1, "{}, seed {seed}: no restarts", scheme.name);
        }
    }
}

#[test]
fn controllers_that_answer_late_are_not_taken_for_dead() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let scheme = schemes::find("global").expect("the name is known");
    let mut collected = 0;
    for seed in 0..20 {
        let mut late = scenario(&app, scheme, "redundancy", seed);
        // A question and its answer take 0.4 to 0.9 s; the shortest wait is 0.7 s.
        late.latency = Latency::Uniform(200_000, 450_000);
        late.scheduled_faults.clear();
        let mut cluster = Cluster::new(&world, late);
        cluster.run();
        assert_eq!(checks::check_end(&cluster), None, "seed {seed}");
        collected += cluster.counts().messages.get("collect").copied().unwrap_or_default();
    }
    assert_eq!(collected, 0, "ranges were taken over from live controllers");
}
