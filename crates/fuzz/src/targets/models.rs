//! Model files: any bytes give a model or an error in one line. A model that was read is written
//! back equal.

use argiope_explore::model::{Model, ModelError, ModelReadOptions};

use super::FuzzTarget;
use crate::reached::{Reached, bucket};

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "models",
    about: "model files are read or refused with the place, and written back equal",
    framed: false,
    tokens: &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "[0,0]",
        "[1,1],",
        "[0,0,0]",
        "{\"actions\":[]}",
        "\"actions\":",
        "\"states\":",
        "\"initial\":",
        "\"reset_cost\":",
        "\"name\":",
        "\"format\":",
        "\"parts\":",
        "\"argiope-model/1\"",
        "\"argiope-model/2\"",
        "null",
        "true",
        "-1",
        "1e999",
        "1e-999",
        "0.001",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "\\u0000",
        "\\ud800",
        "\u{1b}[2J",
        "\u{202e}",
        "\n",
    ],
    run,
    seeds,
};

/// An error is one line of at most this many characters: it goes to a terminal.
const LONGEST_ERROR: usize = 400;

fn run(input: &[u8]) -> Reached {
    let mut reached = Reached::default();
    let strict = Model::from_json(input, ModelReadOptions::default());
    let options = ModelReadOptions { allow_unreachable: true, ..ModelReadOptions::default() };
    let read = Model::from_json(input, options);
    match (&strict, &read) {
        (Ok(strict), Ok(read)) => assert_eq!(strict, read),
        (Err(ModelError::Unreachable { first, count }), Ok(read)) => {
            let unreachable = read.unreachable();
            assert_eq!((unreachable.first(), unreachable.len()), (Some(first), *count));
        }
        (Err(strict), Err(error)) => assert_eq!(strict, error),
        (Ok(_), Err(error)) => panic!("only the more tolerant reader refuses the file: {error}"),
        (Err(error), Ok(_)) => panic!("only the strict reader refuses the file: {error}"),
    }
    if let Err(error) = &strict {
        check_error(&error.to_string());
    }
    match read {
        Ok(model) => {
            let text = model.to_json();
            let again = Model::from_json(text.as_bytes(), options);
            assert_eq!(again.as_ref(), Ok(&model), "the file that was written is read otherwise");
            assert_eq!(again.expect("it was read").to_json(), text);
            let sizes = (bucket(model.states()), bucket(model.transitions()));
            let names = (bucket(model.actions.len()), bucket(model.part_names.len()));
            reached.accept((sizes, names, strict.is_ok()));
        }
        Err(error) => reached.refuse(kind(&error)),
    }
    reached
}

fn check_error(text: &str) {
    assert!(!text.is_empty() && text.chars().count() <= LONGEST_ERROR, "{text:?}");
    assert!(!text.chars().any(char::is_control), "the error could control a terminal: {text:?}");
}

/// The kind of an error; what the parser says, without the text of the file.
fn kind(error: &ModelError) -> (std::mem::Discriminant<ModelError>, String) {
    let said = match error {
        ModelError::Shape { message, .. } => message.chars().take(10).collect(),
        _ => String::new(),
    };
    (std::mem::discriminant(error), said)
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut switch = Model::new("switch", 2.0, vec!["on".into(), "off".into()]);
    switch.push_state([(0, 1)]);
    switch.push_state([(1, 0)]);
    let mut odd = Model::new("\u{1b}[2J ö \"\\ \u{202e}", 0.001, vec![String::new(), "\n".into()]);
    odd.initial = 1;
    odd.push_state([]);
    odd.push_state([(0, 0), (1, 1)]);
    let names = (0..40).map(|number| format!("action {number}")).collect();
    let mut wide = Model::new("wide", 1e6, names);
    for state in 0..30 {
        wide.push_state((0..state % 7).map(|action| (action * 5, (state * 7 + action) % 30)));
    }
    let mut parts = Model::new("parts", 3.0, vec!["switch".into(), "turn".into(), "top".into()]);
    parts.part_names = vec!["lamp".into(), "fan".into()];
    for (lamp, fan) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let state = lamp + 2 * fan;
        let transitions = [(0, state ^ 1, Some(0)), (1, state ^ 2, Some(1)), (2, state, None)];
        parts.push_state_with_parts([(0, lamp), (1, fan)], transitions);
    }
    let alone = {
        let mut alone = Model::new("", 1.5, Vec::new());
        alone.push_state([]);
        alone
    };
    let spaced = switch.to_json().replace(',', " ,\r\n\t").into_bytes();
    let models = [
        ("switch", switch),
        ("odd-texts", odd),
        ("wide", wide),
        ("alone", alone),
        ("parts", parts),
    ];
    let mut seeds: Vec<(String, Vec<u8>)> = models
        .into_iter()
        .map(|(name, model)| (name.to_owned(), model.to_json().into_bytes()))
        .collect();
    seeds.push(("spaces".to_owned(), spaced));
    seeds
}
