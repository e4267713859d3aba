//! Short stories of crawls: what one or two crawlers say, and what the controller makes of it.

use std::collections::BTreeSet;

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_controller::progress::CrawlCounts;
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::Spent;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;

const ONE: CrawlerId = CrawlerId(1);
const TWO: CrawlerId = CrawlerId(2);

fn action(number: u64) -> ActionSignature {
    ActionSignature(number)
}

/// A state that offers these actions.
fn state(key: u128, offers: &[u64]) -> Sighting {
    let offers = offers.iter().map(|&number| Offered { action: action(number), once: false });
    Sighting::described(StateKey(key), offers.collect())
}

/// A crawl in which the test plays the crawlers.
struct Story {
    controller: Controller,
    records: Vec<Fact>,
    jobs: Vec<(CrawlerId, Job)>,
    /// What the last job that was given is to be followed by.
    ahead: Vec<Ahead>,
    resting: Vec<CrawlerId>,
    finished: Option<(bool, Option<StoppedBy>)>,
}

fn settings() -> ControllerSettings {
    let strategy = &strategies::ALL[0];
    let exploring = StrategySettings { reset_cost: 2.0, seed: 1 };
    ControllerSettings {
        strategy,
        exploring,
        limits: CrawlLimits::default(),
        ahead: 0,
        stop_at: StopAt::All,
    }
}

impl Story {
    fn new(limits: CrawlLimits) -> Self {
        Self::by("greedy", ControllerSettings { limits, ..settings() })
    }

    fn by(strategy: &str, settings: ControllerSettings) -> Self {
        let strategy = strategies::find(strategy).expect("it is registered");
        let settings = ControllerSettings { strategy, ..settings };
        Self {
            controller: Controller::new(settings),
            records: Vec::new(),
            jobs: Vec::new(),
            ahead: Vec::new(),
            resting: Vec::new(),
            finished: None,
        }
    }

    fn tell(&mut self, input: ControllerInput) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        for effect in effects {
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    self.resting.retain(|&other| other != crawler);
                    self.jobs.push((crawler, job));
                    self.ahead = ahead;
                }
                ControllerEffect::Keep(Fact::Spent { .. }) => {}
                ControllerEffect::Keep(record) => self.records.push(record),
                ControllerEffect::Rest { crawler } => self.resting.push(crawler),
                ControllerEffect::Finished { complete, stopped_by } => {
                    self.finished = Some((complete, stopped_by));
                }
            }
        }
    }

    fn ready(&mut self, crawler: CrawlerId, at: Option<Sighting>) {
        let resets = u64::from(at.is_some());
        self.tell(ControllerInput::Ready { crawler, at, spent: Spent { actions: 0, resets } });
    }

    /// The job that a crawler has.
    fn job(&mut self, crawler: CrawlerId) -> Job {
        let at = self.jobs.iter().position(|(other, _)| *other == crawler).expect("it has a job");
        self.jobs.remove(at).1
    }

    /// A crawler ends its job with this outcome, after a number of actions.
    fn ends(&mut self, crawler: CrawlerId, outcome: Outcome, actions: u64) -> Job {
        let job = self.job(crawler);
        let spent = Spent { actions, resets: u64::from(job.reset) };
        self.tell(ControllerInput::Finished { crawler, job: job.id, outcome, spent });
        job
    }

    fn done(&mut self, crawler: CrawlerId, at: Sighting) -> Job {
        let actions = self
            .jobs
            .iter()
            .find(|(other, _)| *other == crawler)
            .expect("it has a job")
            .1
            .walk
            .len();
        self.ends(crawler, Outcome::Done { at, notes: Vec::new(), once: false }, actions as u64 + 1)
    }

    fn fails(&mut self, crawler: CrawlerId, reason: JobFailure) -> Job {
        let went_right = self
            .jobs
            .iter()
            .find(|(other, _)| *other == crawler)
            .expect("it has a job")
            .1
            .walk
            .len() as u32;
        let job =
            self.ends(crawler, Outcome::Failed { went_right, reason }, u64::from(went_right) + 1);
        assert!(!self.jobs.iter().any(|(other, _)| *other == crawler), "it is not ready yet");
        self.ready(crawler, None);
        job
    }
}

