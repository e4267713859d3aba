//! Controllers share a crawl under injected faults: the checks hold after every step, and the model
//! equals the application at the end.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_explore::model::Model;
use argiope_explore::strategies;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::{Cluster, checks, spec};
use argiope_sim::crawl::signature_of;
use argiope_sim::crawler::{ApplicationFaults, World};
use argiope_sim::testbeds::Recipe;

#[path = "shared/seeds.rs"]
mod seeds;
use seeds::seeds;

/// Fault plans, each with the number of replicas.
const PLANS: &[(&str, usize)] = &[
    ("at:20%,50%,80%", 1),
    ("neighbours:2@50%", 2),
    ("join@10%+join@40%+join@60%", 1),
    ("leave@10%+leave@50%", 1),
    ("join@20%+fail@20%+leave@50%+fail@50%+join@70%+fail@90%", 2),
    ("freeze:2s@30%+freeze:2s@60%", 1),
    // The second controller fails while it, or its neighbour, takes over from the first.
    ("fail@50%+fail@50.5%", 2),
    ("part:2s@40%", 2),
    ("crawlers:at:30%,60%+add-crawler@50%", 1),
    // The controller restarts before and after the others notice its failure.
    ("restart:20ms@20%+restart:400ms@50%+restart:3s@70%", 1),
    // The others take a controller this slow for dead at times.
    ("slow:20@10%+slow:60@40%", 1),
    ("none", 1),
];

fn scenario(app: &Model, scheme: &'static Scheme, recovery: &str, seed: u64) -> Scenario {
    let (plan, backups) = PLANS[(seed % PLANS.len() as u64) as usize];
    let mut scenario = Scenario::new(5, 8, app.reset_cost, seed);
    scenario.scheme = scheme;
    scenario.recovery = spec::parse_recovery(recovery).expect("the name is known");
    scenario.backups = backups;
    scenario.set_pace(None, Some(Latency::Uniform(300, 3_000)));
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
            let (plan, backups) = PLANS[(seed % PLANS.len() as u64) as usize];
            if let Some(wrong) = checks::check_end(&cluster) {
                panic!(
                    "{wrong}; replay it: argiope simulate --testbed site-like --controllers 5 \
                     --crawlers 8 --scheme {name} --recovery {recovery} --backups {backups} \
                     --latency 300us..3ms --failures {plan} --seed {seed} --trace run.trace; \
                     argiope simulate --testbed site-like --replay run.trace"
                );
            }
        }
    }
}

#[test]
fn global_survives() {
    survives("global");
}

#[test]
fn reset_only_survives() {
    survives("reset-only");
}

#[test]
fn local_survives() {
    survives("local");
}

#[test]
fn shared_survives() {
    survives("shared");
}

#[test]
fn forward_survives() {
    survives("forward");
}

#[test]
fn forward_local_survives() {
    survives("forward-local");
}

#[test]
fn forward_global_survives() {
    survives("forward-global");
}

#[test]
fn gossip_survives() {
    survives("gossip");
}

#[test]
fn every_strategy_for_partial_graphs_works_with_every_scheme() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for name in strategies::FOR_PARTIAL_GRAPHS {
        for scheme in schemes::ALL {
            let mut scenario = scenario(&app, scheme, "redundancy", 0);
            scenario.strategy = strategies::find(name).expect("the name is known");
            let mut cluster = Cluster::new(&world, scenario);
            cluster.run();
            assert_eq!(checks::check_end(&cluster), None, "{name} with {}", scheme.name);
        }
    }
}

/// The actions that several states offer and that always lead to the same state. Every other one is
/// recognised as a plain link.
fn links(app: &Model) -> BTreeMap<u32, bool> {
    let mut leads: BTreeMap<u32, (BTreeSet<u32>, usize)> = BTreeMap::new();
    for (action, to) in (0..app.states() as u32).flat_map(|state| app.transitions_from(state)) {
        let (destinations, often) = leads.entry(*action).or_default();
        destinations.insert(*to);
        *often += 1;
    }
    let plain = leads.into_iter().filter(|(_, (to, often))| to.len() == 1 && *often > 1);
    plain.enumerate().map(|(at, (action, _))| (action, at % 2 == 0)).collect()
}

