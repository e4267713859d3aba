//! Short stories of a controller of a ring: the messages that it receives, and its effects.

use argiope_controller::job::{CrawlerId, JobId, Transition};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Offered, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{
    Collect, Envelope, InVain, LeaseRef, Marker, PeerEffect, PeerInput, PeerMessage, PeerTimer,
    Task, TaskReport, ToCrawler,
};
use argiope_controller::peer::schemes;
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_ring::{self as ring, Key};

const ME: Key = Key(9);
const OTHER: Key = Key(1);
const ONE: CrawlerId = CrawlerId(1);
const TWO: CrawlerId = CrawlerId(2);

fn founder(others: &[Key]) -> Peer {
    with_backups(0, others)
}

fn with_backups(backups: usize, others: &[Key]) -> Peer {
    Peer::founder(settings(backups), ME, &[&[ME], others].concat())
}

fn settings(backups: usize) -> PeerSettings {
    PeerSettings {
        scheme: &schemes::ALL[0],
        strategy: strategies::find("greedy").expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed: 1 },
        seeds: [].into(),
        recovery: Recovery::Redundancy,
        backups,
        successors: 2,
        times: PeerTimeouts::default(),
    }
}

/// Gives it an input at the same time as the one before.
fn tell(peer: &mut Peer, input: PeerInput) -> Vec<PeerEffect> {
    tell_at(1, peer, input)
}

fn tell_at(now: u64, peer: &mut Peer, input: PeerInput) -> Vec<PeerEffect> {
    let mut effects = Vec::new();
    peer.handle(now, input, &mut effects);
    effects
}

fn task_of(crawler: CrawlerId, effects: &[PeerEffect]) -> Option<&Task> {
    effects.iter().find_map(|effect| match effect {
        PeerEffect::Tell(to, ToCrawler::Task(task)) if *to == crawler => Some(task),
        _ => None,
    })
}

/// A crawler loads the URL and finds a state that offers these actions. Returns the effects.
fn load(peer: &mut Peer, actions: &[u64]) -> Vec<PeerEffect> {
    let effects = tell(peer, PeerInput::Report(TaskReport::new(ONE, 1)));
    let load = task_of(ONE, &effects).expect("nothing is known").id;
    let offers =
        actions.iter().map(|&action| Offered { action: ActionSignature(action), once: false });
    let at = Sighting::described(StateKey(7), offers.collect());
    let route = Some([].as_slice().into());
    tell(
        peer,
        PeerInput::Report(TaskReport {
            task: Some(load),
            at: Some(at),
            route,
            ..TaskReport::new(ONE, 2)
        }),
    )
}

fn sent(effects: &[PeerEffect], to: Key) -> impl Iterator<Item = &PeerMessage> {
    effects.iter().filter_map(move |effect| match effect {
        PeerEffect::Send(receiver, envelope) if *receiver == to => Some(&envelope.message),
        _ => None,
    })
}

fn hear(peer: &mut Peer, from: Key, message: PeerMessage) -> Vec<PeerEffect> {
    tell(peer, PeerInput::Message(from, Envelope::new(None, message)))
}

/// A member answers the question for its neighbours.
fn answer(
    peer: &mut Peer,
    from: Key,
    asked: &[PeerEffect],
    predecessor: Option<Key>,
    after: &[Key],
) -> Vec<PeerEffect> {
    let request = sent(asked, from).find_map(|message| match message {
        PeerMessage::Ring(ring::RingMessage::GetNeighbours(request)) => Some(*request),
        _ => None,
    });
    let request = request.unwrap_or_else(|| panic!("{from:?} was not asked: {asked:?}"));
    let around = ring::RingMessage::Neighbours { request, predecessor, successors: after.to_vec() };
    hear(peer, from, PeerMessage::Ring(around))
}

/// The facts that are replicated to a controller, with the numbers of the messages.
fn copies(effects: &[PeerEffect], to: Key) -> Vec<(u64, Fact)> {
    let copies = sent(effects, to).filter_map(|message| match message {
        PeerMessage::Replicate(number, facts) => Some((*number, facts)),
        _ => None,
    });
    copies
        .flat_map(|(number, facts)| facts.iter().map(move |fact| (number, fact.clone())))
        .collect()
}

