//! A ring crawls an application whose server remembers which rows of a list were opened: the list
//! never comes back as it was. Nothing is given up that another state offers, and nothing is lost
//! in silence. A state that does not come back is a fact, and the crawl ends.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::journal::Fact;
use argiope_controller::peer::schemes;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::cluster::{Cluster, spec};
use argiope_sim::crawl::{key_of, signature_of};
use argiope_sim::crawler::{World, remembered_rows};

const ROWS: u32 = 6;
/// Fault plans, by the share of all transitions, of which a crawl executes about a third.
const PLANS: &[&str] =
    &["none", "fail@5%", "fail@15%", "crawlers:at:10%", "join@10%", "leave@10%", "freeze:2s@10%"];

/// What the facts say of one state.
#[derive(Default)]
struct Found {
    offers: BTreeSet<ActionSignature>,
    executed: BTreeSet<ActionSignature>,
    given_up: BTreeSet<ActionSignature>,
    is_gone: bool,
}

/// The facts of all controllers together.
fn found(cluster: &Cluster<'_>) -> BTreeMap<StateKey, Found> {
    let mut states: BTreeMap<StateKey, Found> = BTreeMap::new();
    for known in cluster.finishers().iter().map(|peer| peer.known()) {
        let facts = known.graph().all().flat_map(|(_, state)| known.facts(state));
        for fact in facts {
            let Some(key) = fact.state() else { continue };
            let state = states.entry(key).or_default();
            match fact {
                Fact::State { offers, .. } => {
                    state.offers.extend(offers.iter().map(|offered| offered.action));
                }
                Fact::Transition { action, .. } => _ = state.executed.insert(action),
                Fact::GivenUp { action, .. } => _ = state.given_up.insert(action),
                Fact::Gone { .. } => state.is_gone = true,
                _ => {}
            }
        }
    }
    states
}

/// Why the result of a crawl is wrong, if it is.
fn fault(cluster: &Cluster<'_>) -> Option<String> {
    if let Some(violation) = cluster.violation() {
        return Some(violation.to_owned());
    }
    let states = found(cluster);
    let given_up: BTreeSet<_> = states.values().flat_map(|state| &state.given_up).collect();
    let executed: BTreeSet<_> = states.values().flat_map(|state| &state.executed).collect();
    let gone = states.values().filter(|state| state.is_gone).count();
    let is_left = |state: &&Found| {
        let is_settled =
            |action| state.executed.contains(action) || state.given_up.contains(action);
        !state.is_gone && !state.offers.iter().all(is_settled)
    };
    let last = states.get(&key_of(ROWS)).map_or(0, |state| state.executed.len());
    let rows: Vec<ActionSignature> = (0..ROWS).map(signature_of).collect();
    let welcome = signature_of(ROWS);
    match () {
        () if rows.iter().any(|row| given_up.contains(row)) => Some("a row is given up".to_owned()),
        () if !rows.iter().all(|row| executed.contains(row)) => Some("a row is missing".to_owned()),
        () if given_up.contains(&welcome) == executed.contains(&welcome) => {
            Some("the welcome is not settled once".to_owned())
        }
        () if gone == 0 => Some("no state is gone".to_owned()),
        () if last != ROWS as usize => Some(format!("{last} rows of the last list are opened")),
        () => states.values().find(is_left).map(|_| "a living state has open actions".to_owned()),
    }
}

/// The first list offers the welcome alone, so that it is lost in most crawls.
#[test]
fn a_ring_opens_every_row_that_the_server_remembers() {
    let app = remembered_rows(ROWS);
    for scheme in schemes::ALL {
        for (&plan, seed) in PLANS.iter().cycle().zip(0..28) {
            let world = World::remembering(&app);
            let mut scenario = Scenario::new(3, 4, app.reset_cost, seed);
            scenario.scheme = scheme;
            scenario.recovery = spec::parse_recovery("redundancy").expect("the name is known");
            scenario.set_pace(None, Some(Latency::Uniform(300, 3_000)));
            scenario.scheduled_faults = spec::parse_faults(plan).expect("the plan is valid").0;
            scenario.is_checked = true;
            let mut cluster = Cluster::new(&world, scenario);
            cluster.run();
            assert_eq!(fault(&cluster), None, "{} with {plan}, seed {seed}", scheme.name);
        }
    }
}
