//! Several crawlers under one controller, in applications with and without faults.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::Controller;
use argiope_controller::input::StoppedBy;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::JobFailure;
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_explore::chance::Chance;
use argiope_explore::model::Model;
use argiope_explore::strategies::ALL;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_sim::crawl::{crawl, key_of, signature_of};
use argiope_sim::crawler::{ApplicationFaults, World};
use argiope_sim::fleet::{Fleet, run_fleet};
use argiope_sim::testbeds::{filetree, hypercube};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

#[path = "shared/applications.rs"]
mod applications;

use crate::applications::any_application;

fn settings(app: &Model, strategy: &'static NamedStrategy, seed: u64) -> ControllerSettings {
    let exploring = StrategySettings { reset_cost: app.reset_cost, seed };
    ControllerSettings {
        strategy,
        exploring,
        limits: CrawlLimits::default(),
        ahead: 0,
        stop_at: StopAt::All,
    }
}

/// The same settings with up to eight predicted jobs.
fn looking_ahead(app: &Model, strategy: &'static NamedStrategy, seed: u64) -> ControllerSettings {
    ControllerSettings { ahead: seed as usize % 9, ..settings(app, strategy, seed) }
}

fn with(settings: ControllerSettings, limits: CrawlLimits) -> ControllerSettings {
    ControllerSettings { limits, ..settings }
}

/// The number of executed candidates.
fn executed(records: &[Fact]) -> usize {
    records.iter().filter(|record| matches!(record, Fact::Transition { .. })).count()
}

/// The states and actions that the controller gave up, with the reason.
fn failed(world: &World<'_>, records: &[Fact]) -> BTreeMap<(u32, u32), JobFailure> {
    let failed = records.iter().filter_map(|record| match record {
        Fact::GivenUp { from, action, reason } => {
            Some(((world.state(*from), world.action(*action)), *reason))
        }
        _ => None,
    });
    failed.collect()
}

/// The states within `depth` actions of the initial one.
fn within(app: &Model, depth: usize) -> BTreeSet<u32> {
    let mut reached = BTreeSet::from([app.initial]);
    for _ in 0..depth {
        let next: Vec<u32> = reached
            .iter()
            .flat_map(|&state| app.transitions_from(state))
            .map(|&(_, to)| to)
            .collect();
        reached.extend(next);
    }
    reached
}