#[test]
fn the_state_is_kept_before_the_transition_that_leads_to_it() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    story.done(ONE, state(2, &[]));
    let names = |record: &Fact| match record {
        Fact::State { key, .. } => ("state", key.0),
        Fact::Transition { to, .. } => ("transition", to.0),
        other => panic!("{other:?}"),
    };
    let kept: Vec<_> = story.records.iter().map(names).collect();
    assert_eq!(kept, [("state", 1), ("state", 2), ("transition", 2)]);
    assert_eq!(story.finished, Some((true, None)));
}

#[test]
fn a_crawler_without_work_waits_until_there_is_some() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(TWO, None);
    assert_eq!(story.resting, [TWO], "nothing is known yet");
    story.ready(ONE, Some(state(1, &[7])));
    assert_eq!((story.jobs.len(), story.resting.len()), (1, 1));
    let (first, second) = if story.resting == [TWO] { (ONE, TWO) } else { (TWO, ONE) };
    story.done(first, state(2, &[7, 8]));
    assert!(story.resting.is_empty());
    let jobs = [story.job(first), story.job(second)];
    assert_ne!(jobs[0].action, jobs[1].action);
}

#[test]
fn a_candidate_that_failed_twice_is_given_up_and_is_no_transition() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    let first = story.fails(ONE, JobFailure::Hung);
    let second = story.fails(ONE, JobFailure::Crashed);
    assert_eq!((first.action, second.action), (action(7), action(7)));
    assert!(second.reset, "a crawler that was replaced stands nowhere");
    let given_up =
        Fact::GivenUp { from: StateKey(1), action: action(7), reason: JobFailure::Crashed };
    assert_eq!(story.records.last(), Some(&given_up));
    assert_eq!(story.finished, Some((false, None)));
    let progress = story.controller.progress();
    assert_eq!((progress.failed, progress.transitions), (1, 0));
    let model = story.controller.model("m", |action| format!("{action:?}"));
    assert_eq!((model.states(), model.transitions(), model.actions.len()), (1, 0, 0));
}

#[test]
fn a_candidate_after_which_four_sessions_were_over_is_given_up() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    for _ in 0..4 {
        assert_eq!(story.finished, None);
        assert_eq!(story.fails(ONE, JobFailure::LoggedOut).action, action(7));
    }
    let reason = JobFailure::LoggedOut;
    let given_up = Fact::GivenUp { from: StateKey(1), action: action(7), reason };
    assert_eq!(story.records.last(), Some(&given_up));
    assert_eq!(story.finished, Some((false, None)));
}

#[test]
fn a_lost_crawler_returns_its_candidate_but_not_without_end() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    for _ in 0..5 {
        assert_eq!(story.job(ONE).action, action(7));
        assert_eq!(story.finished, None);
        story.tell(ControllerInput::Lost { crawler: ONE });
        story.ready(ONE, None);
    }
    let given_up = Fact::GivenUp { from: StateKey(1), action: action(7), reason: JobFailure::Lost };
    assert_eq!(story.records.last(), Some(&given_up));
    assert_eq!(story.finished, Some((false, None)));
}

/// State 1 leads to 2 by action 7, and 2 leads nowhere yet; the crawler must reset and walk to go
/// on.
fn walked_astray() -> Story {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    story.done(ONE, state(2, &[8, 9]));
    story.done(ONE, state(3, &[]));
    let job = &story.jobs[0].1;
    assert!(job.reset && job.walk.len() == 1 && job.walk[0].to == StateKey(2), "{job:?}");
    story
}

fn elsewhere(at: Sighting) -> Outcome {
    Outcome::Elsewhere { went_right: 0, at }
}

