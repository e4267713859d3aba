//! Journals: each entry is a fact of any kind and version, and decodes or is refused. The facts
//! that decode give the same graph in any order, or are refused in any order. Members of a ring and
//! coordinators of a star restart with them.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput};
use argiope_controller::job::{CrawlerId, Transition};
use argiope_controller::journal::encoding::{EncodedFact, FactError};
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::knowledge::CrawlKnowledge;
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::PeerInput;
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::{Spent, WriterId};
use argiope_controller::star::Coordinator;
use argiope_controller::star::coordinator::{CoordinatorInput, CoordinatorTimeouts};
use argiope_controller::star::division::{Division, DivisionPlan};
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::model::{Model, ModelReadOptions};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_ring::Key;

use super::FuzzTarget;
use crate::frames;
use crate::reached::{Reached, bucket};
use crate::world;

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "facts",
    about: "journals with hostile facts give one graph in any order, or an error",
    framed: true,
    tokens: &[],
    run,
    seeds,
};

/// How many jobs of a restored crawl are executed.
const RESUMED: usize = 12;

fn run(input: &[u8]) -> Reached {
    let mut reached = Reached::default();
    let mut facts = Vec::new();
    for entry in frames::split(input) {
        match read(&entry) {
            Ok(fact) => {
                let bytes = postcard::to_stdvec(&fact).expect("facts can be encoded");
                assert_eq!(postcard::from_bytes::<Fact>(&bytes).as_ref(), Ok(&fact));
                reached.accept(std::mem::discriminant(&fact));
                facts.push(fact);
            }
            Err(error) => reached.refuse(error),
        }
    }
    restore_alone(&facts, input.len() as u64, &mut reached);
    restart_peers(&facts);
    restart_coordinator(&facts, &mut reached);
    reached
}

/// Reads an entry as a store does: whole, and only what this program knows.
fn read(entry: &[u8]) -> Result<Fact, String> {
    match postcard::take_from_bytes::<EncodedFact<'_>>(entry) {
        Ok((encoded, [])) => encoded.decode().map_err(|error| match error {
            FactError::UnknownKind(_) => "unknown kind".to_owned(),
            FactError::UnknownVersion { name, .. } => format!("version of {name}"),
            other => other.to_string(),
        }),
        Ok(_) => Err("bytes too many".to_owned()),
        Err(_) => Err("not a fact".to_owned()),
    }
}

fn settings(seed: u64) -> ControllerSettings {
    ControllerSettings {
        strategy: &strategies::ALL[seed as usize % strategies::ALL.len()],
        exploring: StrategySettings { reset_cost: 2.0, seed },
        limits: CrawlLimits {
            max_depth: seed.is_multiple_of(3).then_some(2),
            ..CrawlLimits::default()
        },
        ahead: 0,
        stop_at: StopAt::All,
    }
}

/// What a graph says, without the order in which it was learned.
#[derive(Debug, PartialEq)]
struct Said {
    initial: Option<StateKey>,
    /// The states, with what was executed in each and what is left.
    states: BTreeMap<StateKey, (BTreeMap<ActionSignature, StateKey>, BTreeSet<ActionSignature>)>,
    strays: BTreeSet<(StateKey, ActionSignature, StateKey)>,
    landings: BTreeSet<StateKey>,
    counts: (usize, usize, u32),
    spent: (u64, u64),
}

