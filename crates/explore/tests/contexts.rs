//! Crawls of made-up pages with independent and dependent parts: actions that are alike wait, and
//! what depends on another part is found out.

use std::collections::BTreeSet;

use argiope_explore::contexts::ContextCounts;
use argiope_explore::explorer::Explorer;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::parts::{PartAction, PartLook, PartPlace, StatePart, StateParts};
use argiope_explore::strategies;
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};

/// What each part of a page shows.
type Looks = Vec<u64>;

/// A page of parts that each show one of several things in turn.
#[derive(Clone, Copy)]
struct Wheels {
    parts: usize,
    looks: u64,
    /// The first part turns by two where the last part shows its second look.
    is_coupled: bool,
    /// Every part is an item of one list.
    is_list: bool,
}

impl Wheels {
    const fn new(parts: usize, looks: u64) -> Self {
        Self { parts, looks, is_coupled: false, is_list: false }
    }

    fn key(&self, looks: &Looks) -> StateKey {
        StateKey(looks.iter().fold(1, |key, look| key * u128::from(self.looks) + u128::from(*look)))
    }

    fn part(&self, part: usize, looks: &Looks) -> StatePart {
        let place = if self.is_list { 0 } else { part };
        StatePart { place: PartPlace(place as u64), look: PartLook(looks[part]) }
    }

    fn actions(&self) -> Vec<ActionSignature> {
        (0..self.parts).map(|part| ActionSignature(part as u64)).collect()
    }

    fn parts(&self, looks: &Looks) -> StateParts {
        let action = |part: usize| {
            let deed = if self.is_list { 0 } else { part as u64 };
            let action = ActionSignature(part as u64);
            let action = PartAction { action, deed, part: 0, item: self.is_list };
            (action, self.part(part, looks))
        };
        StateParts::new(&[], (0..self.parts).map(action))
    }

    fn after(&self, mut looks: Looks, action: ActionSignature) -> Looks {
        let part = action.0 as usize;
        let is_fast = self.is_coupled && part == 0 && looks[self.parts - 1] == 1;
        looks[part] = (looks[part] + if is_fast { 2 } else { 1 }) % self.looks;
        looks
    }
}

/// What a crawl has found when nothing is left but what waits.
struct Crawl {
    explorer: Explorer,
    executed: usize,
    parts: BTreeSet<StatePart>,
}

impl Crawl {
    fn counts(&self) -> ContextCounts {
        self.explorer.contexts().expect("alike actions wait").counts()
    }
}

/// Crawls until only alike actions wait; then, if `all`, until the end.
fn crawl(wheels: Wheels, named: &NamedStrategy, seed: u64, all: bool) -> Crawl {
    let settings = StrategySettings { reset_cost: 2.0, seed };
    let first: Looks = vec![0; wheels.parts];
    let actions = wheels.actions();
    let mut explorer = Explorer::new(named, settings, wheels.key(&first), &actions);
    explorer.defer_alike(seed);
    explorer.describe(INITIAL, wheels.parts(&first));
    let mut states = vec![first];
    let (mut at, mut executed) = (INITIAL, 0);
    let mut is_over = false;
    loop {
        let Some(job) = explorer.next(at) else {
            if explorer.check_alike() {
                continue;
            }
            if !all || std::mem::replace(&mut is_over, true) {
                break;
            }
            explorer.free_alike();
            continue;
        };
        let slot = job.candidate;
        let action = explorer.graph().signature(explorer.graph().action_of(slot));
        let looks = wheels.after(states[slot.state.at()].clone(), action);
        let landing = explorer.record(slot, wheels.key(&looks), || actions.clone());
        if landing.new {
            explorer.describe(landing.state, wheels.parts(&looks));
            states.push(looks);
        }
        (at, executed) = (landing.state, executed + 1);
    }
    let parts = states.iter().flat_map(|looks| wheels.parts(looks).parts).collect();
    Crawl { explorer, executed, parts }
}

#[test]
fn independent_parts_cost_their_sum_and_not_their_product() {
    let wheels = Wheels::new(6, 3);
    for named in strategies::ALL {
        for seed in 0..8 {
            let crawl = crawl(wheels, named, seed, false);
            let counts = crawl.counts();
            assert_eq!((counts.seen, counts.executed), (18, 18), "{}", named.name);
            assert_eq!(counts.dependent + counts.unexplained, 0, "{}", named.name);
            assert_eq!(crawl.parts.len(), 18, "{}", named.name);
            // Each context once, and at most one sample of each.
            assert!(crawl.executed <= 36, "{}: {}", named.name, crawl.executed);
        }
    }
}

#[test]
fn the_rest_is_executed_if_all_is_wanted() {
    let wheels = Wheels::new(4, 3);
    for named in strategies::ALL {
        let crawl = crawl(wheels, named, 5, true);
        let graph = crawl.explorer.graph();
        assert_eq!((graph.states(), crawl.executed), (81, 324), "{}", named.name);
        assert_eq!(graph.deferred().len(), 0, "{}", named.name);
    }
}

#[test]
fn a_part_on_which_an_action_depends_is_found() {
    let wheels = Wheels { is_coupled: true, ..Wheels::new(4, 5) };
    let mut found = 0;
    for named in strategies::ALL {
        for seed in 0..20 {
            let counts = crawl(wheels, named, seed, false).counts();
            assert_eq!(counts.unexplained, 0, "{} {seed}", named.name);
            assert_eq!(counts.seen, counts.executed, "{} {seed}", named.name);
            assert!(counts.dependent <= 1, "{} {seed}", named.name);
            found += counts.dependent;
        }
        // Where every action is executed, the dependence shows.
        let all = crawl(wheels, named, 3, true);
        assert_eq!(all.counts().dependent, 1, "{}", named.name);
        assert_eq!(all.explorer.graph().states(), 625, "{}", named.name);
    }
    assert!(found > 0, "no sample found the dependence");
}

#[test]
fn three_items_of_a_list_stand_for_all() {
    for items in [5, 50] {
        let wheels = Wheels { is_list: true, ..Wheels::new(items, 2) };
        let crawl = crawl(wheels, strategies::find("greedy").expect("a strategy"), 1, false);
        let counts = crawl.counts();
        assert_eq!((counts.seen, counts.executed), (2, 2));
        // Three of each look, and at most one sample of each.
        assert!((6..=8).contains(&crawl.executed), "{items} items cost {}", crawl.executed);
    }
}

#[test]
fn the_same_seed_gives_the_same_crawl() {
    let wheels = Wheels { is_coupled: true, ..Wheels::new(4, 4) };
    for named in strategies::ALL {
        let of = |seed| {
            let crawl = crawl(wheels, named, seed, false);
            (crawl.executed, crawl.counts(), crawl.explorer.graph().states())
        };
        assert_eq!(of(4), of(4), "{}", named.name);
    }
}