#[test]
fn plain_links_are_followed_once_in_the_whole_crawl() {
    let app = Recipe::Site.model();
    let links = links(&app);
    assert!(links.len() > 5, "too few plain links: {links:?}");
    let world = World::with_faults(
        &app,
        ApplicationFaults { links: links.clone(), ..ApplicationFaults::default() },
    );
    for scheme in schemes::ALL {
        for recovery in spec::RECOVERIES {
            for seed in 0..seeds() / 4 {
                let mut scenario = scenario(&app, scheme, recovery, seed);
                let (plan, _) = PLANS[(seed % PLANS.len() as u64) as usize];
                let context = format!("{}, {recovery}, {plan}, seed {seed}", scheme.name);
                // Crawlers find and follow links early.
                scenario.scheduled_faults.iter_mut().for_each(|(share, _)| *share /= 5.0);
                let mut cluster = Cluster::new(&world, scenario);
                cluster.run();
                assert_eq!(checks::check_end(&cluster), None, "{context}");
                let often = |link: u32| {
                    cluster
                        .executed()
                        .iter()
                        .filter(|&&(_, action)| action == signature_of(link))
                        .count()
                };
                for (&link, &is_recognised) in &links {
                    // Every crawler may follow an unrecognised link until one of them has reported
                    // it. A controller that fails forgets its assignments, so a link is assigned
                    // again.
                    let most = match (is_recognised, plan) {
                        (true, "none") => 1,
                        (true, _) => 2,
                        (false, _) => 12,
                    };
                    let often = often(link);
                    assert!(
                        (1..=most).contains(&often),
                        "{link} was followed {often} times: {context}"
                    );
                }
            }
        }
    }
}

/// An application with two parts that no page leads to, and the actions that load them.
fn application_with_seeds() -> (Model, [u32; 2]) {
    let site = Recipe::Site.model();
    let mut actions = site.actions.clone();
    let seeds = [0, 1].map(|seed| actions.len() as u32 + seed);
    let onwards = actions.len() as u32 + 2;
    actions.extend(["first seed", "second seed", "onwards"].map(str::to_owned));
    let mut app = Model::new("site with seeds", site.reset_cost, actions);
    let first = site.states() as u32;
    let parts = [first, first + 3];
    for state in 0..first {
        let own = site.transitions_from(state).iter().copied();
        let loads = seeds.into_iter().zip(parts);
        app.push_state(own.chain(loads.filter(|_| state == site.initial)));
    }
    for part in parts {
        app.push_state([(onwards, part + 1)]);
        app.push_state([(onwards, part + 2)]);
        app.push_state([]);
    }
    (app, seeds)
}

#[test]
fn no_seed_is_lost() {
    let (app, seeds_of_app) = application_with_seeds();
    let links = seeds_of_app.map(|seed| (seed, true)).into();
    let faults = ApplicationFaults { links, ..ApplicationFaults::default() };
    let world = World::with_faults(&app, faults).with_seeds(seeds_of_app);
    let mut runs = 0;
    for scheme in schemes::ALL {
        for recovery in spec::RECOVERIES {
            for seed in 0..seeds() / 4 {
                let mut scenario = scenario(&app, scheme, recovery, seed);
                let (plan, _) = PLANS[(seed % PLANS.len() as u64) as usize];
                let context = format!("{}, {recovery}, {plan}, seed {seed}", scheme.name);
                // Crawlers load seeds early.
                scenario.scheduled_faults.iter_mut().for_each(|(share, _)| *share /= 20.0);
                let mut links = seeds_of_app.map(signature_of);
                links.sort_unstable();
                scenario.seeds = links.into();
                let mut cluster = Cluster::new(&world, scenario.clone());
                cluster.run();
                assert_eq!(checks::check_end(&cluster), None, "{context}");
                if plan == "none" {
                    let is_load =
                        |(_, action): &&(_, _)| seeds_of_app.map(signature_of).contains(action);
                    assert_eq!(cluster.executed().iter().filter(is_load).count(), 2, "{context}");
                    // The checks notice a seed that is missing.
                    scenario.seeds = [].into();
                    let mut without = Cluster::new(&world, scenario);
                    without.run();
                    assert!(checks::check_end(&without).is_some(), "{context}");
                }
                runs += 1;
            }
        }
    }
    assert!(runs >= schemes::ALL.len(), "the test shows nothing");
}