/// A state that offers some actions, of which some were executed.
fn facts(key: u128, actions: &[u64], executed: &[u64]) -> Vec<Fact> {
    let (key, initial) = (StateKey(key), StateKey(7));
    let offered = |&action: &u64| Offered { action: ActionSignature(action), once: false };
    let route = [Transition { from: initial, action: ActionSignature(1), to: key }];
    let state = Fact::State {
        key,
        offers: actions.iter().map(offered).collect(),
        route: Some(route.into()),
        content: None,
    };
    let executed = executed.iter().map(|&action| Fact::Transition {
        from: key,
        action: ActionSignature(action),
        to: initial,
        notes: Vec::new(),
    });
    std::iter::once(state).chain(executed).collect()
}

/// The collection that a member receives.
fn collection(effects: &[PeerEffect], to: Key) -> Option<Collect> {
    sent(effects, to).find_map(|message| match message {
        PeerMessage::Collect(collect) => Some(collect.clone()),
        _ => None,
    })
}

fn is_confirmed(effects: &[PeerEffect], to: Key, number: u64) -> bool {
    sent(effects, to).any(|message| *message == PeerMessage::Acknowledge(number))
}

fn markers(effects: &[PeerEffect]) -> Vec<&Marker> {
    let marker = |effect| match effect {
        &PeerEffect::Send(_, Envelope { message: PeerMessage::Marker(ref marker), .. }) => {
            Some(marker)
        }
        _ => None,
    };
    effects.iter().filter_map(marker).collect()
}

#[test]
fn the_task_of_a_lost_crawler_is_reassigned_at_once() {
    let mut peer = founder(&[]);
    tell(&mut peer, PeerInput::Start);
    let effects = load(&mut peer, &[5]);
    let first = task_of(ONE, &effects).expect("there is something to do").clone();
    assert_eq!(task_of(TWO, &tell(&mut peer, PeerInput::Report(TaskReport::new(TWO, 1)))), None);

    let effects = tell(&mut peer, PeerInput::CrawlerLoss(first.id));
    let again = task_of(TWO, &effects).expect("it is free again");
    let what = |task: &Task| task.job.as_ref().map(|job| (job.state, job.action));
    assert_eq!((what(again), what(&first)), (Some((StateKey(7), ActionSignature(5))), what(again)));
    assert_ne!(again.id, first.id);
    // Once is enough: its present owner keeps it.
    assert_eq!(task_of(ONE, &tell(&mut peer, PeerInput::CrawlerLoss(first.id))), None);
    assert_eq!(task_of(ONE, &tell(&mut peer, PeerInput::Report(TaskReport::new(ONE, 3)))), None);
}

#[test]
fn the_home_of_a_lost_crawler_tells_the_controller_that_gave_the_task() {
    let mut peer = founder(&[OTHER]);
    let task = LeaseRef { by: OTHER, job: JobId(3) };
    let effects = tell(&mut peer, PeerInput::CrawlerLoss(task));
    let sent = effects.iter().any(|effect| {
        matches!(effect, PeerEffect::Send(to, envelope)
            if *to == OTHER && envelope.message == PeerMessage::TaskFailed(task, JobFailure::Lost))
    });
    assert!(sent, "{effects:?}");
}

#[test]
fn a_marker_that_met_a_gap_is_sent_again_after_a_stabilisation() {
    let mut peer = founder(&[OTHER]);
    tell(&mut peer, PeerInput::Start);
    let effects = load(&mut peer, &[]);
    let [first] = markers(&effects)[..] else { panic!("there is nothing to do: {effects:?}") };
    let back = Marker { in_vain: Some(InVain::NotWhole), ..first.clone() };
    let received = PeerInput::Message(OTHER, Envelope::new(None, PeerMessage::Marker(back)));
    let effects = tell(&mut peer, received);
    assert_eq!(markers(&effects), Vec::<&Marker>::new(), "the ring is as it was");
    let effects = tell(&mut peer, PeerInput::Timer(PeerTimer::Stabilise));
    let [second] = markers(&effects)[..] else { panic!("it was looked at: {effects:?}") };
    assert!(second.number > first.number);
    // If there was only something to do, another one goes off at once.
    let back = Marker { in_vain: Some(InVain::Busy), ..second.clone() };
    let effects =
        tell(&mut peer, PeerInput::Message(OTHER, Envelope::new(None, PeerMessage::Marker(back))));
    assert_eq!(markers(&effects).len(), 1);
}