#[test]
fn a_job_that_was_led_astray_is_tried_once_more_after_a_reset() {
    let mut story = walked_astray();
    let first = story.ends(ONE, elsewhere(state(3, &[])), 1);
    let second = story.done(ONE, state(1, &[]));
    assert_eq!((second.action, second.reset, &second.walk), (first.action, true, &first.walk));
    assert_ne!(first.id, second.id);
    assert_eq!(story.finished, Some((true, None)));
    assert_eq!(
        story.controller.progress().nondeterministic,
        1,
        "from a load it should be the same each time"
    );
}

#[test]
fn a_transition_that_led_astray_twice_is_not_deterministic() {
    let mut story = walked_astray();
    story.ends(ONE, elsewhere(state(3, &[])), 1);
    story.ends(ONE, elsewhere(state(1, &[7])), 1);
    let strayed = |to| Fact::Stray { from: StateKey(1), action: action(7), to: StateKey(to) };
    let strays: Vec<_> =
        story.records.iter().filter(|record| matches!(record, Fact::Stray { .. })).collect();
    assert_eq!(strays, [&strayed(3), &strayed(1)]);
    assert_eq!(story.controller.progress().nondeterministic, 1);
    // The crawler goes on from where it stands: the initial state.
    assert!(!story.jobs[0].1.reset, "{:?}", story.jobs);
}

#[test]
fn a_state_that_only_an_accident_leads_to_is_sought_by_the_same_accident() {
    let mut story = walked_astray();
    story.ends(ONE, elsewhere(state(4, &[5])), 1);
    let strayed = Fact::Stray { from: StateKey(1), action: action(7), to: StateKey(4) };
    assert_eq!(story.records.last(), Some(&strayed), "known at once, since the state is new");
    story.done(ONE, state(3, &[]));
    // All that is left is in state 4.
    let job = story.jobs[0].1.clone();
    assert_eq!((job.state, job.action, job.reset), (StateKey(4), action(5), true));
    assert_eq!((job.walk[0].action, job.walk[0].to), (action(7), StateKey(4)));
    for attempt in 0..8 {
        assert_eq!(story.finished, None, "attempt {attempt}");
        story.ends(ONE, elsewhere(state(2, &[])), 1);
    }
    let given_up =
        Fact::GivenUp { from: StateKey(4), action: action(5), reason: JobFailure::Unreachable };
    assert!(story.records.contains(&given_up));
    assert_eq!(story.finished, Some((false, None)), "something was given up");
}

#[test]
fn a_load_that_leads_elsewhere_is_noted_and_the_crawl_goes_on() {
    let mut story = walked_astray();
    story.ends(ONE, elsewhere(state(6, &[8])), 0);
    let appeared = Fact::Appeared { at: StateKey(6), loaded: true };
    assert_eq!(story.records.last(), Some(&appeared));
    story.ends(ONE, elsewhere(state(6, &[8])), 0);
    assert_eq!(story.records.last(), Some(&appeared), "it is noted once");
    assert_eq!(story.controller.progress().nondeterministic, 1);
    let job = story.done(ONE, state(2, &[]));
    assert_eq!((job.state, job.reset), (StateKey(6), false), "it goes on from where it stands");
}

#[test]
fn an_action_is_executed_where_a_walk_ended_if_it_is_offered_there() {
    let mut story = Story::new(CrawlLimits::default());
    // The server remembers: after a row was opened, the list is another one.
    story.ready(ONE, Some(state(1, &[7, 8])));
    let opened = story.done(ONE, state(2, &[])).action;
    let other = if opened == action(7) { action(8) } else { action(7) };
    assert_eq!(story.jobs[0].1.action, other);
    story.ends(ONE, elsewhere(state(3, &[7, 8])), 0);
    let job = story.done(ONE, state(4, &[]));
    assert_eq!((job.state, job.action, job.reset), (StateKey(3), other, false));
    let recorded =
        Fact::Transition { from: StateKey(3), action: other, to: StateKey(4), notes: vec![] };
    assert_eq!(story.records.last(), Some(&recorded), "recorded from where it was executed");
}

