//! What must hold of the journal of any crawl: the set of facts gives the graph, and their order
//! gives the controller.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::Controller;
use argiope_controller::journal::Fact;
use argiope_controller::knowledge::CrawlKnowledge;
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_controller::peer::{Peer, schemes};
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::{Spent, SpentByWriter, WriterId};
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::model::Model;
use argiope_explore::strategies::{self, ALL};
use argiope_explore::strategy::StrategySettings;
use argiope_ring::Key;
use argiope_sim::crawler::{ApplicationFaults, World};
use argiope_sim::fleet::{Fleet, run_fleet};
use proptest::prelude::{any, prop, prop_assert_eq, proptest};

#[path = "shared/applications.rs"]
mod applications;

use crate::applications::any_application;

fn settings(app: &Model, strategy: usize, seed: u64) -> ControllerSettings {
    let exploring = StrategySettings { reset_cost: app.reset_cost, seed };
    let limits = CrawlLimits::default();
    ControllerSettings {
        strategy: &ALL[strategy],
        exploring,
        limits,
        ahead: 0,
        stop_at: StopAt::All,
    }
}

/// An application that misbehaves, with two plain links of which one does not look like it.
fn faults(strays: usize, losses: usize, other_loads: usize) -> ApplicationFaults {
    let links = BTreeMap::from([(0, true), (1, false)]);
    ApplicationFaults { strays, losses, other_loads, links, ..ApplicationFaults::default() }
}

/// What a controller knows, without the order in which it came to know it.
#[derive(Debug, PartialEq)]
struct Found {
    transitions: BTreeSet<(StateKey, ActionSignature, StateKey)>,
    strays: BTreeSet<(StateKey, ActionSignature, StateKey)>,
    landings: BTreeSet<StateKey>,
    /// How many steps there are to each state.
    paths: BTreeMap<StateKey, Option<usize>>,
    counts: [usize; 6],
    spent: Spent,
}

fn found(controller: &Controller) -> Found {
    let Some(graph) = controller.graph() else { panic!("the initial state is known") };
    let known = controller.known();
    let states = || (0..graph.states() as u32).map(StateIndex);
    let name = |slot| graph.signature(graph.action_of(slot));
    let executed = states().flat_map(|state| graph.slots(state));
    let executed = executed.filter(|slot| !graph.closed().contains(slot));
    let transitions = executed.filter_map(|slot| {
        Some((graph.key(slot.state), name(slot), graph.key(graph.target(slot)?)))
    });
    let strays = known.strays().iter().flat_map(|(&slot, others)| {
        others.iter().map(move |&to| (graph.key(slot.state), name(slot), graph.key(to)))
    });
    let paths = controller.paths();
    let path = |state| {
        let key = graph.key(state);
        (key, paths.to(key).map(|path| path.steps.len()))
    };
    let progress = controller.progress();
    Found {
        transitions: transitions.collect(),
        strays: strays.collect(),
        landings: known.landings().iter().map(|&state| graph.key(state)).collect(),
        paths: states().map(path).collect(),
        counts: [
            progress.states,
            progress.transitions,
            progress.unexplored,
            progress.failed,
            progress.links,
            progress.depth as usize,
        ],
        spent: known.spent(),
    }
}

/// What a member of a ring makes of the facts that it kept.
fn facts_of_member(facts: &[Fact]) -> BTreeSet<Fact> {
    let settings = PeerSettings {
        scheme: &schemes::ALL[0],
        strategy: strategies::find("greedy").expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed: 1 },
        seeds: [].into(),
        recovery: Recovery::Redundancy,
        backups: 1,
        successors: 2,
        times: PeerTimeouts::default(),
    };
    let peer = Peer::returning(settings, Key(7), facts);
    let known = peer.known();
    known.graph().all().flat_map(|(_, state)| known.facts(state)).collect()
}

