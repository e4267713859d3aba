//! Test pages written as text, one element per line, children indented:
//!
//! ```text
//! ul
//!   li class=done 'Buy milk'
//!     button @click 'Delete'
//!     input type=checkbox .checked=true @check
//! ```
//!
//! - `'...'` is a text inside the element, or a text node at the beginning of a line.
//! - `@kind` is an offer, `@kind=argument` an offer with an argument, and `@drag=#id` a drag onto
//!   the element with that id.
//! - `!` makes the element and its descendants invisible.

use crate::page::{Kind, Offer, Page, PageNode};

/// Parses a page.
pub(crate) fn page(text: &str) -> Page {
    let mut page = Page { url: "http://app.test/".into(), ..Page::default() };
    // The indentation and visibility of the open elements.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut drags: Vec<(usize, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indentation = line.len() - line.trim_start().len();
        while open.pop_if(|(above, _)| *above >= indentation).is_some() {}
        let depth = open.len() as u16;
        let above = open.last().is_none_or(|(_, visible)| *visible);
        let words = words(line);
        let visible = above && !words.contains(&Word::Hidden);
        open.push((indentation, visible));
        let at = page.nodes.len();
        for (index, word) in words.into_iter().enumerate() {
            match word {
                Word::Plain(tag) if index == 0 => page.nodes.push(node(depth, &tag, "", visible)),
                Word::Plain(name) => page.nodes[at].attributes.push((name, String::new())),
                Word::Pair(name, value) => page.nodes[at].attributes.push((name, value)),
                Word::Text(text) if index == 0 => {
                    page.nodes.push(node(depth, PageNode::TEXT, &text, visible));
                }
                Word::Text(text) => {
                    page.nodes.push(node(depth + 1, PageNode::TEXT, &text, visible));
                }
                Word::Hidden => {}
                Word::Offer(kind, argument) => {
                    let mut offer =
                        Offer { kind, node: at as u32, onto: None, argument, place: String::new() };
                    if kind == Kind::Drag {
                        drags.push((page.offers.len(), std::mem::take(&mut offer.argument)));
                    }
                    page.offers.push(offer);
                }
            }
        }
    }
    for (offer, target) in drags {
        let id = target.trim_start_matches('#');
        let onto = page.nodes.iter().position(|node| node.attribute("id") == Some(id));
        page.offers[offer].onto = Some(onto.expect("there is such an id") as u32);
    }
    page
}

fn node(depth: u16, tag: &str, text: &str, visible: bool) -> PageNode {
    PageNode { depth, tag: tag.into(), text: text.into(), attributes: Vec::new(), visible }
}

#[derive(PartialEq)]
enum Word {
    Plain(String),
    Pair(String, String),
    Text(String),
    Offer(Kind, String),
    Hidden,
}

fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => {
                let (text, after) = quoted.split_once('\'').expect("the text ends");
                (Word::Text(text.replace("\\n", "\n")), after)
            }
            None => {
                let end = rest.find([' ', '=']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                let (value, after) = match after.strip_prefix('=') {
                    None => (None, after),
                    Some(after) => match after.strip_prefix('\'') {
                        Some(quoted) => quoted
                            .split_once('\'')
                            .map(|(value, after)| (Some(value), after))
                            .unwrap(),
                        None => {
                            let (value, after) =
                                after.split_at(after.find(' ').unwrap_or(after.len()));
                            (Some(value), after)
                        }
                    },
                };
                (named(name, value.map(str::to_owned)), after)
            }
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn named(name: &str, value: Option<String>) -> Word {
    if name == "!" {
        return Word::Hidden;
    }
    if let Some(kind) = name.strip_prefix('@') {
        let kind = serde_json::from_value(kind.into()).expect("there is such a kind");
        return Word::Offer(kind, value.unwrap_or_default());
    }
    match value {
        Some(value) => Word::Pair(name.into(), value),
        None => Word::Plain(name.into()),
    }
}
