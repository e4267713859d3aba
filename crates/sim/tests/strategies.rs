//! Properties of every strategy on arbitrary applications, and the exact figures that the papers
//! prove or publish.

use argiope_explore::bound;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::job::PlannedJob;
use argiope_explore::model::Model;
use argiope_explore::strategies::{self, ALL};
use argiope_explore::strategy::{NamedStrategy, Strategy, StrategySettings};
use argiope_sim::crawl::{Run, SimulatedCrawl, Spent, crawl};
use argiope_sim::testbeds::{TestbedSpec, filetree, find, hypercube};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

#[path = "shared/applications.rs"]
mod applications;

use crate::applications::any_application;

fn named(name: &str) -> &'static NamedStrategy {
    strategies::find(name).expect("the strategy is registered")
}

fn run(app: &Model, strategy: &str, seed: u64) -> Run {
    crawl(app, named(strategy), StrategySettings { reset_cost: app.reset_cost, seed })
}

fn spent(actions: u64, resets: u64) -> Spent {
    Spent { actions, resets }
}

proptest! {
    #[test]
    fn every_strategy_recovers_the_model_above_the_bound(app in any_application(30), seed in any::<u64>()) {
        let bound = bound::lower_bound(&app, app.reset_cost);
        for described in ALL {
            let settings = StrategySettings { reset_cost: app.reset_cost, seed };
            let mut crawl = SimulatedCrawl::new(&app, described, settings);
            while crawl.step() {}
            prop_assert_eq!(&crawl.model(), &app, "{}", described.name);
            let run = crawl.finish();
            prop_assert_eq!((run.states, run.transitions), (app.states(), app.transitions()));
            prop_assert!(
                run.complete.cost(app.reset_cost) > bound.cost - 1e-6,
                "{} took {:?}, the bound is {:?}", described.name, run.complete, bound
            );
            prop_assert_eq!(&run, &argiope_sim::crawl::crawl(&app, described, settings), "the same seed");
        }
    }
}

/// C(n, floor(n/2)) x ceil(n/2): the least number of resets of a complete crawl of a hypercube.
fn least_resets(n: u64) -> u64 {
    (0..n / 2).fold(1, |product, i| product * (n - i) / (i + 1)) * n.div_ceil(2)
}

#[test]
fn hypercube_is_optimal_on_hypercubes() {
    for n in 2..=12u64 {
        let app = hypercube(n as u32);
        let resets = least_resets(n);
        let actions = n * (1 << n) / 4 + resets * n / 2;
        for seed in 0..3 {
            for strategy in ["hypercube", "adaptive"] {
                let run = run(&app, strategy, seed);
                assert_eq!(
                    run.complete,
                    spent(actions, resets),
                    "{strategy}, dimension {n}, seed {seed}"
                );
            }
        }
        let bound = bound::lower_bound(&app, 3.0);
        assert_eq!((bound.actions, bound.resets), (actions, resets), "dimension {n}");
    }
}

#[test]
fn hypercube_of_ten_dimensions_costs_what_was_published() {
    let app = hypercube(10);
    for seed in 0..5 {
        let hypercube = run(&app, "hypercube", seed);
        assert_eq!(hypercube.complete, spent(8_860, 1_260));
        assert_eq!(hypercube.all_states.resets, 252);
        assert!(hypercube.all_states.actions <= 2_100, "{:?}", hypercube.all_states);
        assert_eq!(run(&app, "breadth-first", seed).complete, spent(28_160, 5_120));
        assert_eq!(run(&app, "breadth-first", seed).all_states, spent(28_070, 5_111));
        assert_eq!(run(&app, "depth-first", seed).complete, spent(23_050, 4_098));
    }
    assert_eq!(bound::lower_bound(&app, 3.0).cost, 12_640.0);
}

#[test]
fn greedy_on_a_hypercube_depends_on_ties_as_published() {
    let app = hypercube(10);
    for seed in 0..10 {
        let run = run(&app, "greedy", seed);
        assert!(
            (8_860..=8_870).contains(&run.complete.actions) && run.complete.resets == 1_260,
            "{run:?}"
        );
        assert!((6_000..=9_000).contains(&run.all_states.actions), "{run:?}");
    }
}