#[test]
fn what_a_gone_state_offered_is_given_up_only_if_no_other_state_offers_it() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7, 8, 9])));
    // Each load leads to another list. Action 9 is offered by the first list alone.
    let opened = story.done(ONE, state(2, &[])).action;
    while story.finished.is_none() {
        let job = &story.jobs[0].1;
        if job.reset || job.state == StateKey(1) {
            story.ends(ONE, elsewhere(state(3, &[7, 8])), 0);
        } else {
            story.done(ONE, state(2, &[]));
        }
    }
    let gone = Fact::Gone { state: StateKey(1) };
    assert!(story.records.contains(&gone), "{:?}", story.records);
    let given_up: Vec<_> =
        story.records.iter().filter(|fact| matches!(fact, Fact::GivenUp { .. })).collect();
    let lost = if opened == action(9) { 0 } else { 1 };
    assert_eq!(given_up.len(), lost, "{given_up:?}");
    assert_eq!(story.finished, Some((lost == 0, None)));
}

#[test]
fn an_action_in_flight_when_its_state_is_gone_is_not_lost_in_silence() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7, 8, 9])));
    story.ready(TWO, Some(state(1, &[7, 8, 9])));
    // One of them opens a row. The other one is still on its way when the list is gone.
    let opened = story.done(ONE, state(2, &[])).action;
    let in_flight = story.jobs.iter().find(|(crawler, _)| *crawler == TWO).unwrap().1.action;
    let is_gone = |story: &Story| {
        story.records.iter().any(|fact| matches!(fact, Fact::Gone { state: StateKey(1) }))
    };
    while !is_gone(&story) {
        story.ends(ONE, elsewhere(state(3, &[])), 0);
    }
    story.ends(TWO, elsewhere(state(3, &[])), 0);
    let given_up: BTreeSet<ActionSignature> = story
        .records
        .iter()
        .filter_map(|fact| match fact {
            Fact::GivenUp { action, .. } => Some(*action),
            _ => None,
        })
        .collect();
    let all = BTreeSet::from([action(7), action(8), action(9)]);
    assert!(given_up.contains(&in_flight) && !given_up.contains(&opened), "{given_up:?}");
    assert_eq!(given_up.len(), all.len() - 1);
    assert_eq!(story.finished, Some((false, None)));
}

const LINK: Offered = Offered { action: ActionSignature(50), once: true };

/// A state that offers these actions and a plain link.
fn with_link(key: u128, offers: &[u64]) -> Sighting {
    let mut sighting = state(key, offers);
    sighting.offers.as_mut().expect("it offers something").push(LINK);
    sighting
}

#[test]
fn links_belong_to_the_first_state_that_shows_them() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(with_link(1, &[7])));
    story.done(ONE, with_link(2, &[]));
    let follower = Fact::LinkFollower { link: LINK.action, state: StateKey(1) };
    assert_eq!(story.records[1], follower, "the first state follows the link");
    let Some(Fact::State { key: StateKey(2), offers, .. }) = story.records.get(2) else { panic!() };
    assert_eq!(*offers, [LINK], "a state's fact lists everything that the state offers");
    let progress = story.controller.progress();
    assert_eq!((progress.links, progress.unexplored), (1, 1), "only the first state is left to do");
}

/// Loading the URL leads to the first page once, and to page 3 ever after. Both show the link to
/// page 2, which nothing else leads to. Returns where the link was followed.
fn with_another_first_page(first: &[u64]) -> (Story, Vec<StateKey>) {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(with_link(1, first)));
    let mut followed = Vec::new();
    let mut at = StateKey(1);
    while story.finished.is_none() {
        let job = story.jobs[0].1.clone();
        let begins_at = job.walk.first().map_or(job.state, |step| step.from);
        if job.reset {
            at = StateKey(3);
        }
        if begins_at != at {
            story.ends(ONE, elsewhere(with_link(3, &[])), 0);
            continue;
        }
        let is_link = job.action == LINK.action;
        if is_link {
            followed.push(job.state);
        }
        let to = if is_link { state(2, &[8, 9]) } else { state(10, &[]) };
        at = to.key;
        story.done(ONE, to);
    }
    (story, followed)
}

