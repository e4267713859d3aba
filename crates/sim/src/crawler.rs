//! A simulated crawler: it takes the jobs and gives the outcomes of a crawler with a browser. It
//! crawls a known application, into which faults can be injected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use argiope_controller::job::Job;
use argiope_controller::outcome::{JobFailure, Offered, Outcome, Sighting};
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::model::Model;
use argiope_explore::parts::{PartAction, PartLook, PartPlace, StatePart, StateParts};

use crate::crawl::{key_of, signature_of};

/// A known application, with the keys and signatures by which crawlers identify its states and
/// actions.
pub struct World<'a> {
    app: &'a Model,
    states: BTreeMap<StateKey, u32>,
    actions: BTreeMap<ActionSignature, u32>,
    faults: ApplicationFaults,
    opened: Option<OpenedRows>,
    /// The actions that no page shows: the seeds of the crawl.
    seeds: BTreeSet<u32>,
}

/// The memory of a server: the rows of a list that were opened, a bit for each.
#[derive(Debug)]
struct OpenedRows {
    rows: u32,
    opened: AtomicU64,
}

impl OpenedRows {
    fn on_action(&self, action: u32) {
        if action < self.rows {
            self.opened.fetch_or(1 << action, Ordering::Relaxed);
        }
    }

    fn count(&self) -> u32 {
        self.opened.load(Ordering::Relaxed).count_ones()
    }
}

/// A list of rows, of which the server remembers which were opened. The first states are the list
/// with each number of ticks; each offers all rows. The others are the rows, which offer nothing.
/// The last action, a welcome, is offered only as long as no row was opened.
pub fn remembered_rows(rows: u32) -> Model {
    let names = (0..=rows).map(|action| format!("action {action}")).collect();
    let mut model = Model::new("rows", 2.0, names);
    for ticks in 0..=rows {
        let welcome = (ticks == 0).then_some((rows, 2 * rows + 1));
        model.push_state((0..rows).map(|row| (row, rows + 1 + row)).chain(welcome));
    }
    for _ in 0..=rows {
        model.push_state([]);
    }
    model
}

/// Faults of an application. Numbers are rates in thousandths of the executed actions or loads.
#[derive(Clone, Debug, Default)]
pub struct ApplicationFaults {
    /// An action leads to the target of another action of the state.
    pub strays: usize,
    /// An action never ends.
    pub hangs: usize,
    /// The browser dies during an action.
    pub losses: usize,
    /// A load leads to the target of an action of the initial state.
    pub other_loads: usize,
    /// A load fails.
    pub failed_loads: usize,
    /// The page has changed to another state when a job begins without a reset.
    pub drifts: usize,
    /// The states and actions that hang every time.
    pub broken: BTreeSet<(u32, u32)>,
    /// The actions that are plain links, and whether crawlers recognise them before following them.
    pub links: BTreeMap<u32, bool>,
}

impl<'a> World<'a> {
    /// An application without faults.
    pub fn new(app: &'a Model) -> Self {
        Self::with_faults(app, ApplicationFaults::default())
    }

    /// An application with faults.
    pub fn with_faults(app: &'a Model, faults: ApplicationFaults) -> Self {
        Self {
            app,
            states: (0..app.states() as u32).map(|state| (key_of(state), state)).collect(),
            actions: (0..app.actions.len() as u32)
                .map(|action| (signature_of(action), action))
                .collect(),
            faults,
            opened: None,
            seeds: BTreeSet::new(),
        }
    }

    /// The same with seeds: actions of the initial state that crawlers perform and do not see.
    #[must_use]
    pub fn with_seeds(mut self, seeds: impl IntoIterator<Item = u32>) -> Self {
        self.seeds.extend(seeds);
        self
    }

