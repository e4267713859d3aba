//! Short stories of a star: a coordinator, crawlers, and messages that do not arrive or arrive
//! twice.

use argiope_controller::job::{CrawlerId, Job, Transition};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Offered, Outcome, Sighting};
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{
    self, Coordinator, CoordinatorTimeouts, CoordinatorTimer,
};
use argiope_controller::star::division::{Division, DivisionPlan};
use argiope_controller::star::node::{self, Performed, StarNode};
use argiope_controller::star::{
    ActionShare, Executed, FoundState, HeardUpTo, News, NodeReport, ToNode,
};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;

const TIMES: CoordinatorTimeouts = CoordinatorTimeouts { task: 1_000, gather: 5_000 };

fn plan(shares: usize) -> DivisionPlan {
    DivisionPlan { division: Division::Stride, shares }
}

fn found(key: u128, actions: &[u64], by: Option<(u128, u64)>) -> FoundState {
    let by = by.map(|(from, action)| Transition {
        from: StateKey(from),
        action: ActionSignature(action),
        to: StateKey(key),
    });
    let actions = actions.iter().copied().map(ActionSignature).collect();
    FoundState { key: StateKey(key), actions, links: Vec::new(), by, content: None }
}

fn step(from: u128, action: u64, to: u128) -> Transition {
    Transition { from: StateKey(from), action: ActionSignature(action), to: StateKey(to) }
}

fn executed(from: u128, action: u64, to: u128) -> Executed {
    Executed { step: step(from, action, to), once: false, notes: Vec::new() }
}

/// A coordinator, and what it said.
struct Middle {
    coordinator: Coordinator,
    effects: Vec<coordinator::CoordinatorEffect>,
}

impl Middle {
    fn new(shares: usize) -> Self {
        let mut middle =
            Self { coordinator: Coordinator::new(plan(shares), TIMES), effects: Vec::new() };
        middle.hear(coordinator::CoordinatorInput::Start);
        middle
    }

    fn hear(&mut self, input: coordinator::CoordinatorInput) {
        self.coordinator.handle(1, input, &mut self.effects);
    }

    fn told(&mut self, crawler: u64, number: u64, tell: NodeReport) -> Option<News> {
        self.effects.clear();
        self.hear(coordinator::CoordinatorInput::Report(NodeReport {
            crawler: CrawlerId(crawler),
            number,
            ..tell
        }));
        self.news(crawler)
    }

    /// What a crawler was told last.
    fn news(&self, crawler: u64) -> Option<News> {
        self.effects.iter().rev().find_map(|effect| match effect {
            coordinator::CoordinatorEffect::Answer(to, ToNode::News(news))
                if *to == CrawlerId(crawler) =>
            {
                Some(news.clone())
            }
            _ => None,
        })
    }

    fn is_over(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, coordinator::CoordinatorEffect::Finished))
    }
}

fn hello() -> NodeReport {
    NodeReport::hello(CrawlerId(0))
}

fn shares(news: &News) -> Vec<usize> {
    news.shares.iter().map(|share| share.number).collect()
}

#[test]
fn a_coordinator_begins_after_a_while_with_those_who_are_there() {
    let mut middle = Middle::new(3);
    assert_eq!(middle.told(1, 1, hello()), None);
    middle.hear(coordinator::CoordinatorInput::Timer(CoordinatorTimer::Gather));
    let news = middle.news(1).expect("it is time");
    assert_eq!((shares(&news), news.plan), (vec![0], plan(3)));
    // The other two shares go to nodes without work, one after the other; then the crawl ends.
    let first =
        NodeReport { found: vec![found(7, &[], None)], shares: vec![0], done: true, ..hello() };
    assert_eq!(shares(&middle.told(1, 2, first).expect("there is more")), [1]);
    let heard = HeardUpTo { states: 1, plain: 0 };
    let next = NodeReport { heard, shares: vec![0, 1], done: true, ..hello() };
    assert_eq!(shares(&middle.told(1, 3, next.clone()).expect("there is more")), [2]);
    assert!(!middle.is_over());
    middle.told(1, 4, NodeReport { shares: vec![0, 1, 2], ..next });
    assert!(middle.is_over());
}

