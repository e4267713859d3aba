//! Short stories of hostile or broken processes with valid certificates: what they send does not
//! crash a controller, and does not make its counts wrong. The fuzz targets found most of them.

use argiope_controller::job::{CrawlerId, JobId, Transition};
use argiope_controller::journal::Fact;
use argiope_controller::knowledge::CrawlKnowledge;
use argiope_controller::outcome::{JobFailure, Offered, Outcome, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{
    Envelope, FinalCounts, LeaseRef, Marker, PeerEffect, PeerInput, PeerMessage, Seek, TaskReport,
    WorkRequest,
};
use argiope_controller::peer::schemes;
use argiope_controller::peer::search::Search;
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{
    CoordinatorEffect, CoordinatorInput, CoordinatorTimeouts,
};
use argiope_controller::star::division::{Division, DivisionPlan};
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed};
use argiope_controller::star::{
    ActionShare, Coordinator, FoundState, HeardUpTo, News, NodeReport, StarNode, ToNode,
};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_ring::Key;

const ME: Key = Key(1 << 100);
const OTHER: Key = Key(1);
/// A state in the range of this controller, and one in the range of the other.
const OWN: StateKey = StateKey(7);
const FOREIGN: StateKey = StateKey(1 << 120);
/// The name that stands for the actions of a state that are not known.
const ASK: ActionSignature = ActionSignature(u64::MAX);
const PLAN: DivisionPlan = DivisionPlan { division: Division::Stride, shares: 1 };

fn peer_settings(scheme: &str) -> PeerSettings {
    PeerSettings {
        scheme: schemes::find(scheme).expect("there is one"),
        strategy: strategies::find("greedy").expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed: 1 },
        seeds: [].into(),
        recovery: Recovery::Retry,
        backups: 0,
        successors: 2,
        times: PeerTimeouts::default(),
    }
}

/// One of two controllers; the scheme decides what it learns of foreign states.
fn peer(scheme: &str) -> Peer {
    Peer::founder(peer_settings(scheme), ME, &[ME, OTHER])
}

fn hear(peer: &mut Peer, message: PeerMessage) -> Vec<PeerEffect> {
    let mut effects = Vec::new();
    peer.handle(1, PeerInput::Message(OTHER, Envelope::new(None, message)), &mut effects);
    effects
}

fn step(from: StateKey, action: ActionSignature, to: StateKey) -> Transition {
    Transition { from, action, to }
}

fn begin(peer: &mut Peer) {
    let route = [].as_slice().into();
    let exists =
        PeerMessage::Exists { number: 1, asker: OTHER, state: OWN, route, facts: Vec::new() };
    hear(peer, exists);
    assert_eq!(peer.known().graph().initial(), Some(OWN));
}

fn check_counts(peer: &Peer) {
    let known = peer.known();
    let free: usize = known.ownership().own().map(|(_, state)| known.free_in(state)).sum();
    assert_eq!(known.ownership().free(), free);
}

#[test]
fn a_stray_before_the_first_state_is_refused_without_an_answer() {
    let mut peer = peer("local");
    let strayed = PeerMessage::Strayed {
        number: 1,
        asker: OTHER,
        step: step(OWN, ActionSignature(1), FOREIGN),
    };
    // Its sender repeats it until a state is known.
    assert_eq!(hear(&mut peer, strayed.clone()), []);
    assert_eq!(peer.refused(), 1);
    begin(&mut peer);
    let effects = hear(&mut peer, strayed);
    let answers = |effect: &PeerEffect| {
        matches!(effect, PeerEffect::Send(OTHER, envelope)
            if envelope.message == PeerMessage::Acknowledge(1))
    };
    assert!(effects.iter().any(answers), "{effects:?}");
}