#[test]
fn a_fact_that_waits_for_its_replicas_waits_for_a_new_holder_too() {
    const NEW: Key = Key(20);
    let mut peer = with_backups(2, &[OTHER]);
    tell(&mut peer, PeerInput::Start);
    let effects = load(&mut peer, &[5]);
    let task = task_of(ONE, &effects).expect("there is something to do").clone();
    // It leads back to where it began; that is about to be copied.
    let at = Sighting::known(StateKey(7));
    let done = Some((StateKey(7), ActionSignature(5)));
    let report =
        TaskReport { task: Some(task.id), at: Some(at), executed: done, ..TaskReport::new(ONE, 3) };
    let effects = tell(&mut peer, PeerInput::Report(report));
    let step = Transition { from: StateKey(7), action: ActionSignature(5), to: StateKey(7) };
    let [(first, _)] = copies(&effects, OTHER)[..] else { panic!("it is not copied: {effects:?}") };

    // Meanwhile a new successor joins, which should hold replicas from now on.
    let asked = tell(&mut peer, PeerInput::Timer(PeerTimer::Stabilise));
    let asked = answer(&mut peer, OTHER, &asked, Some(NEW), &[ME]);
    let effects = answer(&mut peer, NEW, &asked, Some(ME), &[OTHER]);
    let Transition { from, action, to } = step;
    let transition = Fact::Transition { from, action, to, notes: Vec::new() };
    let second = copies(&effects, NEW).into_iter().find(|(_, fact)| *fact == transition);
    let (second, _) =
        second.unwrap_or_else(|| panic!("it is not copied to the newcomer: {effects:?}"));

    let counts = |effects: &[PeerEffect]| effects.contains(&PeerEffect::Executed(step));
    assert!(
        !counts(&hear(&mut peer, OTHER, PeerMessage::Acknowledge(first))),
        "the newcomer does not have it yet"
    );
    assert!(counts(&hear(&mut peer, NEW, PeerMessage::Acknowledge(second))));
}

#[test]
fn a_range_that_was_taken_over_is_assigned_only_after_all_members_answered() {
    const LOST: Key = Key(5);
    let mut peer = founder(&[OTHER, LOST]);
    tell(&mut peer, PeerInput::Start);
    load(&mut peer, &[]);

    // The one before it is lost: another one comes instead, and the lost one does not answer.
    let effects = hear(&mut peer, OTHER, PeerMessage::Ring(ring::RingMessage::Notify));
    let silent = effects.iter().find_map(|effect| match effect {
        PeerEffect::Wake(timer @ PeerTimer::Silent(_), _) => Some(*timer),
        _ => None,
    });
    let effects = tell(&mut peer, PeerInput::Timer(silent.expect("it is asked")));
    let collect = collection(&effects, OTHER).expect("what was the lost one's is collected");

    // A crawler stands in a state that was the lost one's: something may have been done there.
    let offers = [5, 6].map(|action| Offered { action: ActionSignature(action), once: false });
    let at = Sighting::described(StateKey(4), offers.to_vec());
    let effects =
        tell(&mut peer, PeerInput::Report(TaskReport { at: Some(at), ..TaskReport::new(ONE, 3) }));
    assert_eq!(task_of(ONE, &effects), None);
    let round = sent(&effects, OTHER).find(|message| matches!(message, PeerMessage::Idle(..)));
    let effects = hear(&mut peer, OTHER, round.expect("the others are asked for work").clone());
    assert_eq!(task_of(ONE, &effects), None);
    let known = facts(4, &[5, 6], &[5]);
    let effects = hear(&mut peer, OTHER, PeerMessage::Collect(Collect { facts: known, ..collect }));
    let task = task_of(ONE, &effects).expect("there is something to do");
    let job = task.job.as_ref().expect("it is to be executed");
    assert_eq!((job.state, job.action), (StateKey(4), ActionSignature(6)));
}

