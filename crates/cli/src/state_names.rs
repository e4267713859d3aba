//! Names of states for people: the dialog, the selected tab or the heading that tells a state from
//! the others. Also groups states that are nearly equal into screens. Pages are hostile: names are
//! escaped where they are printed.

use std::collections::BTreeMap;

use argiope_explore::accessible::{self, AccessiblePage};
use argiope_explore::id::StateKey;
use argiope_explore::identity::{self, Masks, looks_generated};
use argiope_explore::page::{Page, PageNode};

/// The maximum number of signs that are kept of a page.
const MAX_SIGNS: usize = 12;
/// The maximum number of signs in a name.
const MAX_IN_NAME: usize = 3;

/// What a page shows that may tell it from others, the most telling first: dialogs, selected tabs,
/// headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSigns {
    signs: Vec<String>,
    title: String,
}

impl PageSigns {
    /// Reads the signs of a page.
    pub fn of(page: &Page) -> Self {
        let named = AccessiblePage::of(page);
        let mut found: Vec<(u8, String)> = Vec::new();
        for (at, node) in page.nodes.iter().enumerate().filter(|(_, node)| node.visible) {
            let Some((rank, word)) = sign(node) else { continue };
            let mut name = named.name(at);
            if name.is_empty() && word == "dialog" {
                name = first_heading(&named, at);
            }
            if name.is_empty() && word != "dialog" {
                continue;
            }
            let text = if word.is_empty() { name } else { format!("{word} {name}") };
            found.push((rank, text.trim_end().to_owned()));
        }
        found.sort_by_key(|(rank, _)| *rank);
        let mut signs: Vec<String> = Vec::new();
        for (_, text) in found {
            if signs.len() < MAX_SIGNS && !signs.contains(&text) {
                signs.push(text);
            }
        }
        Self { signs, title: page.title.clone() }
    }
}

/// How telling an element is, and the word before its name.
fn sign(node: &PageNode) -> Option<(u8, &'static str)> {
    let is = |name: &str, value: &str| node.attribute(name) == Some(value);
    match accessible::role(node)? {
        "dialog" | "alertdialog" => Some((0, "dialog")),
        "menu" | "listbox" => Some((1, "menu")),
        "tab" if is("aria-selected", "true") => Some((2, "tab")),
        "alert" => Some((3, "alert")),
        _ if node.attribute("aria-current").is_some_and(|value| value != "false") => {
            Some((4, "at"))
        }
        "heading" => Some((heading_rank(node), "")),
        _ => None,
    }
}

fn heading_rank(node: &PageNode) -> u8 {
    match node.tag.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => 5 + level - b'1',
        _ => 7,
    }
}

fn first_heading(page: &AccessiblePage<'_>, around: usize) -> String {
    let inside = around + 1..page.tree().end(around);
    let is_heading = |at: &usize| accessible::role(page.tree().node(*at)) == Some("heading");
    inside.take(200).find(is_heading).map(|at| page.name(at)).unwrap_or_default()
}

/// The names of states: of each, the signs that not all states have, as many as are needed to tell
/// it from the others. Without such a sign, the title.
pub fn name_states(states: &[PageSigns]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sign in states.iter().flat_map(|state| &state.signs) {
        *counts.entry(sign).or_default() += 1;
    }
    let tells = |sign: &&String| counts[sign.as_str()] < states.len() || states.len() == 1;
    let telling: Vec<Vec<&String>> =
        states.iter().map(|state| state.signs.iter().filter(tells).collect()).collect();
    let mut used: Vec<usize> = telling.iter().map(|signs| signs.len().min(1)).collect();
    let name = |state: usize, used: usize| match used {
        0 => states[state].title.clone(),
        _ => telling[state][..used].iter().map(|sign| sign.as_str()).collect::<Vec<_>>().join(", "),
    };
    for _ in 1..MAX_IN_NAME {
        let mut same: BTreeMap<String, usize> = BTreeMap::new();
        for (state, used) in used.iter().enumerate() {
            *same.entry(name(state, *used)).or_default() += 1;
        }
        for (state, used) in used.iter_mut().enumerate() {
            if same[&name(state, *used)] > 1 && *used < telling[state].len() {
                *used += 1;
            }
        }
    }
    used.into_iter().enumerate().map(|(state, used)| name(state, used)).collect()
}