#[test]
fn the_action_that_stands_for_unknown_ones_is_no_transition() {
    let mut peer = peer("local");
    begin(&mut peer);
    let reached = FOREIGN;
    let transition = Fact::Transition { from: reached, action: ASK, to: OWN, notes: Vec::new() };
    hear(&mut peer, PeerMessage::Replicate(2, vec![transition]));
    // The controller takes the state over, and sends a crawler there to ask.
    let route = [step(OWN, ActionSignature(1), reached)].as_slice().into();
    let facts = Vec::new();
    hear(&mut peer, PeerMessage::Exists { number: 3, asker: OTHER, state: reached, route, facts });
    hear(&mut peer, PeerMessage::Ring(argiope_ring::RingMessage::Leave { predecessor: None }));
    check_counts(&peer);
    assert!(peer.known().graph().lead(reached, ASK).is_none());
}

#[test]
fn work_in_a_state_of_another_controller_is_not_assigned() {
    let mut peer = peer("global");
    begin(&mut peer);
    let own = peer.known().ownership().own_states();
    let crawler = CrawlerId(5);
    let at = Sighting::described(FOREIGN, vec![offered(1)]);
    hear(
        &mut peer,
        PeerMessage::Reached(TaskReport { at: Some(at), ..TaskReport::new(crawler, 1) }),
    );
    let asking = WorkRequest { crawler, number: 2, at: None, again: false };
    let seek = Seek {
        asking,
        goal: FOREIGN,
        reset: true,
        walk: Vec::new(),
        origin: OTHER,
        drained: Vec::new(),
    };
    assert_eq!(hear(&mut peer, PeerMessage::Seek(seek)), []);
    let search = Search::new(asking, OTHER, OWN);
    assert_eq!(hear(&mut peer, PeerMessage::Remember(FOREIGN, search)), []);
    assert_eq!((peer.refused(), peer.known().ownership().own_states()), (3, own));
    check_counts(&peer);
}

fn offered(action: u64) -> Offered {
    Offered { action: ActionSignature(action), once: false }
}

#[test]
fn counts_of_a_marker_do_not_overflow() {
    let mut peer = peer("local");
    begin(&mut peer);
    let at = Sighting::described(OWN, Vec::new());
    let report = TaskReport {
        at: Some(at),
        route: Some([].as_slice().into()),
        ..TaskReport::new(CrawlerId(5), 1)
    };
    hear(&mut peer, PeerMessage::Reached(report));
    let mut marker = Marker {
        leader: OTHER,
        number: 1,
        seen: vec![(OTHER, 0)],
        again: 0,
        counts: FinalCounts::default(),
        in_vain: None,
    };
    let passed = |effects: Vec<PeerEffect>| {
        effects.into_iter().find_map(|effect| match effect {
            PeerEffect::Send(_, Envelope { message: PeerMessage::Marker(marker), .. }) => {
                Some(marker)
            }
            _ => None,
        })
    };
    marker = passed(hear(&mut peer, PeerMessage::Marker(marker))).expect("it is idle");
    (marker.again, marker.counts.states) = (1, u64::MAX);
    let passed = passed(hear(&mut peer, PeerMessage::Marker(marker))).expect("it is idle");
    assert_eq!((passed.again, passed.counts.states), (2, u64::MAX));
}

#[test]
fn a_search_of_any_depth_goes_on() {
    // Asking, origin, one node (state, action, parent, depth), next, doubtful.
    let asking = WorkRequest { crawler: CrawlerId(1), number: 1, at: Some(OWN), again: false };
    let nodes = vec![(OWN, ActionSignature(0), Some(0_u32), u32::MAX)];
    let bytes = postcard::to_stdvec(&(asking, OTHER, nodes, 0_usize, None::<usize>)).unwrap();
    let search: Search = postcard::from_bytes(&bytes).unwrap();
    let mut peer = peer("forward");
    begin(&mut peer);
    let exists = Fact::State {
        key: OWN,
        offers: vec![offered(1)],
        route: Some([].as_slice().into()),
        content: None,
    };
    let executed =
        Fact::Transition { from: OWN, action: ActionSignature(1), to: FOREIGN, notes: Vec::new() };
    hear(&mut peer, PeerMessage::Replicate(2, vec![exists, executed]));
    let effects = hear(&mut peer, PeerMessage::Search(search));
    let goes_on = |effect: &PeerEffect| {
        matches!(effect, PeerEffect::Send(OTHER, envelope)
            if matches!(envelope.message, PeerMessage::Search(_)))
    };
    assert!(effects.iter().any(goes_on), "{effects:?}");
}