#[test]
fn a_link_is_followed_once_more_where_no_other_walk_leads() {
    let (story, followed) = with_another_first_page(&[]);
    // The actions 8 and 9 both end in a dead end, and the second one needs another way to page 2.
    assert_eq!(followed, [StateKey(1), StateKey(3)]);
    assert_eq!(story.finished, Some((true, None)));
    let gone = story.records.iter().any(|fact| matches!(fact, Fact::Gone { .. }));
    assert!(!gone, "page 2 comes back: {:?}", story.records);
}

#[test]
fn a_link_of_a_gone_state_is_followed_by_another_state_that_shows_it() {
    for offers in [[7, 8], [20, 21], [30, 31]] {
        let (story, followed) = with_another_first_page(&offers);
        assert!(followed.contains(&StateKey(3)), "{followed:?}");
        let links = story.records.iter().filter(|fact| match fact {
            Fact::GivenUp { action, .. } => *action == LINK.action,
            _ => false,
        });
        assert_eq!(links.count(), 0, "{:?}", story.records);
    }
}

#[test]
fn an_action_that_turns_out_to_be_a_plain_link_is_withdrawn_everywhere() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7])));
    story.done(ONE, state(2, &[50, 51]));
    let other = if story.jobs[0].1.action == action(50) { 51 } else { 50 };
    let taken = 101 - other;
    // The first of the two leads to a state that offers both.
    let at = state(3, &[50, 51]);
    story.ends(ONE, Outcome::Done { at, notes: vec![Note::Unsettled], once: true }, 1);
    let progress = story.controller.progress();
    assert_eq!((progress.links, progress.unsettled, progress.unexplored), (1, 1, 2));
    let Some(Fact::State { offers, .. }) = story
        .records
        .iter()
        .rev()
        .find(|record| matches!(record, Fact::State { key: StateKey(3), .. }))
    else {
        panic!("state 3 is kept")
    };
    // It was seen before the link turned out to be one, so it is listed there, and withdrawn.
    assert_eq!(offers.len(), 2);
    let job = story.done(ONE, state(4, &[taken]));
    assert_eq!(job.action, action(other));
    assert_eq!(story.controller.progress().unexplored, 1, "a later state does not follow it");
}

#[test]
fn after_a_stop_what_is_in_flight_is_still_taken_in() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7, 8])));
    story.tell(ControllerInput::Stop(StoppedBy::Interrupt));
    assert_eq!(story.finished, None);
    story.done(ONE, state(2, &[]));
    assert_eq!(story.finished, Some((false, Some(StoppedBy::Interrupt))));
    assert_eq!(story.controller.progress().transitions, 1);
    assert!(story.jobs.is_empty());
}

#[test]
fn a_state_too_many_is_not_kept_and_its_candidate_stays() {
    let mut story = Story::new(CrawlLimits { max_states: Some(2), ..CrawlLimits::default() });
    story.ready(ONE, Some(state(1, &[7, 8])));
    story.ready(TWO, None);
    story.done(ONE, state(2, &[]));
    assert_eq!(story.finished, None, "the other one is still working");
    story.done(TWO, state(3, &[]));
    assert_eq!(story.finished, Some((false, Some(StoppedBy::MaxStates))));
    let progress = story.controller.progress();
    assert_eq!((progress.states, progress.transitions, progress.unexplored), (2, 1, 1));
}

#[test]
fn a_url_that_cannot_be_loaded_any_more_stops_the_crawl_and_gives_nothing_up() {
    let mut story = walked_astray();
    while story.finished.is_none() {
        story.ends(ONE, Outcome::Failed { went_right: 0, reason: JobFailure::NotLoaded }, 0);
        story.ready(ONE, None);
    }
    assert_eq!(story.finished, Some((false, Some(StoppedBy::NotLoaded))));
    assert_eq!(story.controller.progress().failed, 0);
}