/// What nearly equal states have in common: the structure of their pages, and the template of
/// their addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScreenKey {
    structure: StateKey,
    /// The address with `#` for numbers and generated names.
    pub template: String,
}

impl ScreenKey {
    /// The screen of a page.
    pub fn of(page: &Page, masks: &Masks) -> Self {
        let structure = identity::find("structure").expect("there is such an identity");
        Self {
            structure: structure.recognise(page, masks).key,
            template: address_template(&page.url),
        }
    }
}

/// An address without its origin, with `#` for numbers and generated names in its path, and for
/// the values of its query.
pub fn address_template(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    let (path, fragment) = match path.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (path, None),
    };
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let mut template = segments(path);
    if let Some(query) = query {
        let mut keys: Vec<&str> =
            query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
        keys.sort_unstable();
        keys.dedup();
        template += &format!("?{}", keys.join("&"));
    }
    if let Some(fragment) = fragment {
        template += &format!("#{}", segments(fragment));
    }
    template
}

fn segments(path: &str) -> String {
    let replaced = path.split('/').map(|segment| {
        if segment.is_empty() || !looks_generated(segment) { digits(segment) } else { "#".into() }
    });
    replaced.collect::<Vec<_>>().join("/")
}

/// Replaces every run of digits.
fn digits(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if !character.is_ascii_digit() {
            out.push(character);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(signs: &[&str]) -> PageSigns {
        PageSigns { signs: signs.iter().map(|&sign| sign.into()).collect(), title: "App".into() }
    }

    fn node(depth: u16, tag: &str, attributes: &[(&str, &str)], text: &str) -> PageNode {
        let attributes = attributes.iter().map(|&(name, value)| (name.into(), value.into()));
        let attributes = attributes.collect();
        PageNode { depth, tag: tag.into(), text: text.into(), attributes, visible: true }
    }

    #[test]
    fn dialogs_and_tabs_come_before_headings() {
        let nodes = vec![
            node(0, "body", &[], ""),
            node(1, "h1", &[], ""),
            node(2, "#text", &[], "Mail"),
            node(1, "div", &[("role", "tab"), ("aria-selected", "true")], ""),
            node(2, "#text", &[], "Inbox"),
            node(1, "div", &[("role", "tab"), ("aria-selected", "false")], ""),
            node(2, "#text", &[], "Sent"),
            node(1, "dialog", &[], ""),
            node(2, "h2", &[], ""),
            node(3, "#text", &[], "Delete?"),
        ];
        let page = Page { nodes, title: "App".into(), ..Page::default() };
        assert_eq!(
            PageSigns::of(&page),
            signs(&["dialog Delete?", "tab Inbox", "Mail", "Delete?"])
        );
    }

    #[test]
    fn a_state_is_named_by_what_others_do_not_show() {
        let states = [
            signs(&["Mail"]),
            signs(&["tab Inbox", "Mail"]),
            signs(&["dialog Delete?", "tab Inbox", "Mail"]),
        ];
        assert_eq!(name_states(&states), ["App", "tab Inbox", "dialog Delete?"]);
        // One sign is not enough where two states share it.
        let states = [signs(&["dialog New", "tab A"]), signs(&["dialog New", "tab B"]), signs(&[])];
        assert_eq!(name_states(&states), ["dialog New, tab A", "dialog New, tab B", "App"]);
        assert_eq!(name_states(&[signs(&["Mail"])]), ["Mail"]);
        assert!(name_states(&[]).is_empty());
    }

    #[test]
    fn addresses_of_one_kind_have_one_template() {
        let check = |url, expected| assert_eq!(address_template(url), expected, "{url}");
        check("http://app.test/", "/");
        check("http://app.test", "/");
        check("http://app.test/item/17/edit?id=3&b=x#/tab/2", "/item/#/edit?b&id#/tab/#");
        check("http://app.test/user/550e8400-e29b-41d4-a716-446655440000", "/user/#");
        check("http://app.test/a2b34.html", "/a#b#.html");
        check("nonsense", "/");
    }
}
