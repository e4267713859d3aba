//! Work divided in advance around one coordinator: the model is the application, nothing is executed twice, and the
//! share of a crawler that is lost is done by others.

use argiope_controller::star::division;
use argiope_explore::strategies;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::spec;
use argiope_sim::crawler::World;
use argiope_sim::star::Star;
use argiope_sim::testbeds::Recipe;

fn scenario(crawlers: usize, division: division::Division, seed: u64) -> Scenario {
    let mut scenario = Scenario::new(1, crawlers, Recipe::Site.model().reset_cost, seed);
    scenario.division = Some(division);
    scenario.latency = Latency::Uniform(300, 3_000);
    scenario
}

#[test]
fn every_action_is_executed_once_by_whoever_it_was_assigned_to() {
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
                assert_eq!(star.wrong(), None, "{what}");
                assert_eq!(star.counts().reexecuted, 0, "{what}");
                let tasks = star.counts().depths.iter().sum::<u64>() + star.counts().by_reset;
                assert_eq!(tasks, app.transitions() as u64, "{what}");
            }
        }
    }
}

#[test]
fn the_share_of_a_lost_crawler_is_done_by_others() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for seed in 0..100 {
        let (_, division) = division::ALL[seed as usize % division::ALL.len()];
        let mut scenario = scenario(5, division, seed);
        let plan = "crawlers:at:0%,20%,60%+add-crawler@30%+add-crawler@70%";
        (scenario.happenings, _) = spec::failures(plan).expect("it is well written");
        let mut star = Star::new(&world, scenario);
        star.run();
        assert_eq!(star.wrong(), None, "seed {seed}");
    }
}

#[test]
fn a_message_for_each_state_is_nearly_all_there_is_to_say() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let mut star = Star::new(&world, scenario(4, division::Division::Stride, 1));
    star.run();
    assert!(star.counts().total() < app.transitions() as u64, "{:?}", star.counts().messages);
}

#[test]
fn a_seed_gives_the_same_crawl_every_time() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let run = || {
        let mut star = Star::new(&world, scenario(4, division::Division::Hash, 3));
        star.run();
        format!("{:?} {:?}", star.counts(), star.times())
    };
    assert_eq!(run(), run());
}