#[test]
fn jobs_follow_the_reset_cost_that_was_measured() {
    for (cost, resets) in [(0.5, true), (100.0, false)] {
        let mut story = Story::new(CrawlLimits::default());
        story.ready(ONE, Some(state(1, &[6, 7, 8])));
        story.done(ONE, state(2, &[9]));
        story.done(ONE, state(3, &[10]));
        story.done(ONE, state(1, &[]));
        story.tell(ControllerInput::ResetCost(cost));
        story.done(ONE, state(2, &[]));
        // Back to state 1: over two transitions, or by a reset.
        let job = story.job(ONE);
        assert_eq!((job.reset, job.walk.len()), if resets { (true, 0) } else { (false, 2) });
    }
}

#[test]
fn a_fact_that_comes_twice_changes_nothing_and_one_that_contradicts_is_refused() {
    let story = walked_astray();
    let settings = *story.controller.known().settings();
    let twice = story.records.iter().chain(&story.records).cloned();
    let restored = Controller::restore(settings, twice).expect("facts may come twice");
    let once = Controller::restore(settings, story.records.clone()).expect("facts of a crawl");
    assert_eq!(restored.progress(), once.progress());
    let mut facts = story.records.clone();
    let (from, reason) = (StateKey(1), JobFailure::Hung);
    facts.push(Fact::GivenUp { from, action: action(99), reason });
    let refused = Controller::restore(settings, facts).err().expect("no state offers it");
    assert_eq!(
        (refused.at, refused.what),
        (story.records.len(), "a state does not offer the action")
    );
}

/// A page of the menu in `a_menu`.
fn page(number: u128) -> Sighting {
    state(number, &[1, 2, 3, 4])
}

/// An application of four pages and a menu that leads to each of them, up to the moment when its
/// crawler is told what to do after its job.
fn a_menu() -> (Story, Ahead) {
    let mut story = Story::by("menu", ControllerSettings { ahead: 1, ..settings() });
    story.ready(ONE, Some(page(1)));
    while story.ahead.is_empty() {
        let action = story.jobs[0].1.action.0;
        story.done(ONE, page(action.into()));
    }
    let ahead = story.ahead.remove(0);
    (story, ahead)
}

#[test]
fn a_job_with_a_predicted_outcome_is_followed_by_a_job_ahead() {
    let (mut story, Ahead { after, job: next }) = a_menu();
    let kept = story.records.len();
    let first = story.done(ONE, page(after.0));
    assert_eq!(u128::from(first.action.0), after.0);
    assert_eq!(story.records.len(), kept + 1);
    assert!(story.jobs.is_empty(), "it has something to do");
    story.jobs.push((ONE, next.clone()));
    story.done(ONE, page(next.action.0.into()));
    assert_eq!(story.records.len(), kept + 2);
    assert_eq!(story.jobs.len(), 1, "it has nothing to do any more and is told what to do");
}

#[test]
fn a_job_ahead_is_assigned_again_if_the_prediction_was_wrong() {
    let (mut story, Ahead { job: dropped, .. }) = a_menu();
    story.done(ONE, page(9));
    assert_eq!(story.jobs.len(), 1);
    // What is said of the one that was dropped says nothing any more.
    let outcome = |at| Outcome::Done { at, notes: Vec::new(), once: false };
    let kept = story.records.len();
    let input = ControllerInput::Finished {
        crawler: ONE,
        job: dropped.id,
        outcome: outcome(page(2)),
        spent: Spent::default(),
    };
    story.tell(input);
    assert_eq!(story.records.len(), kept);
    let mut given = Vec::new();
    while story.finished.is_none() {
        let action = story.jobs[0].1.action.0;
        let ahead = std::mem::take(&mut story.ahead);
        let job = story.done(ONE, page(action.into()));
        given.push((job.state, job.action));
        if story.jobs.is_empty() {
            story.jobs.extend(ahead.into_iter().map(|ahead| (ONE, ahead.job)));
        }
    }
    assert!(given.contains(&(dropped.state, dropped.action)));
}

/// The action that ends the application of `play`.
const END: u64 = 9;