/// The facts in another order, some of them twice.
fn shuffled(facts: &[Fact], seed: u64) -> Vec<Fact> {
    let mut chance = Chance::new(&[seed]);
    let mut shuffled = facts.to_vec();
    for fact in facts {
        if chance.below(4) == 0 {
            shuffled.push(fact.clone());
        }
    }
    chance.shuffle(&mut shuffled);
    shuffled
}

proptest! {
    #[test]
    fn facts_in_any_order_give_the_same_graph(
        app in any_application(24), seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..4,
        (strays, losses, other_loads) in (0usize..300, 0usize..200, 0usize..300)
    ) {
        let world = World::with_faults(&app, faults(strays, losses, other_loads));
        let settings = settings(&app, strategy, seed);
        let fleet = run_fleet(&world, settings, crawlers, seed);
        let expected = found(fleet.controller());
        for order in 0..3 {
            let facts = shuffled(fleet.facts(), seed ^ order);
            let restored = Controller::restore(settings, facts).unwrap();
            prop_assert_eq!(&found(&restored), &expected);
        }
    }

    #[test]
    fn a_member_of_a_ring_makes_the_same_graph_of_facts_in_any_order(
        app in any_application(24), seed in any::<u64>(), strays in 0usize..300, losses in 0usize..200
    ) {
        let world = World::with_faults(&app, faults(strays, losses, 0));
        let fleet = run_fleet(&world, settings(&app, 0, seed), 2, seed);
        let expected = facts_of_member(fleet.facts());
        prop_assert_eq!(facts_of_member(&shuffled(fleet.facts(), seed)), expected);
    }

    #[test]
    fn facts_in_the_same_order_give_the_same_controller(
        app in any_application(24), seed in any::<u64>(), strategy in 0..ALL.len(), crawlers in 1u64..4,
        cut in any::<prop::sample::Index>(), strays in 0usize..300
    ) {
        let world = World::with_faults(&app, faults(strays, 0, 0));
        let settings = settings(&app, strategy, seed);
        let whole = run_fleet(&world, settings, crawlers, seed);
        let facts = &whole.facts()[..cut.index(whole.facts().len() + 1)];
        let go_on = || {
            let controller = Controller::restore(settings, facts.to_vec()).unwrap();
            let mut fleet = Fleet::new(&world, controller, crawlers, seed);
            while fleet.step() {}
            fleet.facts().to_vec()
        };
        prop_assert_eq!(go_on(), go_on());
    }

    #[test]
    fn a_restored_controller_chooses_as_one_that_learned_fact_by_fact(
        app in any_application(24), seed in any::<u64>(), strategy in 0..ALL.len(),
        cut in any::<prop::sample::Index>()
    ) {
        let world = World::new(&app);
        let settings = settings(&app, strategy, seed);
        let whole = run_fleet(&world, settings, 2, seed);
        let facts = &whole.facts()[..cut.index(whole.facts().len() + 1)];
        let mut told = CrawlKnowledge::new(settings);
        facts.iter().for_each(|fact| told.apply(fact).unwrap());
        let mut restored = CrawlKnowledge::restore(settings, facts).unwrap();
        let states = told.graph().map_or(0, |graph| graph.states()) as u32;
        for at in (0..states).map(StateIndex) {
            let chosen = told.explorer().and_then(|explorer| explorer.choose(at));
            let again = restored.explorer().and_then(|explorer| explorer.choose(at));
            prop_assert_eq!(chosen, again);
        }
    }
}

#[test]
fn totals_of_writers_are_merged_by_maximum_and_added_up() {
    let mut spent = SpentByWriter::default();
    let (one, other) = (WriterId(1), WriterId(2));
    for (writer, actions, resets) in [(one, 5, 1), (other, 3, 9), (one, 4, 2), (one, 5, 1)] {
        spent.record(writer, Spent { actions, resets });
    }
    assert_eq!(spent.by(one), Spent { actions: 5, resets: 2 });
    assert_eq!(spent.total(), Spent { actions: 8, resets: 11 });
}