#[test]
fn an_outdated_report_does_not_end_a_crawl() {
    let mut middle = Middle::new(2);
    middle.told(1, 1, hello());
    middle.told(2, 1, hello());
    let heard = HeardUpTo { states: 1, plain: 0 };
    let one = NodeReport { heard, shares: vec![0], done: true, ..hello() };
    middle.told(
        1,
        2,
        NodeReport {
            found: vec![found(7, &[1, 2], None)],
            heard: HeardUpTo::default(),
            ..one.clone()
        },
    );
    assert_eq!(middle.told(1, 3, one.clone()), None);
    let two = NodeReport { shares: vec![1], executed: vec![executed(7, 2, 8)], ..hello() };
    let two = NodeReport { found: vec![found(8, &[3], Some((7, 2)))], ..two };
    middle.told(2, 2, two);
    assert_eq!(middle.news(1).expect("there is a new state").states.len(), 1);
    middle.told(
        2,
        3,
        NodeReport {
            heard: HeardUpTo { states: 2, plain: 0 },
            shares: vec![1],
            done: true,
            ..hello()
        },
    );
    assert!(!middle.is_over(), "the first one is at work");
    // An old word of the first one, that it has nothing to do, arrives once more.
    assert_eq!(middle.told(1, 3, one), None);
    assert!(!middle.is_over(), "the first one is at work");
}

#[test]
fn a_share_that_was_lost_on_the_way_is_given_again_and_one_that_is_anothers_is_taken_away() {
    let mut middle = Middle::new(2);
    middle.told(1, 1, hello());
    assert_eq!(shares(&middle.told(2, 1, hello()).expect("all are there")), [1]);
    assert_eq!(shares(&middle.told(2, 2, hello()).expect("it does not know of its share")), [1]);
    // It is gone, and a third one takes its place; then it comes back.
    middle.hear(coordinator::CoordinatorInput::NodeLoss(CrawlerId(2)));
    assert_eq!(shares(&middle.told(3, 1, hello()).expect("there is a share")), [1]);
    let news = middle.told(2, 3, NodeReport { shares: vec![1], ..hello() }).expect("it must know");
    assert_eq!((shares(&news), news.gone), (Vec::new(), vec![1]));
}

#[test]
fn a_coordinator_that_comes_back_knows_what_it_kept_and_hears_who_works_on_what() {
    let mut middle = Middle::new(1);
    middle.told(1, 1, hello());
    let found = vec![found(7, &[1, 2], None), found(8, &[], Some((7, 1)))];
    let tell = NodeReport { found, executed: vec![executed(7, 1, 8)], shares: vec![0], ..hello() };
    middle.told(
        1,
        2,
        NodeReport { closed: vec![(StateKey(7), ActionSignature(2), JobFailure::Hung)], ..tell },
    );
    let kept = middle.effects.iter().filter_map(|effect| match effect {
        coordinator::CoordinatorEffect::Keep(part) => Some(part.clone()),
        _ => None,
    });
    let kept: Vec<Fact> = kept.collect();
    assert_eq!(kept.len(), 4);
    let again = Coordinator::restored(plan(1), TIMES, &kept);
    assert_eq!(again.facts(), middle.coordinator.facts());
    assert_eq!((again.states(), again.left()), (middle.coordinator.states(), 0));
    let mut middle = Middle { coordinator: again, effects: Vec::new() };
    let heard = HeardUpTo { states: 2, plain: 0 };
    middle.told(1, 3, NodeReport { heard, shares: vec![0], done: true, ..hello() });
    assert!(middle.is_over(), "nothing is left to do");
}

