//! Crawls that stop when every part is covered, on applications whose parts are known.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::Controller;
use argiope_controller::coverage::CoverageLevel;
use argiope_controller::input::StoppedBy;
use argiope_controller::journal::Fact;
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_explore::model::Model;
use argiope_explore::parts::{StatePart, StateParts};
use argiope_explore::strategies::ALL;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_sim::crawler::World;
use argiope_sim::fleet::run_fleet;

fn testbed(name: &str) -> Model {
    let spec = argiope_sim::testbeds::find(name).expect("a test-bed");
    let argiope_sim::testbeds::TestbedSpec::Made(recipe) = spec else {
        panic!("{name} is made by its name");
    };
    recipe.model()
}

fn settings(app: &Model, strategy: &'static NamedStrategy, stop_at: StopAt) -> ControllerSettings {
    let exploring = StrategySettings { reset_cost: app.reset_cost, seed: 7 };
    ControllerSettings { strategy, exploring, limits: CrawlLimits::default(), ahead: 4, stop_at }
}

/// The parts that were found, and the contexts that were executed.
type Covered = (BTreeSet<StatePart>, BTreeSet<(u64, StatePart)>);

fn covered(facts: &[Fact]) -> Covered {
    let parts = |fact: &Fact| match fact {
        Fact::Parts { state, parts } => Some((*state, parts.clone())),
        _ => None,
    };
    let states: BTreeMap<_, StateParts> = facts.iter().filter_map(parts).collect();
    let context = |fact: &Fact| {
        let Fact::Transition { from, action, .. } = fact else { return None };
        let state = states.get(from)?;
        let action = state.action(*action)?;
        Some((action.deed, state.parts[action.part as usize]))
    };
    let all = states.values().flat_map(|state| state.parts.iter().copied());
    (all.collect(), facts.iter().filter_map(context).collect())
}

/// The applications, and the most transitions that cover their parts.
const COVERED: [(&str, usize); 3] = [("product:3x6", 60), ("grid:17x13", 884), ("tabs:5x6", 200)];

#[test]
fn all_crawlers_cover_the_same_parts_and_contexts() {
    for (name, most) in COVERED {
        let app = testbed(name);
        let world = World::new(&app);
        for strategy in ALL {
            let mut expected: Option<Covered> = None;
            for crawlers in [1, 2, 8] {
                let settings = settings(&app, strategy, StopAt::Parts);
                let fleet = run_fleet(&world, settings, crawlers, 3);
                let said = format!("{name}, {}, {crawlers} crawlers", strategy.name);
                let coverage = fleet.controller().coverage();
                assert_eq!(coverage.contexts, coverage.contexts_executed, "{said}");
                match fleet.finished() {
                    Some((false, Some(StoppedBy::PartsCovered))) => {
                        assert_eq!(coverage.reached, CoverageLevel::Parts, "{said}");
                    }
                    // Nothing was alike.
                    Some((true, None)) => {
                        assert_eq!(coverage.reached, CoverageLevel::All, "{said}");
                    }
                    other => panic!("{said}: {other:?}"),
                }
                let graph = fleet.controller().graph().expect("a state");
                assert!(graph.transitions() <= most, "{said}: {}", graph.transitions());
                let found = covered(fleet.facts());
                assert_eq!(&found, expected.get_or_insert_with(|| found.clone()), "{said}");
                // What waits follows from the facts.
                let restored = Controller::restore(settings, fleet.facts().to_vec());
                let restored = restored.expect("the facts agree").coverage();
                assert_eq!(restored, coverage, "{said}");
            }
        }
    }
}

#[test]
fn the_rest_is_found_if_all_is_wanted() {
    for name in ["product:3x4", "product-coupled:3x4", "list:12", "wizard:4"] {
        let app = testbed(name);
        let world = World::new(&app);
        for strategy in ALL {
            let fleet = run_fleet(&world, settings(&app, strategy, StopAt::Auto), 2, 3);
            let said = format!("{name}, {}", strategy.name);
            assert_eq!(fleet.finished(), Some((true, None)), "{said}");
            // A crawl's model has no parts.
            let found = fleet.model(&app);
            assert_eq!(found.states(), app.states(), "{said}");
            for state in 0..app.states() as u32 {
                let all = |model: &Model| -> BTreeSet<(u32, u32)> {
                    model.transitions_from(state).iter().copied().collect()
                };
                assert_eq!(all(&found), all(&app), "{said}, state {state}");
            }
        }
    }
}