#[test]
fn with_replicas_only_tasks_in_flight_are_reexecuted() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let mut again = 0;
    for scheme in schemes::ALL {
        for seed in 0..20 {
            // Three failures of one controller each. The ring notices each before the next.
            let mut scenario = scenario(&app, scheme, "redundancy", seed * PLANS.len() as u64);
            scenario.seed = seed;
            scenario.set_pace(None, Some(Latency::Uniform(300, 1_000)));
            let mut cluster = Cluster::new(&world, scenario);
            let mut steps = 0;
            while cluster.step() {
                steps += 1;
                if steps % 200 == 0 {
                    assert_eq!(
                        checks::no_loss::check(&cluster),
                        None,
                        "{} seed {seed}",
                        scheme.name
                    );
                }
            }
            let counts = cluster.counts();
            assert_eq!(counts.failures, 3);
            assert_eq!(counts.redundant_tasks, 0, "{} seed {seed}", scheme.name);
            again += counts.reexecuted;
        }
    }
    assert!(again > 0, "no task was in flight at a failure: the test shows nothing");
}

/// The number of replicas covers every simultaneous loss, and a controller learns when the ring has
/// taken it for dead. Then no task repeats an acknowledged transition.
#[test]
fn acknowledged_transitions_are_not_assigned_again() {
    let plans = [
        ("neighbours:2@50%", 2),
        ("join@10%+join@40%+join@60%", 1),
        ("leave@10%+leave@50%", 1),
        ("join@20%+fail@20%+leave@40%+fail@60%+join@70%+fail@90%", 2),
        ("freeze:2s@30%+freeze:2s@60%", 1),
        // Just long enough that the ring takes the controller for dead.
        ("freeze:400ms@30%+freeze:600ms@60%", 1),
        ("freeze:1s@30%+leave@31%", 1),
        ("leave@30%+freeze:1s@31%", 1),
        // The ring changes before it notices the failure.
        ("fail@11%+leave@12%", 1),
        ("fail@30%+join@31%+leave@50%", 1),
        ("fail@50%+fail@50.5%", 2),
        ("restart:20ms@20%+restart:400ms@50%+restart:3s@70%", 2),
    ];
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for scheme in schemes::ALL {
        for (plan, backups) in plans {
            for seed in 0..seeds() / 10 {
                let mut scenario = scenario(&app, scheme, "redundancy", seed);
                scenario.backups = backups;
                (scenario.scheduled_faults, _) =
                    spec::parse_faults(plan).expect("the plan is valid");
                let mut cluster = Cluster::new(&world, scenario);
                cluster.run();
                assert_eq!(checks::check_end(&cluster), None, "{} {plan} seed {seed}", scheme.name);
                assert_eq!(
                    cluster.counts().redundant_tasks,
                    0,
                    "{} {plan} seed {seed}",
                    scheme.name
                );
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let run = || {
        let scheme = schemes::find("forward-global").expect("the name is known");
        let mut cluster = Cluster::new(&world, scenario(&app, scheme, "redundancy", 4));
        cluster.run();
        cluster.counts().clone()
    };
    assert_eq!(format!("{:?}", run()), format!("{:?}", run()));
}

#[test]
fn acknowledging_a_task_before_its_state_is_kept_loses_states() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let scheme = schemes::find("shared").expect("the name is known");
    let lost = |acknowledges_early: bool| {
        (0..100).find_map(|seed| {
            let mut scenario = Scenario::new(2, 3, app.reset_cost, seed);
            scenario.scheme = scheme;
            scenario.acknowledges_early = acknowledges_early;
            (scenario.scheduled_faults, _) =
                spec::parse_faults("crawlers:at:10%,20%").expect("the plan is valid");
            let mut cluster = Cluster::new(&world, scenario);
            cluster.run();
            checks::check_end(&cluster)
        })
    };
    assert_eq!(lost(false), None);
    assert!(lost(true).is_some(), "the checks did not notice");
}