/// Two crawlers. There is a state, and the first crawler did not get to its second action.
fn one_does_not_get_there() -> (Middle, NodeReport) {
    let mut middle = Middle::new(2);
    middle.told(1, 1, hello());
    middle.told(2, 1, hello());
    let found = vec![found(7, &[1, 2], None)];
    middle.told(
        1,
        2,
        NodeReport { found, executed: vec![executed(7, 1, 7)], shares: vec![0], ..hello() },
    );
    let heard = HeardUpTo { states: 1, plain: 0 };
    let idle = NodeReport { heard, done: true, ..hello() };
    let closed = vec![(StateKey(7), ActionSignature(2), JobFailure::Unreachable)];
    let first = NodeReport { shares: vec![0], closed, ..idle.clone() };
    assert_eq!(middle.told(1, 3, first), None, "it has tried");
    (middle, NodeReport { shares: vec![1], ..idle })
}

#[test]
fn an_action_that_one_crawler_could_not_reach_is_tried_by_another() {
    let unreached = vec![(StateKey(7), ActionSignature(2))];
    let (mut middle, second) = one_does_not_get_there();
    assert_eq!(middle.told(2, 2, second.clone()).expect("it is asked").unreached, unreached);
    // That was lost on the way.
    assert_eq!(middle.told(2, 3, second.clone()).expect("it is asked again").unreached, unreached);
    middle.told(2, 4, NodeReport { executed: vec![executed(7, 2, 7)], ..second });
    assert!(middle.is_over());
    assert_eq!((middle.coordinator.transitions(), middle.coordinator.left()), (2, 0));
}

#[test]
fn an_action_that_two_crawlers_could_not_reach_is_given_up() {
    let (mut middle, second) = one_does_not_get_there();
    middle.told(2, 2, second.clone());
    let closed = vec![(StateKey(7), ActionSignature(2), JobFailure::Unreachable)];
    middle.told(2, 3, NodeReport { closed, ..second });
    assert!(middle.is_over());
    assert_eq!((middle.coordinator.transitions(), middle.coordinator.left()), (1, 0));
}

#[test]
fn a_retry_of_a_lost_crawler_goes_to_the_next_one() {
    let (mut middle, second) = one_does_not_get_there();
    middle.told(2, 2, second);
    middle.hear(coordinator::CoordinatorInput::NodeLoss(CrawlerId(2)));
    assert!(!middle.is_over(), "no node holds its share");
    let news = middle.told(3, 1, hello()).expect("there is something to do");
    assert_eq!(news.unreached, [(StateKey(7), ActionSignature(2))]);
}

/// A crawler, and what it asks for.
struct Outside {
    node: StarNode,
    effects: Vec<node::NodeEffect>,
}

impl Outside {
    fn new() -> Self {
        let settings = StrategySettings { reset_cost: 5.0, seed: 1 };
        let strategy = strategies::find("greedy").expect("it is there");
        let mut outside =
            Self { node: StarNode::new(CrawlerId(1), strategy, settings), effects: Vec::new() };
        outside.hear(node::NodeInput::Start);
        outside
    }

    fn hear(&mut self, input: node::NodeInput) {
        self.effects.clear();
        self.node.handle(input, &mut self.effects);
    }

    fn news(&mut self, number: u64, news: News) {
        self.hear(node::NodeInput::Message(ToNode::News(News { number, ..news })));
    }

    fn loaded(&mut self, at: Sighting) {
        self.hear(node::NodeInput::Loaded(at, None));
    }

    fn ended(&mut self, outcome: Outcome) {
        let spent = Spent { actions: 1, resets: 0 };
        self.hear(node::NodeInput::Performed(Performed { outcome, spent, content: None }));
    }

    fn said(&self) -> Option<&NodeReport> {
        self.effects.iter().find_map(|effect| match effect {
            node::NodeEffect::Send(tell) => Some(tell),
            _ => None,
        })
    }