/// Follows menu, and asserts that menu's choice is as near as greedy's.
#[derive(Clone)]
struct MenuBesideGreedy {
    menu: Box<dyn Strategy>,
    greedy: Box<dyn Strategy>,
}

impl Strategy for MenuBesideGreedy {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        self.menu.on_discovered(graph, state, by);
        self.greedy.on_discovered(graph, state, by);
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.menu.on_executed(graph, slot, destination, new);
        self.greedy.on_executed(graph, slot, destination, new);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let (menu, greedy) = (self.menu.choose(graph, at), self.greedy.choose(graph, at));
        let transfer =
            |job: &Option<PlannedJob>| job.as_ref().map(|job| (job.reset, job.walk.len()));
        assert_eq!(transfer(&menu), transfer(&greedy));
        menu
    }
}

#[test]
fn menu_equals_greedy_on_hypercubes_with_the_same_ties() {
    static BOTH: NamedStrategy = NamedStrategy {
        name: "both",
        summary: "",
        help: "",
        make: |settings| {
            let make = |name| (named(name).make)(settings);
            Box::new(MenuBesideGreedy { menu: make("menu"), greedy: make("greedy") })
        },
    };
    for n in 2..=10 {
        for seed in 0..5 {
            crawl(&hypercube(n), &BOTH, StrategySettings { reset_cost: 3.0, seed });
        }
    }
}

#[test]
fn probability_costs_little_more_than_greedy_on_hypercubes() {
    for n in 2..=10 {
        let app = hypercube(n);
        for seed in 0..5 {
            let cost = |strategy| run(&app, strategy, seed).complete.cost(3.0);
            assert!(cost("probability") <= 1.1 * cost("greedy"), "dimension {n}, seed {seed}");
        }
    }
}

#[test]
fn probability_learns_what_greedy_does_not() {
    let Ok(TestbedSpec::Made(recipe)) = find("elfinder-like") else {
        panic!("elfinder-like is a test-bed")
    };
    let app = recipe.model();
    for seed in 0..3 {
        let cost = |strategy| run(&app, strategy, seed).all_states.cost(app.reset_cost);
        assert!(cost("probability") < 0.3 * cost("greedy"), "seed {seed}");
    }
}

#[test]
fn the_file_tree_of_cassandra_is_the_published_test_bed() {
    let app = filetree::cassandra();
    assert_eq!((app.states(), app.transitions()), (163, 4_816));
    assert_eq!(bound::lower_bound(&app, 2.0).cost, 16_735.0);
}

#[test]
fn the_first_load_counts_as_a_reset() {
    let mut app = Model::new("one page", 5.0, vec!["a".into()]);
    app.push_state([(0, 0)]);
    for described in ALL {
        assert_eq!(run(&app, described.name, 0).complete, spent(1, 1), "{}", described.name);
    }
}

#[test]
fn an_application_without_actions_is_complete_at_once() {
    let mut app = Model::new("nothing to do", 5.0, Vec::new());
    app.push_state([]);
    for described in ALL {
        let run = run(&app, described.name, 0);
        assert_eq!((run.complete, run.all_states, run.states), (spent(0, 1), spent(0, 1), 1));
    }
}

/// A strategy that stops although candidates are left.
#[derive(Clone)]
struct Quitter;

impl Strategy for Quitter {
    fn on_discovered(&mut self, _: &Graph, _: StateIndex, _: Option<Slot>) {}

    fn on_executed(&mut self, _: &Graph, _: Slot, _: StateIndex, _: bool) {}

    fn choose(&mut self, _: &Graph, _: StateIndex) -> Option<PlannedJob> {
        None
    }
}

#[test]
#[should_panic(expected = "the strategy chose nothing although 3 candidates are free")]
fn a_strategy_that_ends_early_is_caught() {
    static QUITTER: NamedStrategy =
        NamedStrategy { name: "quitter", summary: "", help: "", make: |_| Box::new(Quitter) };
    crawl(&hypercube(3), &QUITTER, StrategySettings { reset_cost: 3.0, seed: 0 });
}