#[test]
fn messages_that_wait_for_a_range_are_bounded() {
    let mut newcomer = Peer::newcomer(peer_settings("local"), ME);
    let wait = |job| {
        let lease = LeaseRef { by: OTHER, job: JobId(job) };
        let message = PeerMessage::TaskFailed(lease, JobFailure::Lost);
        PeerInput::Message(OTHER, Envelope::new(Some(OWN), message))
    };
    let mut effects = Vec::new();
    for job in 0..(1 << 16) + 5 {
        newcomer.handle(1, wait(job), &mut effects);
    }
    assert_eq!(newcomer.refused(), 5);
}

fn found(key: u128, actions: &[u64], by: Option<Transition>) -> FoundState {
    let actions = actions.iter().copied().map(ActionSignature).collect();
    FoundState { key: StateKey(key), actions, links: Vec::new(), by, content: None }
}

#[test]
fn a_coordinator_survives_states_that_found_each_other() {
    let times = CoordinatorTimeouts { task: 1_000, gather: 5_000 };
    let mut coordinator = Coordinator::new(PLAN, times);
    let led = |from, to| Some(step(StateKey(from), ActionSignature(1), StateKey(to)));
    // The second and the third found each other, the fourth found itself.
    let found = vec![
        found(1, &[1], None),
        found(2, &[1], led(3, 2)),
        found(3, &[1], led(2, 3)),
        found(4, &[1], led(4, 4)),
        found(5, &[1], led(3, 5)),
    ];
    let report = NodeReport { number: 1, found, ..NodeReport::hello(CrawlerId(1)) };
    let mut effects = Vec::new();
    coordinator.handle(1, CoordinatorInput::Report(report), &mut effects);
    let routes = effects.iter().filter_map(|effect| match effect {
        CoordinatorEffect::Keep(Fact::State { route: Some(route), .. }) => Some(route.len()),
        _ => None,
    });
    assert_eq!(routes.collect::<Vec<_>>(), [0, 1, 2, 1, 3]);
}

#[test]
fn a_state_of_a_star_lists_each_action_once() {
    let decode = |actions: &[u64], links: &[u64]| {
        let names = |some: &[u64]| -> Vec<ActionSignature> {
            some.iter().copied().map(ActionSignature).collect()
        };
        let found = FoundState { links: names(links), ..found(1, actions, None) };
        postcard::from_bytes::<FoundState>(&postcard::to_stdvec(&found).unwrap()).ok()
    };
    assert_eq!(decode(&[1, 2], &[2]).map(|found| found.key), Some(StateKey(1)));
    for (actions, links) in [(&[1, 1][..], &[][..]), (&[2, 1], &[]), (&[1, 2], &[2, 2])] {
        assert_eq!(decode(actions, links), None);
    }
    assert_eq!(decode(&[1, 2], &[3]), None, "a link must be one of the actions");
}

/// A node that has loaded the URL, where it saw one action, and holds the only share.
fn node(strategy: &str) -> (StarNode, Vec<NodeEffect>) {
    let strategy = strategies::find(strategy).expect("it is registered");
    let exploring = StrategySettings { reset_cost: 2.0, seed: 1 };
    let mut node = StarNode::new(CrawlerId(1), strategy, exploring);
    let mut effects = Vec::new();
    node.handle(NodeInput::Start, &mut effects);
    node.handle(NodeInput::Message(ToNode::News(news(1, Vec::new()))), &mut effects);
    let at = Sighting::described(StateKey(1), vec![offered(1)]);
    node.handle(NodeInput::Loaded(at, None), &mut effects);
    effects.clear();
    node.handle(NodeInput::Remind, &mut effects);
    (node, effects)
}

fn news(number: u64, states: Vec<FoundState>) -> News {
    News {
        number,
        plan: PLAN,
        after: HeardUpTo { states: usize::MAX, plain: usize::MAX },
        states,
        plain: Vec::new(),
        shares: vec![ActionShare { number: 0, executed: Vec::new(), closed: Vec::new() }],
        gone: Vec::new(),
        unreached: Vec::new(),
    }
}

