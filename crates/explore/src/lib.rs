//! The pure core of argiope: the model of an application, the graph of a crawl, the strategies that
//! choose what to explore next, and the identities that decide which pages are one state.
//!
//! Nothing here touches a clock, a disk, a network or a browser. Every random choice comes from a
//! seed. The real crawler, the simulator and the model checker therefore run the same code.
//!
//! # The nouns
//!
//! | noun | meaning | item |
//! | --- | --- | --- |
//! | page | what a crawler captured: a tree of nodes and the offers on it | [`page::Page`] |
//! | state | all pages that an identity gives the same key | [`id::StateKey`] |
//! | action | something that can be done in a state, by its signature | [`id::ActionSignature`] |
//! | slot | one action of one state | [`graph::Slot`] |
//! | candidate | a slot that was not executed yet | [`graph::Graph::is_free`] |
//! | part | a region of a state that may change on its own | [`parts::StatePart`] |
//! | context | what is done, and what the part shows to which it is done | [`contexts::Contexts`] |
//! | transition | a slot that was executed, with its destination | [`graph::Graph::target`] |
//! | graph | what a crawl knows so far | [`graph::Graph`] |
//! | job | a path of known transitions and one candidate at its end | [`job::PlannedJob`] |
//! | reset | loading the URL again, which leads to the initial state | [`strategy::INITIAL`] |
//! | model | a complete application: every transition of every state | [`model::Model`] |
//!
//! # The flow
//!
//! 1. A crawler captures a page. An identity names its state and its actions
//!    ([`identity::NamedIdentity::recognise`]).
//! 2. The driver reports the result to the explorer ([`explorer::Explorer::record`]), which updates
//!    the graph and notifies the strategy.
//! 3. The driver asks for the next job ([`explorer::Explorer::next`]). The strategy chooses it and
//!    the explorer claims its candidate, so that no other crawler gets the same one.
//! 4. The crawler executes the job, and the flow begins again. It ends when no candidate is left.
//!
//! # How to add a strategy
//!
//! 1. Create `src/strategies/my_strategy.rs` with a type that implements [`strategy::Strategy`].
//!    Three methods are required: [`on_discovered`], [`on_executed`] and [`choose`].
//! 2. Describe it in a constant [`strategy::NamedStrategy`]: name, help and constructor.
//! 3. List the constant in [`strategies::ALL`]. The command line, the help and the bench use it
//!    from then on. List it in [`strategies::FOR_PARTIAL_GRAPHS`] too if it implements
//!    [`on_extended`].
//! 4. Run `cargo test -p argiope-sim --test strategies`: every strategy must find the complete
//!    model of every test-bed.
//!
//! Most strategies build on one of these: [`distances::Distances`] (the nearest goal at any time),
//! [`strategies::greedy::Nearest`] (the nearest candidate), [`transfer::TransferSearch`] (the path
//! to one chosen state), [`anticipated::AnticipatedModel`] (candidates in groups, with predicted
//! transitions) and [`tour::TourProblem`] (the cheapest tour over many transitions).
//!
//! This strategy executes the last action of the present state first, and falls back on the nearest
//! candidate. The loop at the end is a complete driver:
//!
//! ```
//! use argiope_explore::explorer::Explorer;
//! use argiope_explore::graph::{Graph, Slot};
//! use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
//! use argiope_explore::job::PlannedJob;
//! use argiope_explore::model::Model;
//! use argiope_explore::strategies::greedy::Nearest;
//! use argiope_explore::strategy::{INITIAL, NamedStrategy, Strategy, StrategySettings};
//!
//! const LAST_FIRST: NamedStrategy = NamedStrategy {
//!     name: "last-first",
//!     summary: "Execute the last action of a state first",
//!     help: "Like greedy, but the actions of a state are executed in reverse order.",
//!     make: |settings| Box::new(LastFirst { nearest: Nearest::new(settings) }),
//! };
//!
//! #[derive(Clone)]
//! struct LastFirst {
//!     nearest: Nearest,
//! }
//!
//! impl Strategy for LastFirst {
//!     fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
//!         self.nearest.on_discovered(graph, state, by);
//!     }
//!
//!     fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
//!         self.nearest.on_executed(graph, slot, destination, new);
//!     }
//!
//!     fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
//!         match graph.slots(at).filter(|&slot| graph.is_free(slot)).last() {
//!             Some(candidate) => Some(PlannedJob { reset: false, walk: Vec::new(), candidate }),
//!             None => self.nearest.choose(graph, at),
//!         }
//!     }
//!
//!     fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
//!         self.nearest.on_claimed(graph, slot);
//!     }
//!
//!     fn on_released(&mut self, graph: &Graph, slot: Slot) {
//!         self.nearest.on_released(graph, slot);
//!     }
//!
//!     fn set_reset_cost(&mut self, cost: f64) {
//!         self.nearest.set_reset_cost(cost);
//!     }
//! }
//!
//! // A lamp: off (0), on (1) and broken (2).
//! let names = ["on", "off", "smash"].map(String::from).to_vec();
//! let mut model = Model::new("lamp", 2.0, names);
//! model.push_state([(0, 1), (2, 2)]);
//! model.push_state([(1, 0), (2, 2)]);
//! model.push_state([]);
//!
//! let key = |state: u32| StateKey(state.into());
//! let actions = |state: u32| -> Vec<ActionSignature> {
//!     let transitions = model.transitions_from(state).iter();
//!     transitions.map(|&(action, _)| ActionSignature(action.into())).collect()
//! };
//! let settings = StrategySettings { reset_cost: model.reset_cost, seed: 1 };
//! let first = model.initial;
//! let mut explorer = Explorer::new(&LAST_FIRST, settings, key(first), &actions(first));
//! let mut at = INITIAL;
//! while let Some(job) = explorer.next(at) {
//!     let slot = job.candidate;
//!     let source = explorer.graph().key(slot.state).0 as u32;
//!     let action = explorer.graph().signature(explorer.graph().action_of(slot)).0 as u32;
//!     let transitions = model.transitions_from(source);
//!     let &(_, to) = transitions.iter().find(|&&(other, _)| other == action).unwrap();
//!     at = explorer.record(slot, key(to), || actions(to)).state;
//! }
//! assert_eq!(explorer.graph().states(), 3);
//! assert_eq!(explorer.graph().transitions(), 4);
//! ```
//!
//! The example `strategy` of the crate `argiope-sim` runs such a strategy on two test-beds beside
//! the built-in ones.
//!
//! # How to add an identity
//!
//! 1. Create `src/identity/my_identity.rs` with a type that implements [`identity::Identity`]: the
//!    canonical form of a page ([`identity::View`]) and the signatures of its offers.
//! 2. Describe it in a constant [`identity::NamedIdentity`], and list it in [`identity::ALL`].
//! 3. Extend the tables in `src/identity/tests/`: pages that are the same state, and pages that are
//!    not. The property tests there cover every identity in the list.
//!
//! Two pages are the same state exactly if their views and their actions are equal. An identity is
//! therefore always an equivalence. This one looks at the title alone, and names actions as the
//! built-in `content` does:
//!
//! ```
//! use std::borrow::Cow;
//!
//! use argiope_explore::id::ActionSignature;
//! use argiope_explore::identity::{self, Identity, NamedIdentity};
//! use argiope_explore::identity::{MaskedAspect, MaskedPage, Masks, Token, View};
//! use argiope_explore::page::{Page, PageNode};
//!
//! struct TitleIdentity;
//!
//! impl Identity for TitleIdentity {
//!     fn view<'a>(&self, page: &MaskedPage<'a>) -> View<'a> {
//!         View { tokens: vec![(0, Token::Text(Cow::Borrowed(&page.tree.page.title)))] }
//!     }
//!
//!     fn signatures(&self, page: &MaskedPage<'_>) -> Vec<Option<ActionSignature>> {
//!         identity::find("content").unwrap().identity.signatures(page)
//!     }
//!
//!     // No node counts, so no node needs a mask.
//!     fn differ(&self, _: &PageNode, _: &PageNode, _: &MaskedAspect) -> bool {
//!         false
//!     }
//! }
//!
//! const TITLE: NamedIdentity = NamedIdentity {
//!     name: "title",
//!     summary: "The title of the page",
//!     help: "Two pages are the same state if they have the same title and the same actions.",
//!     identity: &TitleIdentity,
//! };
//!
//! let page = |url: &str, title: &str| Page {
//!     url: url.into(),
//!     title: title.into(),
//!     ..Page::default()
//! };
//! let key = |page: Page| TITLE.recognise(&page, &Masks::NONE).key;
//! assert_eq!(key(page("/a", "Inbox")), key(page("/b", "Inbox")));
//! assert_ne!(key(page("/a", "Inbox")), key(page("/a", "Drafts")));
//! ```
//!
//! [`on_discovered`]: strategy::Strategy::on_discovered
//! [`on_executed`]: strategy::Strategy::on_executed
//! [`on_extended`]: strategy::Strategy::on_extended
//! [`choose`]: strategy::Strategy::choose

pub mod accessible;
pub mod anticipated;
pub mod bound;
pub mod brakes;
pub mod chance;
pub mod contexts;
pub mod distances;
pub mod explorer;
pub mod flow;
pub mod graph;
pub mod id;
pub mod identity;
pub mod job;
pub mod key_map;
pub mod model;
pub mod page;
pub mod parts;
pub mod quoted;
pub mod strategies;
pub mod strategy;
pub mod tour;
pub mod transfer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