    fn job(&self) -> Option<&Job> {
        self.effects.iter().find_map(|effect| match effect {
            node::NodeEffect::Perform(job) => Some(job),
            _ => None,
        })
    }
}

fn news(shares: &[usize]) -> News {
    let share = |&number: &usize| ActionShare { number, executed: Vec::new(), closed: Vec::new() };
    News {
        number: 1,
        plan: plan(1),
        after: HeardUpTo::default(),
        states: Vec::new(),
        plain: Vec::new(),
        shares: shares.iter().map(share).collect(),
        gone: Vec::new(),
        unreached: Vec::new(),
    }
}

/// A state as a crawler sees it; of the actions those are plain links that are said to be.
fn sight(key: u128, actions: &[(u64, bool)]) -> Sighting {
    let offers =
        actions.iter().map(|&(action, once)| Offered { action: ActionSignature(action), once });
    Sighting::described(StateKey(key), offers.collect())
}

fn done(at: Sighting) -> Outcome {
    Outcome::Done { at, notes: Vec::new(), once: false }
}

#[test]
fn an_unanswered_report_is_repeated_with_the_newest_results() {
    let mut outside = Outside::new();
    assert_eq!(outside.said().map(|tell| tell.number), Some(1));
    outside.hear(node::NodeInput::Remind);
    assert_eq!(outside.said().map(|tell| tell.number), Some(2));
    outside.news(1, news(&[0]));
    assert!(outside.effects.is_empty(), "it answers what was overtaken");
    outside.news(2, news(&[0]));
    assert!(matches!(outside.effects[..], [node::NodeEffect::Load]));
    outside.loaded(sight(7, &[(1, false), (2, false)]));
    assert_eq!(outside.said().map(|tell| (tell.number, tell.found.len())), Some((3, 1)));
    let action = outside.job().expect("there is something to do").action.0;
    outside.ended(done(sight(8, &[])));
    assert_eq!(outside.said(), None, "it waits for an answer");
    outside.hear(node::NodeInput::Remind);
    let tell = outside.said().expect("it has waited");
    assert_eq!((tell.number, tell.found.len(), tell.done), (4, 2, false));
    assert_eq!(tell.executed, [executed(7, action, 8)]);
    assert_eq!(tell.shares, [0]);
}

#[test]
fn one_that_goes_by_another_name_says_what_was_not_answered_and_goes_on() {
    let mut outside = Outside::new();
    outside.news(1, news(&[0]));
    outside.loaded(sight(7, &[(1, false)]));
    let job = outside.job().expect("there is something to do").clone();
    outside.hear(node::NodeInput::Renamed(CrawlerId(5)));
    let tell = outside.said().expect("it has a new home").clone();
    assert_eq!(
        (tell.crawler, tell.found.len(), tell.shares, tell.done),
        (CrawlerId(5), 1, vec![0], false)
    );
    let again = outside.job().expect("what it was doing was not done");
    assert_eq!((again.action, again.reset), (job.action, true));
}

#[test]
fn a_plain_link_is_followed_once_and_from_another_state_if_it_fails() {
    let mut outside = Outside::new();
    outside.news(1, news(&[0]));
    outside.loaded(sight(7, &[(1, false), (9, true)]));
    let mut tried = Vec::new();
    // The link fails in the first state; the other action leads to a state that has it too.
    for _ in 0..6 {
        let Some(job) = outside.job().cloned() else { break };
        tried.push((job.state.0, job.action.0));
        outside.ended(match (job.state.0, job.action.0) {
            (7, 9) => Outcome::Failed { went_right: 0, reason: JobFailure::Missing },
            (7, _) => done(sight(8, &[(9, true), (2, false)])),
            (8, 9) => done(sight(6, &[(9, true)])),
            _ => done(sight(7, &[])),
        });
    }
    tried.sort_unstable();
    assert_eq!(tried, [(7, 1), (7, 9), (7, 9), (8, 2), (8, 9)]);
}