proptest! {
    #[test]
    fn every_strategy_recovers_the_model_with_any_number_of_crawlers(
        app in any_application(24), seed in any::<u64>()
    ) {
        let world = World::new(&app);
        for strategy in ALL {
            for crawlers in [1, 2, 3, 8] {
                let settings = looking_ahead(&app, strategy, seed);
                let mut fleet = Fleet::new(&world, Controller::new(settings), crawlers, seed);
                while fleet.step() {
                    let free = fleet.controller().graph().map_or(0, |graph| graph.free());
                    prop_assert!(fleet.idle_crawlers() == 0 || free == 0, "{} crawlers rest", fleet.idle_crawlers());
                }
                let context = format!("{}, {crawlers} crawlers", strategy.name);
                prop_assert_eq!(fleet.finished(), Some((true, None)), "{}", context);
                prop_assert_eq!(&fleet.model(&app), &app, "{}", context);
                prop_assert_eq!(executed(fleet.facts()), app.transitions(), "each once: {}", context);
                let again = run_fleet(&world, settings, crawlers, seed);
                prop_assert_eq!(fleet.facts(), again.facts(), "the same seed: {}", context);
            }
        }
    }

    #[test]
    fn a_fleet_of_one_is_the_lone_crawler(mut app in any_application(24), seed in any::<u64>()) {
        // A fleet learns of an entry after the next job is assigned, the lone crawler before.
        app.entries.clear();
        let world = World::new(&app);
        for strategy in ALL {
            let fleet = run_fleet(&world, settings(&app, strategy, seed), 1, seed);
            let run = crawl(&app, strategy, StrategySettings { reset_cost: app.reset_cost, seed });
            prop_assert_eq!(fleet.controller().known().spent(), run.complete, "{}", strategy.name);
        }
    }

    #[test]
    fn a_crawl_of_a_faulty_application_ends(
        app in any_application(24), seed in any::<u64>(),
        (strays, hangs, losses) in (0usize..300, 0usize..200, 0usize..200),
        (other_loads, failed_loads, drifts) in (0usize..300, 0usize..200, 0usize..200),
    ) {
        let faults = ApplicationFaults { strays, hangs, losses, other_loads, failed_loads, drifts, ..ApplicationFaults::default() };
        let world = World::with_faults(&app, faults);
        for strategy in ALL {
            for crawlers in [1, 3] {
                let fleet = run_fleet(&world, looking_ahead(&app, strategy, seed), crawlers, seed);
                let (complete, stopped_by) = fleet.finished().expect("it ended");
                prop_assert!(stopped_by.is_none_or(|by| by == StoppedBy::NotLoaded));
                let progress = fleet.controller().progress();
                prop_assert_eq!(complete, stopped_by.is_none() && progress.failed == 0);
                prop_assert_eq!(progress.in_flight, 0);
                if stopped_by.is_none() {
                    prop_assert_eq!(progress.unexplored, 0);
                }
                let settled = executed(fleet.facts()) + failed(&world, fleet.facts()).len();
                let restored = Controller::restore(looking_ahead(&app, strategy, seed), fleet.facts().to_vec());
                prop_assert_eq!(restored.unwrap().progress(), progress);
                prop_assert_eq!(settled, progress.transitions + progress.failed);
            }
        }
    }

    #[test]
    fn actions_that_fail_every_time_are_given_up_and_nothing_else_is(
        app in any_application(24), seed in any::<u64>(), share in 0usize..300
    ) {
        let mut chance = Chance::new(&[seed]);
        let actions = |state| app.transitions_from(state).iter().map(move |&(action, _)| (state, action));
        let all = (0..app.states() as u32).flat_map(actions);
        // Action 8 leads to the next state. It works, so that every state is reachable.
        let broken: BTreeSet<_> = all.filter(|&(_, it)| it != 8 && chance.below(1000) < share).collect();
        let world = World::with_faults(&app, ApplicationFaults { broken: broken.clone(), ..ApplicationFaults::default() });
        for strategy in ALL {
            for crawlers in [1, 2, 8] {
                let fleet = run_fleet(&world, looking_ahead(&app, strategy, seed), crawlers, seed);
                prop_assert_eq!(fleet.finished(), Some((broken.is_empty(), None)));
                let failed = failed(&world, fleet.facts());
                prop_assert!(failed.values().all(|&reason| reason == JobFailure::Hung));
                prop_assert_eq!(failed.into_keys().collect::<BTreeSet<_>>(), broken.clone());
                prop_assert_eq!(executed(fleet.facts()), app.transitions() - broken.len());
            }
        }
    }

    #[test]
    fn a_crawl_resumed_from_any_record_ends_with_the_same_model(
        app in any_application(24), seed in any::<u64>(), cut in any::<prop::sample::Index>(),
        strategy in 0..ALL.len(), crawlers in 1u64..5
    ) {
        let world = World::new(&app);
        let settings = looking_ahead(&app, &ALL[strategy], seed);
        let whole = run_fleet(&world, settings, crawlers, seed);
        let cut = cut.index(whole.facts().len() + 1);
        let mut records = whole.facts()[..cut].to_vec();
        let controller = Controller::restore(settings, records.clone()).unwrap();
        let mut fleet = Fleet::new(&world, controller, crawlers, seed);
        while fleet.step() {}
        prop_assert_eq!(fleet.finished(), Some((true, None)));
        prop_assert_eq!(&fleet.model(&app), &app);
        // No fact is written twice; the facts before and after the cut make one crawl.
        records.extend_from_slice(fleet.facts());
        let joined = Controller::restore(settings, records).unwrap();
        prop_assert_eq!(joined.progress(), fleet.controller().progress());
    }

    #[test]
    fn limits_are_kept(
        app in any_application(24), seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..9,
        max_states in 1usize..30, max_actions in 0u64..200, max_depth in 0u32..8
    ) {
        let world = World::new(&app);
        let settings = looking_ahead(&app, &ALL[strategy], seed);
        let crawl = |limits| run_fleet(&world, with(settings, limits), crawlers, seed);

        let fleet = crawl(CrawlLimits { max_states: Some(max_states), ..CrawlLimits::default() });
        let states = fleet.controller().progress().states;
        prop_assert!(states <= max_states);
        match fleet.finished() {
            Some((true, None)) => prop_assert_eq!(&fleet.model(&app), &app),
            Some((false, Some(StoppedBy::MaxStates))) => prop_assert_eq!(states, max_states),
            other => panic!("the crawl ended as {other:?}"),
        }

        let fleet = crawl(CrawlLimits { max_actions: Some(max_actions), ..CrawlLimits::default() });
        prop_assert!(fleet.controller().progress().actions <= max_actions);
        match fleet.finished() {
            Some((true, None)) => prop_assert_eq!(&fleet.model(&app), &app),
            Some((false, Some(StoppedBy::MaxActions))) => {}
            other => panic!("the crawl ended as {other:?}"),
        }

        let fleet = crawl(CrawlLimits { max_depth: Some(max_depth), ..CrawlLimits::default() });
        let near = within(&app, max_depth as usize);
        let candidates: usize = near.iter().map(|&state| app.transitions_from(state).len()).sum();
        prop_assert_eq!(executed(fleet.facts()), candidates);
        let seen = within(&app, max_depth as usize + 1);
        let all = seen.iter().map(|&state| app.transitions_from(state).len()).sum::<usize>() == candidates;
        let expected = if all { (true, None) } else { (false, Some(StoppedBy::MaxDepth)) };
        prop_assert_eq!(fleet.finished(), Some(expected));
    }

    #[test]
    fn plain_links_are_followed_once(
        app in any_application(24), seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..5,
        is_recognised in any::<bool>()
    ) {
        // Actions 0 and 1 lead to the same state from everywhere, so one execution of each
        // suffices.
        let mut site = Model::new("site", app.reset_cost, app.actions.clone());
        for state in 0..app.states() as u32 {
            let last = app.states() as u32 - 1;
            let link = |&(it, to): &(u32, u32)| (it, match it { 0 => 0, 1 => last, _ => to });
            site.push_state(app.transitions_from(state).iter().map(link));
        }
        let links = BTreeMap::from([(0, is_recognised), (1, is_recognised)]);
        let world = World::with_faults(&site, ApplicationFaults { links, ..ApplicationFaults::default() });
        let fleet = run_fleet(&world, settings(&site, &ALL[strategy], seed), crawlers, seed);
        prop_assert_eq!(fleet.finished(), Some((true, None)));
        let times = |link| fleet.facts().iter().filter(|record| {
            matches!(record, Fact::Transition { action, .. } if *action == signature_of(link))
        }).count();
        let offers = |state, link| site.transitions_from(state).iter().any(|it| it.0 == link);
        let offered = |link| (0..site.states() as u32).any(|state| offers(state, link));
        for link in [0, 1] {
            // A crawler that is about to follow a link keeps its job when the link proves plain.
            let most = if is_recognised { 1 } else { crawlers as usize };
            prop_assert!((usize::from(offered(link))..=most).contains(&times(link)), "{} times", times(link));
        }
        let progress = fleet.controller().progress();
        prop_assert_eq!(progress.states, site.states());
        let restored = Controller::restore(settings(&site, &ALL[strategy], seed), fleet.facts().to_vec());
        prop_assert_eq!(restored.unwrap().progress(), progress);
    }
}

