//! Labels of actions for people: the kind and the element. They are for display only.

use argiope_explore::page::{Kind, Offer, Page};

use crate::address::without_logins;

/// The longest description of one element in a label.
const LONGEST: usize = 80;

/// The label of an action, for example `click button "Save"`.
pub fn of(page: &Page, offer: &Offer) -> String {
    let kind = offer.kind.name();
    if offer.kind == Kind::Link {
        return format!("{kind} {}", short(&without_logins(&offer.argument)));
    }
    let mut label = format!("{kind} {}", named(page, offer.node));
    if let Some(onto) = offer.onto {
        label += &format!(" onto {}", named(page, onto));
    }
    if matches!(offer.kind, Kind::Key | Kind::Input | Kind::Choose) {
        label += &format!(" {:?}", short(&offer.argument));
    }
    label
}

/// The element's tag and its text or name.
fn named(page: &Page, node: u32) -> String {
    let Some(element) = page.nodes.get(node as usize) else { return String::new() };
    let written = ["aria-label", "title", "placeholder", "name", "alt", "id"];
    let text = text_of(page, node as usize);
    let name = if text.is_empty() {
        written.iter().find_map(|name| element.attribute(name)).unwrap_or_default().to_owned()
    } else {
        text
    };
    if name.is_empty() {
        element.tag.clone()
    } else {
        format!("{} {:?}", element.tag, short(&name))
    }
}

fn text_of(page: &Page, node: usize) -> String {
    let depth = page.nodes[node].depth;
    let inside = page.nodes[node + 1..].iter().take_while(|inner| inner.depth > depth);
    let mut words = String::new();
    for text in inside.filter(|inner| inner.is_text() && inner.visible) {
        for word in text.text.split_whitespace() {
            if words.len() > LONGEST {
                return words;
            }
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
    }
    words
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