    /// An application of [`remembered_rows`], whose server remembers which rows were opened.
    pub fn remembering(rows: &'a Model) -> Self {
        let opened = OpenedRows { rows: rows.actions.len() as u32 - 1, opened: AtomicU64::new(0) };
        Self { opened: Some(opened), ..Self::new(rows) }
    }

    /// The state that a load leads to.
    fn landing(&self) -> u32 {
        self.opened.as_ref().map_or(self.app.initial, OpenedRows::count)
    }

    /// The application's number of a state, if a load of its own address leads to it.
    pub(crate) fn entry(&self, key: StateKey) -> Option<u32> {
        self.states.get(&key).copied().filter(|state| self.app.entries.contains(state))
    }

    /// The application's number of a state.
    pub fn state(&self, key: StateKey) -> u32 {
        self.states[&key]
    }

    /// The application's number of an action.
    pub fn action(&self, signature: ActionSignature) -> u32 {
        self.actions[&signature]
    }

    /// Whether an action is a plain link: a crawl follows it from one state only.
    pub fn is_link(&self, action: u32) -> bool {
        self.faults.links.contains_key(&action)
    }

    /// Whether there are plain links.
    pub fn has_links(&self) -> bool {
        !self.faults.links.is_empty()
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.app.states()
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.app.transitions()
    }

    /// The actions of a state, each with its target.
    pub fn from(&self, state: u32) -> &[(u32, u32)] {
        self.app.transitions_from(state)
    }

    /// The first difference between a model found by a crawl and the application. A plain link need
    /// only be followed from one of the states that offer it.
    pub(crate) fn difference(&self, found: &BTreeMap<u32, BTreeSet<(u32, u32)>>) -> Option<String> {
        let followed: BTreeSet<u32> = found.values().flatten().map(|&(action, _)| action).collect();
        let is_spared = |action| self.is_link(action) && followed.contains(&action);
        (0..self.states() as u32).find_map(|state| {
            let Some(leads) = found.get(&state) else {
                return Some(format!("state {state} is lost"));
            };
            let expected: BTreeSet<(u32, u32)> = self.from(state).iter().copied().collect();
            let missing = expected.difference(leads).filter(|lead| !is_spared(lead.0)).count();
            let wrong = leads.difference(&expected).count();
            (missing + wrong > 0).then(|| {
                format!("state {state}: {missing} transitions are lost, {wrong} are wrong")
            })
        })
    }

    fn see(&self, state: u32) -> Sighting {
        let offered = |&(action, _): &(u32, u32)| Offered {
            action: signature_of(action),
            once: self.faults.links.get(&action).is_some_and(|&is_recognised| is_recognised),
        };
        let transitions = self.app.transitions_from(state).iter();
        let shown = transitions.filter(|(action, _)| !self.seeds.contains(action));
        let seen = Sighting::described(key_of(state), shown.map(offered).collect());
        Sighting { parts: self.parts_of(state).map(Box::new), ..seen }
    }

    /// The parts of a state, if the application declares any.
    fn parts_of(&self, state: u32) -> Option<StateParts> {
        let look = |&(place, look): &(u32, u32)| StatePart {
            place: PartPlace(place.into()),
            look: PartLook(look.into()),
        };
        let parts: Vec<StatePart> = self.app.parts_of(state).iter().map(look).collect();
        let action = |(at, &(action, _)): (usize, &(u32, u32))| {
            let place = PartPlace(self.app.part_of(state, at)?.into());
            let part = *parts.iter().find(|part| part.place == place)?;
            let (deed, action) = (action.into(), signature_of(action));
            Some((PartAction { action, deed, part: 0, item: false }, part))
        };
        let actions = self.app.transitions_from(state).iter().enumerate().filter_map(action);
        (!parts.is_empty()).then(|| StateParts::new(&parts, actions))
    }
}

/// A crawler of a simulated application.
pub struct SimulatedCrawler {
    at: Option<u32>,
    chance: Chance,
}

/// How one step ended.
enum Step {
    At(u32),
    Failed(JobFailure),
}