#[test]
fn a_node_of_any_strategy_hears_of_actions_that_it_did_not_see() {
    for strategy in strategies::ALL {
        let (mut node, effects) = node(strategy.name);
        let number = effects.iter().find_map(|effect| match effect {
            NodeEffect::Send(report) => Some(report.number),
            _ => None,
        });
        let news = news(number.unwrap_or(2), vec![found(1, &[1, 2], None)]);
        let mut effects = Vec::new();
        node.handle(NodeInput::Message(ToNode::News(news)), &mut effects);
        // The action that it saw leads back. Then it has no other work, or executes the second.
        let at = Sighting::known(StateKey(1));
        let outcome = Outcome::Done { at, notes: Vec::new(), once: false };
        let performed = Performed { outcome, spent: Spent::default(), content: None };
        node.handle(NodeInput::Performed(performed), &mut effects);
        let report = effects.iter().rev().find_map(|effect| match effect {
            NodeEffect::Send(report) => Some(report),
            _ => None,
        });
        // It executes the action, or leaves it to a node that saw it.
        let extends = strategies::FOR_PARTIAL_GRAPHS.contains(&strategy.name);
        let left = (StateKey(1), ActionSignature(2), JobFailure::Unreachable);
        let reported = report.is_some_and(|report| report.closed.contains(&left));
        assert_eq!(reported, !extends, "{}: {effects:?}", strategy.name);
    }
}

fn settings() -> ControllerSettings {
    ControllerSettings {
        strategy: strategies::find("greedy").expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed: 1 },
        limits: CrawlLimits::default(),
        ahead: 0,
        stop_at: StopAt::All,
    }
}

fn restore(facts: &[Fact]) -> CrawlKnowledge {
    CrawlKnowledge::restore(settings(), facts).expect("the facts agree")
}

fn state(key: StateKey, route: Option<&[Transition]>) -> Fact {
    let offers = vec![offered(1), offered(2)];
    Fact::State { key, offers, route: route.map(Into::into), content: None }
}

#[test]
fn an_initial_state_that_is_described_twice_is_initial_in_any_order() {
    let facts = [state(OWN, None), state(OWN, Some(&[]))];
    let reversed = [facts[1].clone(), facts[0].clone()];
    for facts in [facts, reversed] {
        assert!(restore(&facts).state(OWN).is_some());
    }
}

#[test]
fn a_stray_of_a_plain_link_that_was_followed_elsewhere_counts_in_no_order() {
    let (link, to) = (ActionSignature(1), FOREIGN);
    let plain = Fact::PlainLink { action: link };
    let stray = Fact::Stray { from: OWN, action: link, to };
    let [initial, other] = [state(OWN, Some(&[])), state(to, None)];
    for facts in [
        [initial.clone(), other.clone(), plain.clone(), stray.clone()],
        [initial, other, stray, plain],
    ] {
        let known = restore(&facts);
        assert!(known.strays().is_empty() && known.state(to).is_none());
    }
}

#[test]
fn a_journal_without_an_initial_state_is_refused() {
    let refused = CrawlKnowledge::restore(settings(), &[state(OWN, None)]).err();
    let what = refused.map(|contradiction| contradiction.what);
    assert_eq!(what, Some("no fact describes the initial state"));
}

#[test]
fn a_fact_that_contradicts_what_a_crawler_sees_later_does_not_count() {
    // The journal says what an action of a state did that nothing describes.
    let elsewhere =
        Fact::Transition { from: FOREIGN, action: ActionSignature(9), to: OWN, notes: Vec::new() };
    let mut known = restore(&[state(OWN, Some(&[])), elsewhere]);
    known.apply(&state(FOREIGN, None)).expect("a crawler saw it");
    let found =
        Fact::Transition { from: OWN, action: ActionSignature(1), to: FOREIGN, notes: Vec::new() };
    known.apply(&found).expect("a crawler was there");
    let graph = known.graph().expect("there is a state");
    assert_eq!((graph.states(), graph.transitions()), (2, 1));
}