fn said(known: &CrawlKnowledge) -> Said {
    let mut states = BTreeMap::new();
    let mut strays = BTreeSet::new();
    let mut landings = BTreeSet::new();
    let graph = known.graph();
    if let Some(graph) = graph {
        for state in (0..graph.states() as u32).map(StateIndex) {
            let (mut executed, mut left) = (BTreeMap::new(), BTreeSet::new());
            for slot in graph.slots(state).filter(|slot| !graph.closed().contains(slot)) {
                let action = graph.signature(graph.action_of(slot));
                match graph.target(slot) {
                    Some(to) => _ = executed.insert(action, graph.key(to)),
                    None => _ = left.insert(action),
                }
            }
            states.insert(graph.key(state), (executed, left));
        }
        for (&slot, others) in known.strays() {
            let action = graph.signature(graph.action_of(slot));
            let from = graph.key(slot.state);
            strays.extend(others.iter().map(|&to| (from, action, graph.key(to))));
        }
        landings.extend(known.landings().iter().map(|&state| graph.key(state)));
    }
    let spent = known.spent();
    Said {
        initial: graph.map(|graph| graph.key(StateIndex(0))),
        states,
        strays,
        landings,
        counts: (known.states(), known.links(), known.depth()),
        spent: (spent.actions, spent.resets),
    }
}

/// A crawl on one machine: its facts in any order and more than once.
fn restore_alone(facts: &[Fact], seed: u64, reached: &mut Reached) {
    let restored = CrawlKnowledge::restore(settings(seed), facts);
    let mut chance = Chance::new(&[seed]);
    for _ in 0..2 {
        let mut others = facts.to_vec();
        if let Some(fact) = facts.get(chance.below(facts.len() + 1)) {
            others.push(fact.clone());
        }
        chance.shuffle(&mut others);
        let again = CrawlKnowledge::restore(settings(seed), &others);
        match (&restored, &again) {
            (Ok(restored), Ok(again)) => assert_eq!(said(restored), said(again), "{others:?}"),
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) | (Err(error), Ok(_)) => {
                panic!("only one order is refused, with {error:?}: {facts:?} or {others:?}")
            }
        }
    }
    match restored {
        Ok(known) => {
            let said = said(&known);
            let landings = said.landings.len().min(3);
            reached.note((bucket(said.states.len()), bucket(said.strays.len()), landings));
            reached.note((
                bucket(known.links()),
                bucket(known.given_up().values().sum()),
                bucket(known.states()),
            ));
            let executed = said.states.values().map(|(executed, _)| executed.len()).sum();
            let left = said.states.values().map(|(_, left)| left.len()).sum();
            reached.note((bucket(executed), bucket(left), known.depth().min(9)));
            let waiting = known.states().saturating_sub(said.states.len());
            reached.note((bucket(waiting), said.strays.len().min(3), known.unsettled().min(3)));
        }
        Err(error) => reached.note(("contradiction", error.what)),
    }
    if let Ok(mut controller) = Controller::restore(settings(seed), facts.to_vec()) {
        check_export(&controller);
        resume(&mut controller, facts, &mut chance);
    }
}

/// Goes on with a restored crawl for a while. Crawlers report states that facts name.
fn resume(controller: &mut Controller, facts: &[Fact], chance: &mut Chance) {
    let mut keys: Vec<StateKey> = facts.iter().filter_map(Fact::state).collect();
    keys.extend(facts.iter().filter_map(Fact::destination));
    keys.push(StateKey(5));
    let sighting = |chance: &mut Chance| {
        let action = |number| Offered { action: ActionSignature(number), once: number == 6 };
        let offers = (0..chance.below(4)).map(|_| action(chance.below(9) as u64)).collect();
        Sighting::described(keys[chance.below(keys.len())], offers)
    };
    let crawler = CrawlerId(1);
    let spent = Spent { actions: 1, resets: 0 };
    let mut effects = Vec::new();
    let ready = ControllerInput::Ready { crawler, at: Some(sighting(chance)), spent };
    controller.handle(ready, &mut effects);
    for _ in 0..RESUMED {
        let job = effects.drain(..).find_map(|effect| match effect {
            ControllerEffect::Assign { job, .. } => Some(job),
            _ => None,
        });
        let Some(job) = job else { return };
        let at = sighting(chance);
        let outcome = match chance.below(3) {
            0 => Outcome::Elsewhere { went_right: 0, at },
            _ => Outcome::Done { at, notes: Vec::new(), once: false },
        };
        let finished = ControllerInput::Finished { crawler, job: job.id, outcome, spent };
        controller.handle(finished, &mut effects);
    }
}

