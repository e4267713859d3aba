//! The file of `--inputs`: values for fields of forms. It is checked in full before a crawl begins;
//! only the selectors are checked by the browser that will use them.

use std::collections::BTreeSet;
use std::ops::Range;

use argiope_browser::Browser;
use argiope_browser::agent::GivenValues;
use argiope_explore::quoted::Quoted;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::selectors::{self, SelectorError};

/// The largest file, in bytes. Every page gets all values.
pub const MAX_BYTES: usize = 256 * 1024;

/// The most values of a field. Each is an action of every page that shows the field.
const MAX_VALUES: usize = 100;

/// The types of fields that values can be given for.
const TYPES: &[&str] = &[
    "text",
    "search",
    "email",
    "url",
    "tel",
    "password",
    "number",
    "range",
    "color",
    "date",
    "time",
    "month",
    "week",
    "datetime-local",
    "checkbox",
    "radio",
    "file",
    "textarea",
    "select",
    "contenteditable",
];

/// Values for some fields, and where the file says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRule {
    /// The name of the file and the line, as `inputs.toml:3`.
    pub at: String,
    /// The fields and their values.
    pub given: GivenValues,
}

/// A mistake in a file of inputs: the file, the line, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {reason}")]
pub struct InputsError {
    at: String,
    reason: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputsFile {
    #[serde(default)]
    field: Vec<Spanned<FieldEntry>>,
}

/// One `[[field]]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    selector: Option<Spanned<String>>,
    label: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    #[serde(rename = "type")]
    field_type: Option<Spanned<String>>,
    autocomplete: Option<Spanned<String>>,
    values: Spanned<Vec<Spanned<String>>>,
}

/// Reads the text of a file of inputs. `file` is its name in errors.
pub fn parse(file: &str, text: &str) -> Result<Vec<InputRule>, InputsError> {
    let place = |span: Range<usize>| {
        let before = text.get(..span.start).unwrap_or(text);
        format!("{file}:{}", 1 + before.matches('\n').count())
    };
    let wrong = |span: Range<usize>, reason: String| InputsError { at: place(span), reason };
    if text.len() > MAX_BYTES {
        return Err(wrong(0..0, format!("the file has more than {MAX_BYTES} bytes")));
    }
    let read: InputsFile = toml::from_str(text).map_err(|error| {
        wrong(
            error.span().unwrap_or_default(),
            error.message().lines().collect::<Vec<_>>().join(" "),
        )
    })?;
    if read.field.is_empty() {
        return Err(wrong(0..0, "there is no [[field]] in the file".to_owned()));
    }
    read.field
        .into_iter()
        .map(|entry| {
            let span = entry.span();
            let given = entry
                .into_inner()
                .check(span.clone())
                .map_err(|(span, reason)| wrong(span, reason))?;
            Ok(InputRule { at: place(span), given })
        })
        .collect()
}

type Mistake = (Range<usize>, String);

impl FieldEntry {
    fn check(self, span: Range<usize>) -> Result<GivenValues, Mistake> {
        let values = check_values(self.values)?;
        let autocomplete = condition("autocomplete", self.autocomplete)?;
        let given = GivenValues {
            selector: condition("selector", self.selector)?,
            label: condition("label", self.label)?,
            name: condition("name", self.name)?,
            field_type: check_type(self.field_type)?,
            autocomplete: autocomplete.map(|word| word.to_ascii_lowercase()),
            values,
        };
        if given == (GivenValues { values: given.values.clone(), ..GivenValues::default() }) {
            let reason = "say which fields the values are for, with selector, label, name, type \
                          or autocomplete";
            return Err((span, reason.to_owned()));
        }
        Ok(given)
    }
}

fn condition(name: &str, text: Option<Spanned<String>>) -> Result<Option<String>, Mistake> {
    match text {
        Some(text) if text.get_ref().trim().is_empty() => {
            Err((text.span(), format!("{name} is empty")))
        }
        text => Ok(text.map(Spanned::into_inner)),
    }
}

fn check_type(text: Option<Spanned<String>>) -> Result<Option<String>, Mistake> {
    let Some(text) = text else { return Ok(None) };
    if !TYPES.contains(&text.get_ref().as_str()) {
        let known = TYPES.join(", ");
        let reason = format!("there is no type {}; the types are {known}", Quoted(text.get_ref()));
        return Err((text.span(), reason));
    }
    Ok(Some(text.into_inner()))
}

