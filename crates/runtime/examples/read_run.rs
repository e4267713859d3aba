//! Reads a run directory and prints its graph: one line for each state, and one for each of its
//! transitions, with the label of the action.
//!
//! ```sh
//! cargo run -p argiope-runtime --example read_run -- run
//! ```
//!
//! The directory is opened for reading alone, so that a crawl may run in it meanwhile.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use argiope_controller::journal::Fact;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_runtime::store::{StateDetail, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: read_run DIRECTORY")?;
    let store = Store::read(Path::new(&directory))?;
    // The journal of facts says what is known; its order is that of the crawl.
    let mut states = Vec::new();
    let mut transitions: BTreeMap<StateKey, Vec<(ActionSignature, StateKey)>> = BTreeMap::new();
    for fact in store.facts()? {
        match fact? {
            Fact::State { key, .. } => states.push(key),
            Fact::Transition { from, action, to, .. } => {
                transitions.entry(from).or_default().push((action, to));
            }
            // Given up actions, changed destinations, links and costs.
            _ => {}
        }
    }
    let number = |key: StateKey| states.iter().position(|&state| state == key);
    for (at, &key) in states.iter().enumerate() {
        // Details are kept beside the journal: address, title, source, and labels of actions.
        let Some(detail) = store.detail(key)? else { continue };
        println!("state {at}: {:?} {}", detail.title, detail.url);
        for &(action, to) in transitions.get(&key).into_iter().flatten() {
            let to = number(to).map_or("?".to_owned(), |to| to.to_string());
            println!("  {} → state {to}", label(&detail, action));
        }
    }
    Ok(())
}

fn label(detail: &StateDetail, action: ActionSignature) -> &str {
    let offer = detail.offers.iter().find(|offer| offer.signature == action);
    offer.map_or("an action that the state no longer offers", |offer| offer.label.as_str())
}
