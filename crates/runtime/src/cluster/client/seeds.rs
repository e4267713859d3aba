//! A cluster loads the seeds of a crawl as links of its first state (`seed_links.rs`). In the model
//! that a client fetches they are what they are on one machine: entries, and no actions.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::journal::Fact;
use argiope_controller::outcome::JobFailure;
use argiope_explore::id::StateKey;
use argiope_explore::quoted::Escaped;

use super::Fetched;
use crate::seed_links::{SeedLinks, seed_links};

impl Fetched {
    fn seed_links(&self) -> SeedLinks {
        self.spec.as_ref().map(|spec| seed_links(&spec.order.settings.seeds)).unwrap_or_default()
    }

    /// Makes entries of the links that loaded the seeds.
    pub(super) fn enter_seeds(&mut self) {
        let links = self.seed_links();
        if links.is_empty() {
            return;
        }
        for fact in self.states.values_mut() {
            if let Fact::State { offers, .. } = fact {
                offers.retain(|offered| !links.contains_key(&offered.action));
            }
        }
        let mut entered = Vec::new();
        for outcomes in self.outcomes.values_mut() {
            outcomes.retain(|fact| match fact {
                Fact::Transition { action, to, .. } | Fact::Stray { action, to, .. } => {
                    let seed = links.get(action);
                    entered.extend(seed.map(|seed| (*to, seed.to_string())));
                    seed.is_none()
                }
                Fact::GivenUp { action, reason, .. } if links.contains_key(action) => {
                    self.seeds_given_up.insert(*action, *reason);
                    false
                }
                Fact::LinkFollower { link: action, .. } | Fact::Ended { action, .. } => {
                    !links.contains_key(action)
                }
                _ => true,
            });
        }
        for (state, address) in entered {
            let entry = Fact::Entry { state, address, seed: true };
            self.outcomes.entry(state).or_default().insert(entry);
        }
    }

    /// The states that seeds have led to.
    pub(super) fn entries(&self) -> impl Iterator<Item = StateKey> {
        self.outcomes.values().flatten().filter_map(|fact| match fact {
            Fact::Entry { state, .. } => Some(*state),
            _ => None,
        })
    }

    /// The seeds that have led to no state, each with the reason if it was given up.
    fn unloaded_seeds(&self) -> BTreeMap<String, Option<JobFailure>> {
        let loaded = self.outcomes.values().flatten().filter_map(|fact| match fact {
            Fact::Entry { address, .. } => Some(address.as_str()),
            _ => None,
        });
        let loaded: BTreeSet<&str> = loaded.collect();
        let links = self.seed_links().into_iter();
        let left = links.filter(|(_, seed)| !loaded.contains(seed.as_str()));
        left.map(|(link, seed)| (seed.into(), self.seeds_given_up.get(&link).copied())).collect()
    }

    /// How many seeds were neither loaded nor given up.
    pub(super) fn open_seeds(&self) -> usize {
        self.unloaded_seeds().values().filter(|reason| reason.is_none()).count()
    }

    /// The seeds that were not loaded, each with a sentence that says why.
    pub fn seeds_left(&self) -> BTreeMap<String, String> {
        let why = |(seed, reason): (String, Option<JobFailure>)| {
            let shown = Escaped(&seed, 200);
            let why = match reason {
                None => format!("{shown} was not loaded yet"),
                Some(JobFailure::NoPage) => format!("{shown} leads to no page"),
                Some(reason) => format!("{shown}: {}", reason.in_words()),
            };
            (seed, why)
        };
        self.unloaded_seeds().into_iter().map(why).collect()
    }
}

#[cfg(test)]
mod tests {
    use argiope_controller::job::Route;
    use argiope_controller::outcome::Offered;
    use argiope_explore::id::ActionSignature;
    use argiope_explore::identity::Masks;

    use super::*;
    use crate::cluster::protocol::{CrawlSpec, FirstLook, Order};
    use crate::settings::CrawlSettings;

    const FIRST: StateKey = StateKey(1);
    const SECOND: StateKey = StateKey(2);

    /// What a controller sends of a crawl with two seeds, `/a` and `/b`.
    fn fetched(facts: impl IntoIterator<Item = Fact>) -> Fetched {
        let mut settings = CrawlSettings::new("http://host/");
        settings.add_seeds(["http://host/a", "http://host/b"]).unwrap();
        let order = Order { settings, ..Order::new("http://host/") };
        let first = FirstLook {
            origin: "http://host".to_owned(),
            masks: Masks::default(),
            endless: BTreeSet::new(),
        };
        let spec = CrawlSpec { order, first };
        let mut fetched = Fetched { spec: Some(spec), ..Fetched::default() };
        let offers = fetched.seed_links().into_keys();
        let offers = offers.map(|action| Offered { action, once: true }).collect();
        fetched.take(Fact::State {
            key: FIRST,
            offers,
            route: Some(Route::default()),
            content: None,
        });
        fetched.take(Fact::State { key: SECOND, offers: Vec::new(), route: None, content: None });
        facts.into_iter().for_each(|fact| fetched.take(fact));
        fetched.name_followers();
        fetched.enter_seeds();
        fetched
    }

    fn link(seed: &str) -> ActionSignature {
        let links = fetched([]).seed_links();
        let found = links.into_iter().find(|(_, address)| address.ends_with(seed));
        found.expect("it is a seed").0
    }

    #[test]
    fn a_seed_is_an_entry_and_no_action() {
        let transition = |seed| {
            let action = link(seed);
            Fact::Transition { from: FIRST, action, to: SECOND, notes: Vec::new() }
        };
        let open = fetched([transition("/a")]);
        assert_eq!(open.incomplete().as_deref(), Some("1 known actions were not tried"));
        assert_eq!(open.seeds_left().len(), 1);
        let all = fetched([transition("/a"), transition("/b")]);
        assert_eq!((all.incomplete(), all.seeds_left().len()), (None, 0));
        assert_eq!(all.outcomes(FIRST).count(), 0);
        assert_eq!(all.outcomes(SECOND).count(), 2);
        assert_eq!(all.entries().collect::<Vec<_>>(), [SECOND, SECOND]);
    }

    #[test]
    fn a_seed_that_was_given_up_is_left_with_the_reason() {
        let given_up = |seed, reason| Fact::GivenUp { from: FIRST, action: link(seed), reason };
        let all =
            fetched([given_up("/a", JobFailure::NoPage), given_up("/b", JobFailure::OutOfScope)]);
        assert_eq!(all.incomplete(), None);
        let why: Vec<String> = all.seeds_left().into_values().collect();
        assert_eq!(
            why,
            ["http://host/a leads to no page", "http://host/b: the load led out of the scope"]
        );
    }
}