fn check_values(values: Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>, Mistake> {
    let span = values.span();
    let count = values.get_ref().len();
    if count == 0 {
        return Err((span, "values is an empty list".to_owned()));
    }
    if count > MAX_VALUES {
        return Err((span, format!("{count} values; at most {MAX_VALUES} are possible")));
    }
    let mut known = BTreeSet::new();
    let mut checked = Vec::with_capacity(count);
    for value in values.into_inner() {
        let span = value.span();
        let value = value.into_inner();
        if !known.insert(value.clone()) {
            return Err((span, format!("the value {} is there twice", Quoted(&value))));
        }
        checked.push(value);
    }
    Ok(checked)
}

/// Checks the selectors in the browser that will use them. The error is a whole sentence.
pub async fn check_selectors(browser: &Browser, rules: &[InputRule]) -> Result<(), String> {
    for rule in rules {
        let selector: Vec<String> = rule.given.selector.iter().cloned().collect();
        match selectors::check(browser, &selector).await {
            Ok(()) => {}
            Err(error @ SelectorError::Invalid(_)) => return Err(format!("{}: {error}", rule.at)),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_fields_in_order() {
        let text = "[[field]]\nlabel = \"E-mail\"\nvalues = [\"a@b.c\", \"\"]\n\n\
                    [[field]]\ntype = \"date\"\nselector = \"#born\"\nvalues = ['1990-01-15']\n";
        let rules = parse("i.toml", text).unwrap();
        let lines: Vec<&str> = rules.iter().map(|rule| rule.at.as_str()).collect();
        assert_eq!(lines, ["i.toml:1", "i.toml:5"]);
        assert_eq!(rules[0].given.label.as_deref(), Some("E-mail"));
        assert_eq!(rules[0].given.values, ["a@b.c", ""]);
        let second = &rules[1].given;
        assert_eq!(second.field_type.as_deref(), Some("date"));
        assert_eq!((second.selector.as_deref(), second.label.as_deref()), (Some("#born"), None));
    }

    #[test]
    fn a_mistake_is_named_with_its_file_and_line() {
        let cases = [
            ("", "i.toml:1: there is no [[field]] in the file"),
            ("[[field]]\nname = \"a\"\nvalues = []\n", "i.toml:3: values is an empty list"),
            ("[[field]]\nvalues = [\"a\"]\n", "i.toml:1: say which fields the values are for"),
            ("[[field]]\nname = \"\"\nvalues = [\"a\"]\n", "i.toml:2: name is empty"),
            ("[[field]]\ntype = \"txt\"\nvalues = [\"a\"]\n", "i.toml:2: there is no type \"txt\""),
            ("[[field]]\nname = \"a\"\nvalue = [\"a\"]\n", "i.toml:3: unknown field `value`"),
            ("[[field]]\nname = \"a\"\n", "i.toml:1: missing field `values`"),
            ("[[fields]]\nname = \"a\"\n", "i.toml:1: unknown field `fields`"),
            ("[[field]]\nname = \"a\"\nvalues = [\"a\", 3]\n", "i.toml:3: invalid type: integer"),
            ("[[field]]\nname = \"a\"\nvalues = \"a\"\n", "i.toml:3: invalid type: string"),
            (
                "[[field]]\nname = \"a\"\nvalues = [\n\"a\",\n\"a\"]\n",
                "i.toml:5: the value \"a\" is there twice",
            ),
            ("[[field]]\nname = \"a\"\nvalues\n", "i.toml:3: key with no value"),
        ];
        for (text, expected) in cases {
            let error = parse("i.toml", text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}\n{error}");
            assert!(!error.contains('\n'), "{error}");
        }
        let long = format!("[[field]]\nname = \"{}\"\nvalues = [\"a\"]\n", "x".repeat(MAX_BYTES));
        assert!(parse("i.toml", &long).is_err());
    }

    #[test]
    fn the_example_of_the_guide_is_a_valid_file() {
        let guide = include_str!("../../../docs/guide/inputs.md");
        let (_, rest) = guide.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let rules = parse("inputs.toml", example).unwrap();
        assert_eq!(rules.len(), 6);
        assert_eq!(rules[0].given.values, ["SPRING-24", "EXPIRED-23", ""]);
    }

    #[test]
    fn rules_are_the_same_after_the_store_and_the_network() {
        let rules = parse("i.toml", "[[field]]\nname = \"a\"\nvalues = [\"b\"]\n").unwrap();
        let stored = serde_json::to_vec(&rules).unwrap();
        assert_eq!(serde_json::from_slice::<Vec<InputRule>>(&stored).unwrap(), rules);
        let sent = postcard::to_allocvec(&rules).unwrap();
        assert_eq!(postcard::from_bytes::<Vec<InputRule>>(&sent).unwrap(), rules);
    }
}