/// Plays an application of two states that lead to each other by action 7. Both offer `END`, which
/// leads to a third state, after which no load goes right; the third state works on, or crashes.
/// Returns every job.
fn play(story: &mut Story, notes: &[Note], works_on: bool) -> Vec<Job> {
    let mut is_dead = false;
    let mut at = 1;
    let mut jobs = Vec::new();
    while story.finished.is_none() {
        let job = story.jobs[0].1.clone();
        if is_dead && job.reset {
            story.ends(ONE, Outcome::Failed { went_right: 0, reason: JobFailure::NotLoaded }, 0);
            story.ready(ONE, None);
            continue;
        }
        if is_dead && !works_on {
            story.fails(ONE, JobFailure::Crashed);
            continue;
        }
        jobs.push(job.clone());
        let steps = job.walk.len() as u64 + 1;
        let is_end = |one: ActionSignature| one == action(END);
        is_dead |= is_end(job.action) || job.walk.iter().any(|step| is_end(step.action));
        at = match job.action.0 {
            7 => 3 - job.state.0,
            END => 3,
            _ => at,
        };
        let offers: &[u64] = if at == 3 { &[8, 10] } else { &[7, END] };
        let notes = if job.action.0 == END { notes.to_vec() } else { Vec::new() };
        let outcome = Outcome::Done { at: state(at, offers), notes, once: false };
        story.ends(ONE, outcome, steps);
    }
    jobs
}

/// The facts about actions that ended the application.
fn endings(story: &Story) -> Vec<(StateKey, ActionSignature, bool)> {
    let ending = |fact: &Fact| match fact {
        Fact::Ended { from, action, everywhere } => Some((*from, *action, *everywhere)),
        _ => None,
    };
    story.records.iter().filter_map(ending).collect()
}

/// The crawl of a story, resumed from its facts.
fn resumed(story: &Story) -> Story {
    let settings = *story.controller.known().settings();
    let controller = Controller::resume(settings, story.records.clone()).expect("its own facts");
    Story { controller, records: story.records.clone(), ..Story::by("greedy", settings) }
}

#[test]
fn an_action_that_ends_the_application_is_written_down_and_on_no_walk_again() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7, END])));
    play(&mut story, &[Note::Allowed], false);
    assert_eq!(story.finished, Some((false, Some(StoppedBy::NotLoaded))));
    let [(from, ended, everywhere)] = endings(&story)[..] else {
        panic!("{:?}", story.records);
    };
    assert_eq!((ended, everywhere), (action(END), true));
    let settings = *story.controller.known().settings();
    let mut reversed = story.records.clone();
    reversed.reverse();
    for facts in [story.records.clone(), reversed] {
        let again = Controller::restore(settings, facts).expect("its own facts, in any order");
        // A story does not keep what was spent.
        let now = story.controller.progress();
        let (actions, resets) = (now.actions, now.resets);
        assert_eq!(CrawlCounts { actions, resets, ..again.progress() }, now);
    }

    let mut story = resumed(&story);
    story.ready(ONE, None);
    let jobs = play(&mut story, &[], false);
    let uses = |job: &Job| {
        job.action == action(END) || job.walk.iter().any(|step| step.action == action(END))
    };
    assert!(!jobs.iter().any(uses), "{jobs:?}");
    assert_eq!(story.finished, Some((false, None)), "it was not performed in the other state");
    let known = story.controller.known();
    assert_eq!(known.blamed().len(), 1);
    assert!(known.ended().len() > 1, "the other states are spared");
    let progress = story.controller.progress();
    assert_eq!((progress.unexplored, progress.failed), (0, 3), "and what only it leads to");
    assert!(from == StateKey(1) || from == StateKey(2));
}

#[test]
fn without_certainty_an_action_is_spared_only_where_it_was_performed() {
    let mut story = Story::new(CrawlLimits::default());
    story.ready(ONE, Some(state(1, &[7, END])));
    play(&mut story, &[], true);
    assert_eq!(story.finished, Some((false, Some(StoppedBy::NotLoaded))));
    let [(_, _, everywhere)] = endings(&story)[..] else { panic!("{:?}", story.records) };
    assert!(!everywhere, "the crawler has done more since the last load");
    assert_eq!(story.controller.progress().failed, 0, "it was executed");
}
