//! What the knowledge schemes cost, against each other and against what was published. Simulated
//! counts and times are exact: the same on every machine.

use argiope_controller::peer::schemes;
use argiope_controller::peer::settings::Recovery;
use argiope_explore::model::Model;
use argiope_lab::rings::recovery::{Overhead, best_period};
use argiope_lab::rings::{RingMeasurement, formulas, measure};
use argiope_sim::cluster::scenario::{FaultEvent, Scenario};
use argiope_sim::crawler::World;
use argiope_sim::testbeds::{self, TestbedSpec, random};

fn testbed(name: &str) -> Model {
    match testbeds::find(name) {
        Ok(TestbedSpec::Made(recipe)) => recipe.model(),
        _ => panic!("{name} is no test-bed"),
    }
}

fn crawl(app: &Model, scheme: &str, controllers: usize, crawlers: usize) -> RingMeasurement {
    let mut scenario = Scenario::new(controllers, crawlers, app.reset_cost, 1);
    scenario.scheme = schemes::find(scheme).expect("it is there");
    let measured = measure("it", &World::new(app), &scenario);
    assert_eq!(measured.wrong, None, "{scheme}");
    measured
}

#[test]
fn the_schemes_come_in_the_published_order() {
    let app = testbed("filetree:cassandra");
    let cost = |scheme, controllers| crawl(&app, scheme, controllers, 20).cost();
    let global = cost("global", 20);
    let worst = cost("reset-only", 20);
    assert!(cost("local", 20) < worst);
    // With more controllers each knows less, and nearly everything takes a reset.
    assert!(worst - cost("local", 20) < worst - cost("local", 2), "local does not drift");
    assert!(cost("shared", 20) < cost("local", 20));
    for forward in ["forward", "forward-local", "forward-global", "gossip"] {
        let cost = cost(forward, 20);
        assert!(cost < 1.01 * global, "{forward}: {cost} against {global}");
    }
}

#[test]
fn messages_and_cost_are_within_what_is_promised() {
    let app = testbed("bebop-like");
    let global = crawl(&app, "global", 5, 100).cost();
    for (scheme, most) in [("forward-global", 5.3), ("gossip", 3.5)] {
        let run = crawl(&app, scheme, 5, 100);
        assert!(run.cost() < 1.01 * global, "{scheme}: {} against {global}", run.cost());
        assert!(
            run.messages_per_transition() < most,
            "{scheme}: {}",
            run.messages_per_transition()
        );
        let alone = crawl(&app, scheme, 1, 20);
        assert!(run.speed_up(&alone) > 4.7, "{scheme}: {}", run.speed_up(&alone));
    }
}

#[test]
fn the_best_time_between_copies_is_about_what_the_thesis_computes() {
    let (controllers, crawlers, failures, seeds) = (10, 20, 4, 12);
    let app = random(300, 20, 1);
    let world = World::new(&app);
    let run = |recovery, failures: usize, seed: u64| {
        let mut scenario = Scenario::new(controllers, crawlers, app.reset_cost, seed);
        scenario.recovery = recovery;
        let shift = (seed as f64 * 0.618).fract();
        let share = |at: usize| (at as f64 + shift) / failures as f64;
        scenario.scheduled_faults =
            (0..failures).map(|at| (share(at), FaultEvent::Fail(1))).collect();
        let measured = measure("random:300:20", &world, &scenario);
        assert_eq!(measured.wrong, None, "seed {seed}");
        measured
    };
    let calm: Vec<RingMeasurement> = (0..seeds).map(|seed| run(Recovery::Retry, 0, seed)).collect();
    let time = calm.iter().map(|run| run.counts.ended_at as f64).sum::<f64>() / seeds as f64;
    // Messages take a millisecond.
    let computed = formulas::best_period(1_000.0, failures as f64 / controllers as f64 / time);
    let points: Vec<Overhead> = [0.25, 0.5, 1.0, 2.0, 4.0]
        .into_iter()
        .map(|factor| {
            let period = factor * computed;
            let recovery = Recovery::Combined { period: Some(period as u64) };
            let runs: Vec<RingMeasurement> =
                (0..seeds).map(|seed| run(recovery, failures, seed)).collect();
            Overhead::new("combined", period, 0.0, &runs, &calm)
        })
        .collect();
    let best = best_period(&points).expect("there is one");
    assert!(
        (computed / 1.5..computed * 1.5).contains(&best),
        "{best} instead of {computed}: {points:#?}"
    );
}