#[test]
fn a_leaving_controller_passes_on_its_replicas() {
    let mut peer = with_backups(1, &[OTHER]);
    tell(&mut peer, PeerInput::Start);
    load(&mut peer, &[5]);
    // The other one's state. If it fails just now, no member has noticed.
    let copy = facts(12, &[5, 6], &[5]);
    let effects = hear(&mut peer, OTHER, PeerMessage::Replicate(3, copy.clone()));
    assert!(is_confirmed(&effects, OTHER, 3));
    let effects = tell(&mut peer, PeerInput::Leave);
    let left = sent(&effects, OTHER).find_map(|message| match message {
        PeerMessage::Bequest { facts, .. } => Some(facts),
        _ => None,
    });
    let left = left.expect("it is left to the next").iter().filter_map(|fact| match fact {
        Fact::State { key, .. } => Some(*key),
        _ => None,
    });
    let left: Vec<StateKey> = left.collect();
    assert_eq!(left, [StateKey(7), StateKey(12)]);
}

#[test]
fn a_leaving_controller_accepts_replicas_only_from_its_successor() {
    const HEIR: Key = Key(20);
    let mut peer = with_backups(1, &[OTHER, HEIR]);
    tell(&mut peer, PeerInput::Start);
    tell(&mut peer, PeerInput::Leave);
    let copy = || PeerMessage::Replicate(3, facts(1, &[5], &[]));
    assert!(!is_confirmed(&hear(&mut peer, OTHER, copy()), OTHER, 3), "it would be lost");
    assert!(is_confirmed(&hear(&mut peer, HEIR, copy()), HEIR, 3));
}

#[test]
fn a_bequest_is_acknowledged_once_it_is_replicated() {
    const LEAVES: Key = Key(5);
    let mut peer = with_backups(1, &[OTHER, LEAVES]);
    tell(&mut peer, PeerInput::Start);
    let bequest = PeerMessage::Bequest {
        number: 3,
        facts: facts(4, &[5, 6], &[5]),
        links: Default::default(),
        plain: Vec::new(),
    };
    let effects = hear(&mut peer, LEAVES, bequest);
    assert!(!is_confirmed(&effects, LEAVES, 3));
    let [(copy, _), _] = copies(&effects, OTHER)[..] else { panic!("not copied: {effects:?}") };
    assert!(is_confirmed(&hear(&mut peer, OTHER, PeerMessage::Acknowledge(copy)), LEAVES, 3));
}

#[test]
fn a_controller_that_paused_gives_the_others_time_to_answer() {
    let mut peer = founder(&[OTHER]);
    let times = PeerTimeouts::default();
    tell(&mut peer, PeerInput::Start);
    let asked = tell(&mut peer, PeerInput::Timer(PeerTimer::Stabilise));
    let silent = asked.iter().find_map(|effect| match effect {
        PeerEffect::Wake(timer @ PeerTimer::Silent(_), _) => Some(*timer),
        _ => None,
    });
    let silent = silent.expect("the other one is asked");
    // It was the one that stood still; the answer may be waiting.
    let woken = 2 + times.stabilise + times.answer;
    let effects = tell_at(woken, &mut peer, PeerInput::Timer(silent));
    assert!(effects.contains(&PeerEffect::Wake(silent, times.answer)), "{effects:?}");
    assert_eq!(peer.member().successors(), [OTHER]);
    tell_at(woken + times.answer / 2, &mut peer, PeerInput::Timer(PeerTimer::Fingers));
    tell_at(woken + times.answer, &mut peer, PeerInput::Timer(silent));
    assert_eq!(peer.member().successors(), []);
}