#[test]
fn a_link_that_was_followed_stays_so_when_its_share_changes_hands() {
    let mut outside = Outside::new();
    let link = ActionSignature(9);
    let states = vec![
        FoundState { links: vec![link], ..found(7, &[1, 9], None) },
        FoundState { links: vec![link], ..found(8, &[9], Some((7, 9))) },
    ];
    let share =
        ActionShare { number: 0, executed: vec![step(7, 9, 8), step(7, 1, 7)], closed: Vec::new() };
    outside.news(1, News { states, shares: vec![share], ..news(&[]) });
    outside.loaded(sight(7, &[(1, false), (9, true)]));
    assert_eq!(outside.job(), None);
    assert!(outside.said().is_some_and(|tell| tell.done && tell.heard.states == 2));
}

#[test]
fn crawlers_leave_an_action_alone_once_it_is_known_to_be_a_plain_link() {
    let mut outside = Outside::new();
    let states = vec![found(7, &[1, 9], None)];
    outside.news(1, News { states, plain: vec![ActionSignature(9)], ..news(&[0]) });
    outside.loaded(sight(7, &[(1, false), (9, false)]));
    assert_eq!(outside.job().map(|job| job.action.0), Some(1));
    outside.ended(done(sight(8, &[(9, false)])));
    assert_eq!(outside.job(), None);
}

#[test]
fn a_crawler_retries_an_action_of_any_share() {
    let mut outside = Outside::new();
    let states = vec![found(7, &[1, 2], None)];
    outside.news(1, News { states, plan: plan(2), ..news(&[0]) });
    outside.loaded(sight(7, &[(1, false), (2, false)]));
    let own = outside.job().expect("there is something to do").action;
    let other = ActionSignature(3 - own.0);
    outside.ended(done(sight(7, &[])));
    assert_eq!(outside.job(), None, "the other action is not its own");
    outside.hear(node::NodeInput::Remind);
    let number = outside.said().expect("it is out of work").number;
    let heard = HeardUpTo { states: 1, plain: 0 };
    let unreached =
        News { plan: plan(2), after: heard, unreached: vec![(StateKey(7), other)], ..news(&[]) };
    outside.news(number, unreached.clone());
    assert_eq!(outside.job().map(|job| job.action), Some(other));
    // It tries as often as for its own.
    for _ in 0..8 {
        outside.ended(Outcome::Elsewhere { went_right: 0, at: sight(8, &[]) });
    }
    assert_eq!(outside.job(), None);
    outside.hear(node::NodeInput::Remind);
    let tell = outside.said().expect("it is out of work");
    assert_eq!(tell.closed, [(StateKey(7), other, JobFailure::Unreachable)]);
    // A node that asks once more is answered at once.
    let number = tell.number;
    outside.news(number, unreached);
    let closed = outside.said().map(|tell| tell.closed.clone());
    assert_eq!(
        (outside.job(), closed),
        (None, Some(vec![(StateKey(7), other, JobFailure::Unreachable)]))
    );
}

#[test]
fn all_crawlers_use_the_offers_that_the_coordinator_announced() {
    let mut outside = Outside::new();
    outside.news(1, news(&[0]));
    outside.loaded(sight(7, &[(2, false), (3, false)]));
    let first = outside.job().expect("there is something to do").action.0;
    let states = vec![found(7, &[1, 2], None)];
    outside.news(2, News { states, ..news(&[]) });
    let mut tried = Vec::new();
    outside.ended(done(sight(7, &[])));
    while let Some(job) = outside.job().cloned() {
        tried.push(job.action.0);
        outside.ended(done(sight(7, &[])));
    }
    tried.sort_unstable();
    assert_eq!(tried, if first == 2 { vec![1] } else { vec![1, 2] });
}
