//! Crawls that stop when every part is covered: what is alike is executed once, and the rest waits.

use std::collections::BTreeSet;

use argiope_controller::coverage::CoverageLevel;
use argiope_controller::input::StoppedBy;
use argiope_controller::journal::Fact;
use argiope_controller::settings::StopAt;
use argiope_explore::parts::StatePart;
use argiope_runtime::crawl::CrawlSummary;
use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Server, Site};

use crate::real::{Place, records, run};

/// The parts that were found, and the contexts that were executed.
type Covered = (BTreeSet<StatePart>, BTreeSet<(u64, StatePart)>);

fn covered(facts: &[Fact]) -> Covered {
    let parts = |fact: &Fact| match fact {
        Fact::Parts { state, parts } => Some((*state, parts.clone())),
        _ => None,
    };
    let states: std::collections::BTreeMap<_, _> = facts.iter().filter_map(parts).collect();
    let context = |fact: &Fact| {
        let Fact::Transition { from, action, .. } = fact else { return None };
        let state = states.get(from)?;
        let action = state.action(*action)?;
        Some((action.deed, state.parts[action.part as usize]))
    };
    let all = states.values().flat_map(|state| state.parts.iter().copied());
    (all.collect(), facts.iter().filter_map(context).collect())
}

fn crawl(server: &Server, place: &Place, tabs: u32, stop_at: StopAt) -> CrawlSummary {
    let settings = CrawlSettings { tabs, stop_at, ..CrawlSettings::new(server.url()) };
    run(&settings, &place.path("run")).unwrap()
}

fn expected(name: &str) -> (usize, usize) {
    let expected = Site::find(name).and_then(Site::expected).unwrap();
    (expected.states as usize, expected.transitions as usize)
}

#[test]
fn alike_actions_wait_and_a_resumed_crawl_executes_them() {
    let mut all: Option<Covered> = None;
    for tabs in [1, 2, 8] {
        let (server, place) = (Server::start("shelves").unwrap(), Place::new());
        let summary = crawl(&server, &place, tabs, StopAt::Parts);
        assert_eq!(summary.stopped_by, Some(StoppedBy::PartsCovered), "{tabs} tabs: {summary:?}");
        assert!(!summary.complete, "{tabs} tabs: {summary:?}");
        let coverage = summary.coverage;
        assert_eq!(coverage.reached, CoverageLevel::Parts, "{tabs} tabs: {summary:?}");
        assert_eq!(coverage.contexts, coverage.contexts_executed, "{tabs} tabs: {summary:?}");
        // Three sections to open and to close, three books, the way back, and a sample of each.
        assert!(summary.progress.transitions <= 24, "{tabs} tabs: {summary:?}");
        assert!(coverage.alike_waiting > 20, "{tabs} tabs: {summary:?}");
        let covered = covered(&records(&place.path("run")));
        let expected = all.get_or_insert_with(|| covered.clone());
        assert_eq!(&covered, expected, "{tabs} tabs");
        let summary = crawl(&server, &place, tabs, StopAt::All);
        let counts = (summary.progress.states, summary.progress.transitions);
        assert_eq!(counts, self::expected("shelves"), "{tabs} tabs: {summary:?}");
        assert!(summary.complete, "{tabs} tabs: {summary:?}");
        assert_eq!(summary.coverage.reached, CoverageLevel::All, "{tabs} tabs: {summary:?}");
    }
}

#[test]
fn a_crawl_that_decides_by_itself_goes_on_where_little_is_left() {
    let (server, place) = (Server::start("shelves").unwrap(), Place::new());
    let summary = crawl(&server, &place, 1, StopAt::Auto);
    let counts = (summary.progress.states, summary.progress.transitions);
    assert_eq!(counts, expected("shelves"), "{summary:?}");
    assert!(summary.complete, "{summary:?}");
    let facts = records(&place.path("run"));
    assert!(facts.contains(&Fact::Undeferred), "it went on to what is alike");
}