#[test]
fn a_controller_that_stood_still_in_the_middle_of_an_input_reconciles_before_it_assigns() {
    let times = PeerTimeouts::default();
    let long = 10 * (times.stabilise + times.answer);
    let report =
        || TaskReport { at: Some(Sighting::known(StateKey(8))), ..TaskReport::new(ONE, 3) };
    for (worked, assigns) in [(long, true), (1_000, false)] {
        let mut peer = founder(&[OTHER]);
        tell(&mut peer, PeerInput::Start);
        load(&mut peer, &[]);
        hear(&mut peer, OTHER, PeerMessage::Replicate(1, facts(8, &[5, 6], &[])));
        peer.worked(worked);
        let effects = tell_at(2 + long, &mut peer, PeerInput::Report(report()));
        assert_eq!(task_of(ONE, &effects).is_some(), assigns, "{worked} µs: {effects:?}");
        assert_eq!(collection(&effects, OTHER).is_none(), assigns, "{worked} µs: {effects:?}");
    }
}

#[test]
fn a_newcomer_without_an_answer_asks_again() {
    let mut peer = Peer::newcomer(settings(0), ME);
    let mut now = 1;
    let mut effects = tell_at(now, &mut peer, PeerInput::Join(OTHER));
    // The first requests are lost: the other controller has no connection to it yet.
    for _ in 0..5 {
        let asked = effects.iter().any(|effect| {
            let PeerEffect::Send(OTHER, envelope) = effect else { return false };
            matches!(envelope.message, PeerMessage::Ring(ring::RingMessage::Join { .. }))
        });
        assert!(asked, "it does not ask: {effects:?}");
        let (timer, wait) = effects
            .iter()
            .find_map(|effect| match effect {
                PeerEffect::Wake(timer @ PeerTimer::Silent(_), wait) => Some((*timer, *wait)),
                _ => None,
            })
            .expect("it waits for an answer");
        now += wait;
        effects = tell_at(now, &mut peer, PeerInput::Timer(timer));
    }
}

#[test]
fn a_controller_that_was_passed_over_reconciles_before_it_assigns() {
    const BEFORE: Key = Key(5);
    let mut peer = founder(&[BEFORE, OTHER]);
    tell(&mut peer, PeerInput::Start);
    load(&mut peer, &[]);
    hear(&mut peer, OTHER, PeerMessage::Replicate(1, facts(8, &[5, 6], &[])));
    // The one after it takes the one before it for its predecessor.
    let asked = tell(&mut peer, PeerInput::Timer(PeerTimer::Stabilise));
    let effects = answer(&mut peer, OTHER, &asked, Some(BEFORE), &[BEFORE]);
    let collect = collection(&effects, OTHER).expect("it asks what was done meanwhile");
    let report =
        || TaskReport { at: Some(Sighting::known(StateKey(8))), ..TaskReport::new(ONE, 3) };
    assert_eq!(task_of(ONE, &tell(&mut peer, PeerInput::Report(report()))), None);
    let collect = Collect { facts: facts(8, &[5, 6], &[5]), ..collect };
    hear(&mut peer, BEFORE, PeerMessage::Collect(collect));
    let effects = tell(&mut peer, PeerInput::Report(TaskReport { number: 4, ..report() }));
    let job = task_of(ONE, &effects)
        .and_then(|task| task.job.as_ref())
        .expect("there is something to do");
    assert_eq!((job.state, job.action), (StateKey(8), ActionSignature(6)));
}

#[test]
fn a_collection_goes_straight_back_to_one_that_is_not_known_yet() {
    const NEW: Key = Key(12);
    let mut peer = founder(&[OTHER]);
    tell(&mut peer, PeerInput::Start);
    let collect = Collect {
        by: NEW,
        number: 4,
        after: ME,
        facts: Vec::new(),
        seen: Vec::new(),
        links: Default::default(),
        gaps: false,
    };
    let effects = hear(&mut peer, OTHER, PeerMessage::Collect(collect));
    assert!(collection(&effects, NEW).expect("it is sent back").gaps, "a member does not know it");
    assert_eq!(collection(&effects, OTHER), None);
}
