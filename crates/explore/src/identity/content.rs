//! The identity `content`: what a user can see and read on the page, and what is in its fields.

use std::borrow::Cow;

use super::elements;
use super::generated::looks_generated;
use super::mask::MaskedAspect;
use super::signature;
use super::view::{Builder, MaskedPage, Token, View};
use super::{Identity, NamedIdentity, text};
use crate::id::ActionSignature;
use crate::page::PageNode;

/// How people choose it.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "content",
    summary: "what a user sees: visible elements, their text and the values of fields",
    help: "Two pages are the same state if a user could not tell them apart: the same visible elements in \
           the same order, with the same text, links, images and field values, offering the same actions. \
           Ids, classes, styles, hidden parts, white space and the address do not count. The right choice \
           for complete models and for finding every page.",
    identity: &ContentIdentity,
};

/// The identity `content`.
pub struct ContentIdentity;

impl Identity for ContentIdentity {
    fn view<'a>(&self, seen: &MaskedPage<'a>) -> View<'a> {
        let tree = &seen.tree;
        let mut view = Builder::default();
        let mut at = 0;
        while at < tree.len() {
            view.close_before(at);
            let node = tree.node(at);
            if seen.masked.whole(at) || elements::is_never_shown(node) {
                at = tree.end(at);
                continue;
            }
            if !node.visible {
                // What is in it may be visible again.
            } else if !node.is_text() {
                view.open(at, tree.end(at), &node.tag);
                for token in attribute_tokens(seen, at, node) {
                    view.push(at, token);
                }
            } else if seen.masked.text(at) {
                view.push(at, Token::AnyText);
            } else if !tree.parent(at).is_some_and(|parent| has_typed_text(tree.node(parent))) {
                view.text(at, &node.text);
            }
            at += 1;
        }
        view.finish()
    }

    fn signatures(&self, seen: &MaskedPage<'_>) -> Vec<Option<ActionSignature>> {
        signature::by_content(seen)
    }

    fn differ(&self, a: &PageNode, b: &PageNode, part: &MaskedAspect) -> bool {
        match part {
            MaskedAspect::Text => text::normalise(&a.text) != text::normalise(&b.text),
            MaskedAspect::Attribute(name) => {
                significant_value(a, name) != significant_value(b, name)
            }
            MaskedAspect::Children { .. } => true,
        }
    }
}

/// How an attribute counts, for the view or for a signature.
fn significant_value<'a>(node: &'a PageNode, name: &'a str) -> Option<Token<'a>> {
    let value = node.attribute(name)?;
    let names_it = match name {
        "id" => !looks_generated(value),
        "action" => node.tag == "form",
        _ => super::name::STABLE.contains(&name),
    };
    let named = || names_it.then_some(Token::Attribute(name, Cow::Borrowed(value)));
    attribute_token(node, name, value).or_else(named)
}

/// The text inside of a text area is what it held at first, not what it holds.
fn has_typed_text(node: &PageNode) -> bool {
    node.tag == "textarea" && node.attribute(".value").is_some()
}

fn attribute_tokens<'a>(seen: &MaskedPage<'a>, at: usize, node: &'a PageNode) -> Vec<Token<'a>> {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    for (name, value) in &node.attributes {
        // What is masked is left out: it may be missing on the next look.
        if !seen.masked.attribute(at, name) {
            tokens.extend(attribute_token(node, name, value));
        }
    }
    // The order in which a script sets attributes cannot be seen.
    tokens.sort_unstable();
    tokens
}

/// How an attribute counts, if it does.
fn attribute_token<'a>(node: &'a PageNode, name: &'a str, value: &'a str) -> Option<Token<'a>> {
    let exact = || Some(Token::Attribute(name, Cow::Borrowed(value)));
    match name {
        "role" | "type" | "contenteditable" | "colspan" | "rowspan" => exact(),
        "alt"
        | "title"
        | "placeholder"
        | "label"
        | "aria-label"
        | "aria-description"
        | "aria-valuetext"
        | "aria-roledescription" => Some(Token::Attribute(name, text::normalise(value))),
        // The address of something that lives only in this page is made up anew each time.
        "href" | "xlink:href" | "src" | "poster" if value.starts_with("blob:") => {
            Some(Token::AnyValue(name))
        }
        "href" | "xlink:href" | "src" | "poster" => exact(),
        "disabled" | "readonly" | "required" | "open" => Some(Token::AnyValue(name)),
        // What a field held at first counts only where nothing says what it holds now.
        "value" if node.attribute(".value").is_none() => exact(),
        "checked" if node.attribute(".checked").is_none() => Some(Token::AnyValue(name)),
        "selected" if node.attribute(".selected").is_none() => Some(Token::AnyValue(name)),
        "name" | "aria-activedescendant" if looks_generated(value) => Some(Token::AnyValue(name)),
        "name" => exact(),
        // These name ids, and ids do not count.
        "aria-labelledby" | "aria-controls" | "aria-describedby" | "aria-owns" | "aria-details"
        | "aria-errormessage" | "aria-flowto" => None,
        _ if name.starts_with("aria-") || name.starts_with('.') => exact(),
        _ => None,
    }
}