/// What a restored crawl exports can be read.
fn check_export(controller: &Controller) {
    let Some(graph) = controller.graph() else { return };
    let model = controller.model("journal", |action| format!("{action:?}"));
    assert_eq!(model.states(), graph.states());
    let options = ModelReadOptions { allow_unreachable: true, ..ModelReadOptions::default() };
    let text = model.to_json();
    assert_eq!(Model::from_json(text.as_bytes(), options), Ok(model));
    let paths = controller.paths();
    for state in (0..graph.states() as u32).map(StateIndex) {
        if let Some(path) = paths.to(graph.key(state)) {
            assert!(path.steps.windows(2).all(|steps| steps[0].to == steps[1].from));
        }
    }
}

/// Members of a ring that restart with these facts on their disks.
fn restart_peers(facts: &[Fact]) {
    let me = Key(9 << 120);
    for scheme in [0, 5] {
        let settings = world::peer_settings(scheme, 0, 1, 1);
        let mut alone = Peer::reviving(settings.clone(), me, facts);
        let mut joins = Peer::returning(settings, me, facts);
        let mut effects = Vec::new();
        alone.handle(1, PeerInput::Start, &mut effects);
        joins.handle(1, PeerInput::Join(Key(1)), &mut effects);
        // What it tells others must be facts that others accept.
        for (_, state) in alone.known().graph().all() {
            for fact in alone.known().facts(state) {
                let bytes = postcard::to_stdvec(&fact).expect("facts can be encoded");
                assert_eq!(postcard::from_bytes::<Fact>(&bytes), Ok(fact));
            }
        }
    }
}

fn restart_coordinator(facts: &[Fact], reached: &mut Reached) {
    let plan = DivisionPlan { division: Division::Hash, shares: 3 };
    let times = CoordinatorTimeouts { task: 1_000, gather: 1_000 };
    let mut coordinator = Coordinator::restored(plan, times, facts);
    let mut effects = Vec::new();
    coordinator.handle(1, CoordinatorInput::Start, &mut effects);
    let kept = coordinator.facts();
    reached.note(("star", bucket(kept.len()), bucket(coordinator.left())));
    // A client makes a run directory of what the coordinator kept.
    let _ = CrawlKnowledge::restore(settings(1), &kept);
}

fn entry(fact: &Fact) -> Vec<u8> {
    postcard::to_stdvec(fact).expect("facts can be encoded")
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let journal = |facts: &[Fact]| frames::join(&facts.iter().map(entry).collect::<Vec<_>>());
    vec![
        ("every-kind".to_owned(), journal(&every_kind())),
        ("lone-crawl".to_owned(), journal(&world::lone_journal())),
        ("ring-member".to_owned(), journal(&world::ring_journal())),
        ("star".to_owned(), journal(&world::star_journal())),
    ]
}

fn every_kind() -> Vec<Fact> {
    let [a, b, c] = [1, 300, u128::MAX].map(StateKey);
    let [act, link, bad] = [5, 6, 7].map(ActionSignature);
    let offer = |action, once| Offered { action, once };
    let step = Transition { from: a, action: act, to: b };
    let state = |key, route| Fact::State {
        key,
        offers: vec![offer(act, false), offer(link, true), offer(bad, false)],
        route,
        content: Some(ContentId(9)),
    };
    vec![
        state(a, Some([].into())),
        state(b, Some([step].into())),
        state(c, None),
        Fact::Transition { from: a, action: act, to: b, notes: vec![Note::Unsettled] },
        Fact::Transition { from: b, action: act, to: c, notes: Vec::new() },
        Fact::Stray { from: a, action: act, to: c },
        Fact::GivenUp { from: a, action: bad, reason: JobFailure::Hung },
        Fact::Appeared { at: b, loaded: true },
        Fact::LinkFollower { link, state: a },
        Fact::PlainLink { action: bad },
        Fact::Spent { writer: WriterId(7), actions: 8, resets: 9 },
    ]
}