impl SimulatedCrawler {
    /// A crawler that has loaded nothing. The seed decides which faults it meets.
    pub fn new(seed: &[u64]) -> Self {
        Self { at: None, chance: Chance::new(seed) }
    }

    /// Loads the URL.
    pub fn load(&mut self, world: &World<'_>) -> Sighting {
        self.at = Some(world.landing());
        world.see(world.landing())
    }

    /// Performs a job, up to the first step that fails.
    pub fn perform(&mut self, world: &World<'_>, job: &Job) -> (Outcome, Spent) {
        let mut spent = Spent::default();
        if job.reset {
            spent.resets = 1;
            if let Step::Failed(reason) = self.reset(world, job.start()) {
                return (self.fail(0, reason), spent);
            }
        } else if let Some(at) = self.at.filter(|_| self.draw(world.faults.drifts)) {
            self.at = Some(self.draw_neighbour(world, at));
        }
        let start = job.start();
        let at = self.at.expect("the first job of a crawler resets");
        if key_of(at) != start {
            return (Outcome::Elsewhere { went_right: 0, at: world.see(at) }, spent);
        }
        for (went_right, step) in (0..).zip(&job.walk) {
            spent.actions += 1;
            match self.act(world, step.action) {
                Step::Failed(reason) => return (self.fail(went_right, reason), spent),
                Step::At(state) if key_of(state) != step.to => {
                    return (Outcome::Elsewhere { went_right, at: world.see(state) }, spent);
                }
                Step::At(_) => {}
            }
        }
        spent.actions += 1;
        let outcome = match self.act(world, job.action) {
            Step::Failed(reason) => self.fail(job.walk.len() as u32, reason),
            Step::At(state) => {
                let once = world.faults.links.contains_key(&world.action(job.action));
                Outcome::Done { at: world.see(state), notes: Vec::new(), once }
            }
        };
        (outcome, spent)
    }

    fn fail(&mut self, went_right: u32, reason: JobFailure) -> Outcome {
        self.at = None;
        Outcome::Failed { went_right, reason }
    }

    /// Draws whether a fault happens. A rate of zero draws nothing.
    fn draw(&mut self, thousandths: usize) -> bool {
        thousandths > 0 && self.chance.below(1000) < thousandths
    }

    fn draw_neighbour(&mut self, world: &World<'_>, state: u32) -> u32 {
        let transitions = world.app.transitions_from(state);
        if transitions.is_empty() {
            state
        } else {
            transitions[self.chance.below(transitions.len())].1
        }
    }

    /// Loads the address of an entry, or else the URL.
    fn reset(&mut self, world: &World<'_>, start: StateKey) -> Step {
        if self.draw(world.faults.failed_loads) {
            return Step::Failed(JobFailure::NotLoaded);
        }
        let initial = world.entry(start).unwrap_or_else(|| world.landing());
        let state = if self.draw(world.faults.other_loads) {
            self.draw_neighbour(world, initial)
        } else {
            initial
        };
        self.at = Some(state);
        Step::At(state)
    }

    fn act(&mut self, world: &World<'_>, signature: ActionSignature) -> Step {
        let state = self.at.expect("a crawler acts after a load");
        let action = world.action(signature);
        let found =
            world.app.transitions_from(state).iter().find(|transition| transition.0 == action);
        let &(_, destination) = found.expect("the state offers the action");
        if world.faults.broken.contains(&(state, action)) || self.draw(world.faults.hangs) {
            return Step::Failed(JobFailure::Hung);
        }
        if self.draw(world.faults.losses) {
            return Step::Failed(JobFailure::Lost);
        }
        if let Some(opened) = &world.opened {
            opened.on_action(action);
        }
        let strays = self.draw(world.faults.strays);
        let destination = if strays { self.draw_neighbour(world, state) } else { destination };
        self.at = Some(destination);
        Step::At(destination)
    }
}
