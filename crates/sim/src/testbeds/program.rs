//! Applications as small programs: a page is a value, and a function lists the controls of a page
//! with their target pages. `explore` turns such a program into a model.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use argiope_explore::model::Model;

/// An application as a program.
pub(super) trait Program {
    /// A page, as the browser shows it.
    type Page: Clone + Ord;

    /// The page that a load of the URL gives.
    fn start(&self) -> Self::Page;

    /// Lists the controls of a page.
    fn offer(&self, page: &Self::Page, offers: &mut Offers<Self::Page>);

    /// The names of the parts of its pages. None by default.
    fn part_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The parts of a page with their states, sorted by part.
    fn parts(&self, _page: &Self::Page) -> Vec<(u32, u32)> {
        Vec::new()
    }
}

/// A control: its label, and its number among the controls with this label.
type Control = (&'static str, Option<u16>);

/// The controls of one page, with their parts and their target pages.
pub(super) struct Offers<P> {
    part: Option<u32>,
    controls: Vec<(Control, Option<u32>, P)>,
}

impl<P> Offers<P> {
    /// Says which part the next controls belong to. Before that, they belong to the page.
    pub(super) fn in_part(&mut self, part: u32) -> &mut Self {
        self.part = Some(part);
        self
    }

    /// Adds a control with a unique label.
    pub(super) fn one(&mut self, name: &'static str, to: P) {
        self.controls.push(((name, None), self.part, to));
    }

    /// Adds one of several controls with the same label. The number identifies the thing that the
    /// control is about, so it is the same on every page.
    pub(super) fn nth(&mut self, name: &'static str, number: usize, to: P) {
        let number = u16::try_from(number).expect("a page has at most 2^16 controls of a kind");
        self.controls.push(((name, Some(number)), self.part, to));
    }
}

/// The figures that the model of a program must have.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) reset_cost: f64,
    pub(super) states: usize,
    pub(super) transitions: usize,
}

/// Explores a program breadth-first. The longest pages get a link "back to top", which does
/// nothing, until the model has the wanted number of transitions.
///
/// # Panics
/// If the model has not the wanted size. A test explores every program.
pub(super) fn explore<P: Program>(program: &P, wanted: &Wanted<'_>) -> Model {
    let mut numbers = BTreeMap::from([(program.start(), 0u32)]);
    let mut waiting = vec![program.start()];
    let mut controls: BTreeMap<Control, u32> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut states: Vec<Vec<Transition>> = Vec::new();
    while let Some(page) = waiting.get(states.len()) {
        let mut offers = Offers { part: None, controls: Vec::new() };
        program.offer(page, &mut offers);
        let mut transitions = Vec::with_capacity(offers.controls.len() + 1);
        for (control, part, to) in offers.controls {
            let action = *controls.entry(control).or_insert_with(|| {
                names.push(match control {
                    (name, None) => name.to_string(),
                    (name, Some(number)) => format!("{name} {number}"),
                });
                names.len() as u32 - 1
            });
            let next = waiting.len() as u32;
            let destination = match numbers.entry(to) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    waiting.push(new.key().clone());
                    *new.insert(next)
                }
            };
            transitions.push((action, destination, part));
        }
        states.push(transitions);
    }
    assert_eq!(states.len(), wanted.states, "states of {}", wanted.name);
    let spare = add_back_to_top(&mut states, names.len() as u32, wanted);
    if spare > 0 {
        names.push("back to top".to_string());
    }
    let mut model = Model::new(wanted.name, wanted.reset_cost, names);
    model.part_names = program.part_names();
    for (page, transitions) in waiting.iter().zip(states) {
        model.push_state_with_parts(program.parts(page), transitions);
    }
    model
}

/// An action with its destination and its part.
type Transition = (u32, u32, Option<u32>);

/// Adds the link to the longest pages. Returns the number of links.
fn add_back_to_top(states: &mut [Vec<Transition>], action: u32, wanted: &Wanted<'_>) -> usize {
    let offered: usize = states.iter().map(Vec::len).sum();
    let mut longest: Vec<u32> =
        (0..states.len() as u32).filter(|&state| !states[state as usize].is_empty()).collect();
    longest.sort_by_key(|&state| std::cmp::Reverse(states[state as usize].len()));
    let spare = wanted.transitions.checked_sub(offered);
    let spare = spare.filter(|&spare| spare <= longest.len()).unwrap_or_else(|| {
        panic!(
            "{}: {offered} transitions on {} pages cannot be filled up to {}",
            wanted.name,
            longest.len(),
            wanted.transitions
        )
    });
    for &state in &longest[..spare] {
        states[state as usize].push((action, state, None));
    }
    spare
}
