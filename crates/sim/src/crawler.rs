//! A simulated crawler that takes the same jobs and gives the same outcomes as one with a browser. It
//! stands in a known application, which may be made to misbehave.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::Job;
use argiope_controller::outcome::{JobFailure, Offered, Outcome, Sighting};
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::model::Model;

use crate::crawl::{key_of, signature_of};

/// A known application, with the names under which crawlers speak of it.
pub struct World<'a> {
    app: &'a Model,
    states: BTreeMap<StateKey, u32>,
    actions: BTreeMap<ActionSignature, u32>,
    faults: ApplicationFaults,
}

/// How an application misbehaves. Chances are in thousandths of the actions (or loads) executed.
#[derive(Clone, Debug, Default)]
pub struct ApplicationFaults {
    /// An action leads to where another action of the state leads.
    pub strays: usize,
    /// An action never ends.
    pub hangs: usize,
    /// The browser dies during an action.
    pub losses: usize,
    /// A load leads to where an action of the initial state leads.
    pub other_loads: usize,
    /// A load fails.
    pub failed_loads: usize,
    /// The page is somewhere else when a job begins without a reset.
    pub drifts: usize,
    /// The states and actions that hang each time.
    pub broken: BTreeSet<(u32, u32)>,
    /// The actions that are plain links, and whether they look like it.
    pub links: BTreeMap<u32, bool>,
}

impl<'a> World<'a> {
    /// An application that behaves as its model says.
    pub fn new(app: &'a Model) -> Self {
        Self::with_faults(app, ApplicationFaults::default())
    }

    /// An application that misbehaves.
    pub fn with_faults(app: &'a Model, faults: ApplicationFaults) -> Self {
        Self {
            app,
            states: (0..app.states() as u32).map(|state| (key_of(state), state)).collect(),
            actions: (0..app.actions.len() as u32)
                .map(|action| (signature_of(action), action))
                .collect(),
            faults,
        }
    }

    /// The state of the application that a key stands for.
    pub fn state(&self, key: StateKey) -> u32 {
        self.states[&key]
    }

    /// The action of the application that a signature stands for.
    pub fn action(&self, signature: ActionSignature) -> u32 {
        self.actions[&signature]
    }

    /// Whether an action is a plain link: taken in one state, it need not be taken in another.
    pub fn is_link(&self, action: u32) -> bool {
        self.faults.links.contains_key(&action)
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.app.states()
    }

    /// How many transitions it has.
    pub fn transitions(&self) -> usize {
        self.app.transitions()
    }

    /// The actions of a state, and where they lead.
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
            once: self.faults.links.get(&action).is_some_and(|&looks_like_it| looks_like_it),
        };
        Sighting {
            key: key_of(state),
            offers: Some(self.app.transitions_from(state).iter().map(offered).collect()),
        }
    }
}

/// A crawler in a world.
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
    /// One that stands nowhere. What the world does to it comes from the seed.
    pub fn new(seed: &[u64]) -> Self {
        Self { at: None, chance: Chance::new(seed) }
    }

    /// Loads the URL, which a crawl begins with.
    pub fn load(&mut self, world: &World<'_>) -> Sighting {
        self.at = Some(world.app.initial);
        world.see(world.app.initial)
    }

    /// Does a job, or as much of it as it can.
    pub fn perform(&mut self, world: &World<'_>, job: &Job) -> (Outcome, Spent) {
        let mut spent = Spent::default();
        if job.reset {
            spent.resets = 1;
            if let Step::Failed(reason) = self.reset(world) {
                return (self.fail(0, reason), spent);
            }
        } else if let Some(at) = self.at.filter(|_| self.happens(world.faults.drifts)) {
            self.at = Some(self.somewhere_near(world, at));
        }
        let start = job.walk.first().map_or(job.state, |step| step.from);
        let at = self.at.expect("a crawler that stands nowhere is told to reset");
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

    /// Draws only for what can happen at all, so that a world without faults costs no chance.
    fn happens(&mut self, thousandths: usize) -> bool {
        thousandths > 0 && self.chance.below(1000) < thousandths
    }

    fn somewhere_near(&mut self, world: &World<'_>, state: u32) -> u32 {
        let transitions = world.app.transitions_from(state);
        if transitions.is_empty() {
            state
        } else {
            transitions[self.chance.below(transitions.len())].1
        }
    }

    fn reset(&mut self, world: &World<'_>) -> Step {
        if self.happens(world.faults.failed_loads) {
            return Step::Failed(JobFailure::NotLoaded);
        }
        let initial = world.app.initial;
        let state = if self.happens(world.faults.other_loads) {
            self.somewhere_near(world, initial)
        } else {
            initial
        };
        self.at = Some(state);
        Step::At(state)
    }

    fn act(&mut self, world: &World<'_>, signature: ActionSignature) -> Step {
        let state = self.at.expect("a crawler acts where it stands");
        let action = world.action(signature);
        let found =
            world.app.transitions_from(state).iter().find(|transition| transition.0 == action);
        let &(_, destination) = found.expect("the state offers the action");
        if world.faults.broken.contains(&(state, action)) || self.happens(world.faults.hangs) {
            return Step::Failed(JobFailure::Hung);
        }
        if self.happens(world.faults.losses) {
            return Step::Failed(JobFailure::Lost);
        }
        let strays = self.happens(world.faults.strays);
        let destination = if strays { self.somewhere_near(world, state) } else { destination };
        self.at = Some(destination);
        Step::At(destination)
    }
}
