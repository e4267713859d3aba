//! Stories of states that a load of their own address leads to (decision 33).

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput};
use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{Offered, Outcome, Sighting};
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::Spent;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;

const ONE: CrawlerId = CrawlerId(1);
/// State 5 offers two actions, and nothing leads back.
const LAST: u128 = 5;

fn settings() -> ControllerSettings {
    let strategy = strategies::find("greedy").unwrap();
    let exploring = StrategySettings { reset_cost: 2.0, seed: 1 };
    ControllerSettings {
        strategy,
        exploring,
        limits: CrawlLimits::default(),
        ahead: 0,
        stop_at: StopAt::All,
    }
}

fn state(key: u128, offers: &[u64]) -> Sighting {
    let offer = |&number: &u64| Offered { action: ActionSignature(number), once: false };
    Sighting::described(StateKey(key), offers.iter().map(offer).collect())
}

/// A chain of states 0 to 5 in which action 7 leads on; state 5 also offers 8 and 9, which lead to
/// ends.
fn there(key: u128) -> Sighting {
    match key {
        0..LAST => state(key, &[7]),
        LAST => state(LAST, &[8, 9]),
        _ => state(key, &[]),
    }
}

#[derive(Default)]
struct Effects {
    facts: Vec<Fact>,
    job: Option<Job>,
    complete: Option<bool>,
}

fn tell(controller: &mut Controller, input: ControllerInput, effects: &mut Effects) {
    let mut out = Vec::new();
    controller.handle(input, &mut out);
    for effect in out {
        match effect {
            ControllerEffect::Assign { job, .. } => effects.job = Some(job),
            ControllerEffect::Keep(fact) => effects.facts.push(fact),
            ControllerEffect::Finished { complete, .. } => effects.complete = Some(complete),
            ControllerEffect::Rest { .. } => {}
        }
    }
}

fn ready(at: Option<Sighting>) -> ControllerInput {
    ControllerInput::Ready { crawler: ONE, at, spent: Spent::default() }
}

fn ended(job: &Job, outcome: Outcome, actions: u64) -> ControllerInput {
    let spent = Spent { actions, resets: u64::from(job.reset) };
    ControllerInput::Finished { crawler: ONE, job: job.id, outcome, spent }
}

fn entered(key: u128, address: &str, seed: bool) -> ControllerInput {
    let at = if seed { there(key) } else { Sighting::known(StateKey(key)) };
    ControllerInput::Entered { at, address: address.to_owned(), seed, cost: None }
}

/// A crawl that has walked down the chain and into the first end.
fn at_the_first_end() -> (Controller, Effects) {
    let (mut controller, mut effects) = (Controller::new(settings()), Effects::default());
    tell(&mut controller, ready(Some(there(0))), &mut effects);
    for next in 1..=LAST + 1 {
        let job = effects.job.take().unwrap();
        let done = Outcome::Done { at: there(next), notes: Vec::new(), once: false };
        if next > LAST {
            tell(&mut controller, entered(LAST, "http://a/#5", false), &mut effects);
        }
        tell(&mut controller, ended(&job, done, 1), &mut effects);
    }
    (controller, effects)
}

#[test]
fn a_job_begins_at_an_entry_and_a_path_with_its_address() {
    let (controller, mut effects) = at_the_first_end();
    let job = effects.job.take().unwrap();
    assert!(job.reset && job.walk.is_empty() && job.state == StateKey(LAST), "{job:?}");
    assert_eq!(controller.entry_address(StateKey(LAST)), Some("http://a/#5"));
    let paths = controller.paths();
    let path = paths.to(StateKey(LAST + 1)).unwrap();
    assert_eq!((path.address, path.steps.len()), (Some("http://a/#5"), 1));
    let path = paths.to(StateKey(LAST - 1)).unwrap();
    assert_eq!((path.address, path.steps.len()), (None, 4));
    let again = Controller::restore(settings(), effects.facts).unwrap();
    assert_eq!(again.entry_address(StateKey(LAST)), Some("http://a/#5"), "the fact persists");
}

#[test]
fn an_entry_that_misses_twice_is_used_no_more() {
    let (mut controller, mut effects) = at_the_first_end();
    for missed in 1..=2 {
        let job = effects.job.take().unwrap();
        assert!(job.reset && job.walk.is_empty(), "{job:?}");
        let at = Sighting::known(StateKey(0));
        tell(
            &mut controller,
            ended(&job, Outcome::Elsewhere { went_right: 0, at }, 0),
            &mut effects,
        );
        assert_eq!(controller.entry_address(StateKey(LAST)).is_some(), missed < 2);
        tell(&mut controller, ControllerInput::Lost { crawler: ONE }, &mut effects);
        effects.job = None;
        tell(&mut controller, ready(None), &mut effects);
    }
    let job = effects.job.take().unwrap();
    assert_eq!((job.reset, job.walk.len()), (true, 5), "the walk begins at the URL again");
    let done = Outcome::Done { at: there(LAST + 2), notes: Vec::new(), once: false };
    tell(&mut controller, ended(&job, done, 6), &mut effects);
    assert_eq!(effects.complete, Some(true));
}

#[test]
fn a_crawl_begins_at_all_its_seeds() {
    let (mut controller, mut effects) = (Controller::new(settings()), Effects::default());
    tell(&mut controller, entered(LAST + 3, "http://a/", true), &mut effects);
    assert_eq!(effects.complete, None, "the first seed offers nothing, and more may follow");
    tell(&mut controller, entered(LAST, "http://a/#5", true), &mut effects);
    tell(&mut controller, entered(LAST, "http://a/other", true), &mut effects);
    tell(&mut controller, ready(None), &mut effects);
    let entries = effects.facts.iter().filter(|fact| matches!(fact, Fact::Entry { .. }));
    assert_eq!(entries.count(), 1, "the URL is none, and an address that leads there is enough");
    let mut ends = LAST + 1;
    while effects.complete.is_none() {
        let job = effects.job.take().unwrap();
        assert!(job.reset && job.walk.is_empty(), "{job:?}");
        let done = Outcome::Done { at: there(ends), notes: Vec::new(), once: false };
        tell(&mut controller, ended(&job, done, 1), &mut effects);
        ends += 1;
    }
    assert_eq!((effects.complete, controller.progress().states), (Some(true), 4));
    assert_eq!(controller.paths().to(StateKey(LAST)).unwrap().steps.len(), 0);
}

#[test]
fn an_address_that_leads_to_an_unknown_state_is_no_entry() {
    let (mut controller, mut effects) = at_the_first_end();
    tell(&mut controller, entered(99, "http://a/#99", false), &mut effects);
    assert!(!controller.knows(StateKey(99)));
    assert_eq!(controller.entry_address(StateKey(99)), None);
}