#[test]
fn every_state_has_a_shortest_path_that_leads_there() {
    let app = filetree::cassandra();
    let world = World::new(&app);
    let adaptive = ALL.iter().find(|strategy| strategy.name == "adaptive").unwrap();
    let fleet = run_fleet(&world, settings(&app, adaptive, 1), 3, 1);
    let paths = fleet.controller().paths();
    for state in 0..app.states() as u32 {
        let path = paths.to(key_of(state)).unwrap().steps;
        assert!(within(&app, path.len()).contains(&state));
        assert!(path.is_empty() || !within(&app, path.len() - 1).contains(&state));
        let end = path.iter().fold(key_of(app.initial), |at, step| {
            assert_eq!(at, step.from);
            step.to
        });
        assert_eq!(end, key_of(state));
    }
    let model = fleet
        .controller()
        .model("tree", |signature| app.actions[world.action(signature) as usize].clone());
    assert_eq!((model.states(), model.transitions(), model.initial), (163, 4_816, 0));
}

#[test]
fn several_crawlers_cost_little_more_than_one() {
    let adaptive = ALL.iter().find(|strategy| strategy.name == "adaptive").unwrap();
    for app in [filetree::cassandra(), hypercube(10)] {
        let world = World::new(&app);
        for seed in 0..3 {
            let cost = |crawlers| {
                let fleet = run_fleet(&world, settings(&app, adaptive, seed), crawlers, seed);
                fleet.controller().known().spent().cost(app.reset_cost)
            };
            let alone = cost(1);
            assert!(cost(2) < 1.02 * alone && cost(8) < 1.03 * alone, "{}, seed {seed}", app.name);
        }
    }
}

#[test]
fn prediction_costs_little_and_saves_assignments() {
    let adaptive = ALL.iter().find(|strategy| strategy.name == "adaptive").unwrap();
    for (app, most, most_assigned) in [(filetree::cassandra(), 1.01, 0.2), (switches(8), 1.1, 0.4)]
    {
        let world = World::new(&app);
        for seed in 0..3 {
            for crawlers in [1, 2] {
                let crawl = |ahead| {
                    let settings = ControllerSettings { ahead, ..settings(&app, adaptive, seed) };
                    let fleet = run_fleet(&world, settings, crawlers, seed);
                    assert_eq!(executed(fleet.facts()), app.transitions());
                    (fleet.controller().known().spent().cost(app.reset_cost), fleet.assignments())
                };
                let (alone, _) = crawl(0);
                let (cost, assigned) = crawl(7);
                let assigned = assigned as f64 / app.transitions() as f64;
                assert!(cost < most * alone, "{}, seed {seed}: {}", app.name, cost / alone);
                assert!(assigned < most_assigned, "{}, seed {seed}: {assigned}", app.name);
            }
        }
    }
}

/// Independent switches, each of which can be turned on and off.
fn switches(count: u32) -> Model {
    let names = (0..count).map(|switch| format!("switch {switch}")).collect();
    let mut app = Model::new("switches", 20.0, names);
    for state in 0..1 << count {
        app.push_state((0..count).map(|switch| (switch, state ^ 1 << switch)));
    }
    app
}
