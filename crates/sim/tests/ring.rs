//! Many controllers share a crawl while everything that can happen to them happens: the model is the application
//! every time, and what must hold always holds after every step.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_explore::model::Model;
use argiope_explore::strategies;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::{Cluster, checks, spec};
use argiope_sim::crawl::signature_of;
use argiope_sim::crawler::{ApplicationFaults, World};
use argiope_sim::testbeds::Recipe;

/// What befalls a crawl, and how many copies there are meanwhile.
const PLANS: &[(&str, usize)] = &[
    ("at:20%,50%,80%", 1),
    ("neighbours:2@50%", 2),
    ("join@10%+join@40%+join@60%", 1),
    ("leave@10%+leave@50%", 1),
    ("join@20%+fail@20%+leave@50%+fail@50%+join@70%+fail@90%", 2),
    ("freeze:2s@30%+freeze:2s@60%", 1),
    // The second is lost while it, or its neighbour, takes over from the first.
    ("fail@50%+fail@50.5%", 2),
    ("part:2s@40%", 2),
    ("crawlers:at:30%,60%+add-crawler@50%", 1),
    // Back before and after the others have noticed that it was gone.
    ("restart:20ms@20%+restart:400ms@50%+restart:3s@70%", 1),
    // Slow enough to be taken for dead at times.
    ("slow:20@10%+slow:60@40%", 1),
    ("none", 1),
];

/// For each scheme and each recovery. `ARGIOPE_LONG=1`: eight hundred; `ARGIOPE_SEEDS=N`: that many.
fn seeds() -> u64 {
    let given = std::env::var_os("ARGIOPE_SEEDS").and_then(|seeds| seeds.into_string().ok());
    let given = given.map(|seeds| seeds.parse().expect("ARGIOPE_SEEDS is a number"));
    given.unwrap_or(if std::env::var_os("ARGIOPE_LONG").is_some() { 800 } else { 200 })
}

fn scenario(app: &Model, scheme: &'static Scheme, recovery: &str, seed: u64) -> Scenario {
    let (plan, backups) = PLANS[(seed % PLANS.len() as u64) as usize];
    let mut scenario = Scenario::new(5, 8, app.reset_cost, seed);
    scenario.scheme = scheme;
    scenario.recovery = spec::parse_recovery(recovery).expect("it is there");
    scenario.backups = backups;
    scenario.set_pace(None, Some(Latency::Uniform(300, 3_000)));
    (scenario.scheduled_faults, scenario.failures_per_hour) =
        spec::parse_faults(plan).expect("it is well written");
    scenario.is_checked = true;
    scenario
}

fn survives(name: &str) {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let scheme = schemes::find(name).expect("it is there");
    for recovery in spec::RECOVERIES {
        for seed in 0..seeds() {
            let mut cluster = Cluster::new(&world, scenario(&app, scheme, recovery, seed));
            cluster.run();
            let (plan, backups) = PLANS[(seed % PLANS.len() as u64) as usize];
            if let Some(wrong) = checks::check_end(&cluster) {
                panic!(
                    "{wrong}; to see it happen: argiope simulate --testbed site-like --controllers 5 \
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
fn every_strategy_for_parts_works_with_every_scheme() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    for name in strategies::FOR_PARTIAL_GRAPHS {
        for scheme in schemes::ALL {
            let mut scenario = scenario(&app, scheme, "redundancy", 0);
            scenario.strategy = strategies::find(name).expect("it is there");
            let mut cluster = Cluster::new(&world, scenario);
            cluster.run();
            assert_eq!(checks::check_end(&cluster), None, "{name} with {}", scheme.name);
        }
    }
}

/// The actions that lead to the same state wherever they are offered, in several states; every other one does not look
/// like a plain link.
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
    assert!(links.len() > 5, "there are hardly any links: {links:?}");
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
                // Links are found and followed early.
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
                for (&link, &looks_like_it) in &links {
                    // One that does not look like it may be tried by every crawler until one of them has come back.
                    // Who was given a link may be forgotten with whoever gave it, and it is given again.
                    let most = match (looks_like_it, plan) {
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

#[test]
fn with_copies_only_what_was_in_flight_is_executed_again() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let mut again = 0;
    for scheme in schemes::ALL {
        for seed in 0..20 {
            // Three failures of one controller each, noticed before the next one.
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
    assert!(again > 0, "nothing was ever in flight: this shows nothing");
}

/// With as many copies as may be lost at once, and everybody knowing when it was taken for dead: then nobody is sent to do
/// what counts already, whoever was told of it.
#[test]
fn what_was_acknowledged_is_not_given_out_again() {
    let plans = [
        ("neighbours:2@50%", 2),
        ("join@10%+join@40%+join@60%", 1),
        ("leave@10%+leave@50%", 1),
        ("join@20%+fail@20%+leave@40%+fail@60%+join@70%+fail@90%", 2),
        ("freeze:2s@30%+freeze:2s@60%", 1),
        // Just long enough to be taken for dead.
        ("freeze:400ms@30%+freeze:600ms@60%", 1),
        ("freeze:1s@30%+leave@31%", 1),
        ("leave@30%+freeze:1s@31%", 1),
        // Before it was noticed that one is gone.
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
                    spec::parse_faults(plan).expect("it is well written");
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
        let scheme = schemes::find("forward-global").expect("it is there");
        let mut cluster = Cluster::new(&world, scenario(&app, scheme, "redundancy", 4));
        cluster.run();
        cluster.counts().clone()
    };
    assert_eq!(format!("{:?}", run()), format!("{:?}", run()));
}

#[test]
fn saying_that_a_task_is_done_before_its_state_is_kept_loses_states() {
    let app = Recipe::Site.model();
    let world = World::new(&app);
    let scheme = schemes::find("shared").expect("it is there");
    let lost = |hasty: bool| {
        (0..100).find_map(|seed| {
            let mut scenario = Scenario::new(2, 3, app.reset_cost, seed);
            scenario.scheme = scheme;
            scenario.acknowledges_early = hasty;
            (scenario.scheduled_faults, _) =
                spec::parse_faults("crawlers:at:10%,20%").expect("it is well written");
            let mut cluster = Cluster::new(&world, scenario);
            cluster.run();
            checks::check_end(&cluster)
        })
    };
    assert_eq!(lost(false), None);
    assert!(lost(true).is_some(), "the checkers did not notice");
}
