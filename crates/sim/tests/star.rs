//! A star with work divided in advance: the model equals the application, each action is executed
//! once, the others execute the share of a lost crawler, and lost messages cost only time.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::star::division;
use argiope_explore::model::Model;
use argiope_explore::strategies;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::spec;
use argiope_sim::crawler::{ApplicationFaults, World};
use argiope_sim::star::{Star, StarFaults};
use argiope_sim::testbeds::Recipe;

fn scenario(crawlers: usize, division: division::Division, seed: u64) -> Scenario {
    let mut scenario = Scenario::new(1, crawlers, Recipe::Site.model().reset_cost, seed);
    scenario.division = Some(division);
    scenario.latency = Latency::Uniform(300, 3_000);
    scenario
}

#[test]
fn every_action_is_executed_once() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for (name, division) in division::ALL {
        for strategy in strategies::ALL {
            for crawlers in [1, 2, 7] {
                let mut scenario = scenario(crawlers, division, crawlers as u64);
                scenario.strategy = strategy;
                let mut star = Star::new(&world, scenario);
                star.run();
                let what = format!("{name}, {}, {crawlers} crawlers", strategy.name);
                assert_eq!(star.violation(), None, "{what}");
                assert_eq!(star.counts().reexecuted, 0, "{what}");
                let tasks = star.counts().depths.iter().sum::<u64>() + star.counts().by_reset;
                assert_eq!(tasks, app.transitions() as u64, "{what}");
            }
        }
    }
}

#[test]
fn others_execute_the_share_of_a_lost_crawler() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for seed in 0..100 {
        let (_, division) = division::ALL[seed as usize % division::ALL.len()];
        let mut scenario = scenario(5, division, seed);
        let plan = "crawlers:at:0%,20%,60%+add-crawler@30%+add-crawler@70%";
        (scenario.scheduled_faults, _) = spec::parse_faults(plan).expect("the plan is valid");
        let mut star = Star::new(&world, scenario);
        star.run();
        assert_eq!(star.violation(), None, "seed {seed}");
    }
}

#[test]
fn a_crawl_needs_fewer_messages_than_transitions() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let mut star = Star::new(&world, scenario(4, division::Division::Stride, 1));
    star.run();
    assert!(
        star.counts().total_messages() < app.transitions() as u64,
        "{:?}",
        star.counts().messages
    );
}

#[test]
fn a_seed_gives_the_same_crawl_every_time() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let run = || {
        let mut star = Star::new(&world, scenario(4, division::Division::Hash, 3));
        star.run();
        format!("{:?} {:?}", star.counts(), star.crawler_times())
    };
    assert_eq!(run(), run());
}

/// Actions that lead to the same state from wherever they are offered may be plain links; every
/// second one looks like it.
fn links(app: &Model) -> BTreeMap<u32, bool> {
    let mut leads: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for state in 0..app.states() as u32 {
        for &(action, to) in app.transitions_from(state) {
            leads.entry(action).or_default().insert(to);
        }
    }
    leads.retain(|_, targets| targets.len() == 1);
    leads.into_keys().map(|action| (action, action % 2 == 0)).collect()
}

#[test]
fn one_crawler_follows_each_plain_link_once() {
    let app = Recipe::Site.model();
    // All are recognised: two crawlers may follow an unrecognised link at the same time.
    let links: BTreeMap<u32, bool> = links(&app).into_keys().map(|link| (link, true)).collect();
    assert!(links.len() > 5, "too few plain links: {links:?}");
    let world =
        World::with_faults(&app, ApplicationFaults { links, ..ApplicationFaults::default() });
    for seed in 0..30 {
        let (_, division) = division::ALL[seed as usize % division::ALL.len()];
        let mut star = Star::new(&world, scenario(4, division, seed));
        star.run();
        assert_eq!((star.violation(), star.refollowed_links()), (None, 0), "seed {seed}");
    }
}

#[test]
fn lost_and_duplicated_messages_cost_only_time() {
    let app = Recipe::Site.model();
    let world = World::with_faults(
        &app,
        ApplicationFaults { links: links(&app), ..ApplicationFaults::default() },
    );
    for seed in 0..200 {
        let (_, division) = division::ALL[seed as usize % division::ALL.len()];
        let mut scenario = scenario(5, division, seed);
        let plan = "crawlers:at:20%,60%+add-crawler@30%";
        (scenario.scheduled_faults, _) = spec::parse_faults(plan).expect("the plan is valid");
        let faults =
            StarFaults { messages: [20, 100, 300][seed as usize % 3], restarts: Vec::new() };
        let mut star = Star::with_faults(&world, scenario, faults);
        star.run();
        assert_eq!(star.violation(), None, "seed {seed}");
    }
}

#[test]
fn a_restarted_coordinator_continues_from_its_records() {
    let app = Recipe::Site.model();
    let world = World::with_faults(
        &app,
        ApplicationFaults { links: links(&app), ..ApplicationFaults::default() },
    );
    for seed in 0..200 {
        let (_, division) = division::ALL[seed as usize % division::ALL.len()];
        let mut scenario = scenario(5, division, seed);
        (scenario.scheduled_faults, _) =
            spec::parse_faults("crawlers:at:40%").expect("the plan is valid");
        let faults = StarFaults { messages: 20, restarts: vec![0.0, 0.2, 0.5, 0.8] };
        let mut star = Star::with_faults(&world, scenario, faults);
        star.run();
        assert_eq!(star.violation(), None, "seed {seed}");
    }
}
