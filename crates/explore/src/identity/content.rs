//! The identity `content`: what a user can see and read on the page, and the values of its fields.

use std::borrow::Cow;

use super::duration::without_durations;
use super::elements;
use super::generated::looks_generated;
use super::mask::MaskedAspect;
use super::signature;
use super::view::{Builder, MaskedPage, Token, View};
use super::{Identity, NamedIdentity, text};
use crate::id::ActionSignature;
use crate::page::PageNode;

/// The entry in the list of identities.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "content",
    summary: "compare what a user sees: visible elements, their text and the values of fields",
    help: "Two pages are the same state if they look the same to a user: the same visible elements in \
           the same order, with the same text, links, images and field values, and the same actions. \
           Classes, styles, hidden elements, white space and the address do not count. An id counts \
           only on an element with an action, unless it looks generated. Choose it for complete \
           models, and to find every page.",
    identity: &ContentIdentity,
};

/// The identity `content`.
pub struct ContentIdentity;

impl Identity for ContentIdentity {
    fn view<'a>(&self, page: &MaskedPage<'a>) -> View<'a> {
        let tree = &page.tree;
        let mut view = Builder::default();
        for (at, node) in page.nodes(elements::is_never_shown) {
            view.close_before(at);
            if !node.visible {
                // Its descendants may be visible.
            } else if !node.is_text() {
                view.open(at, tree.end(at), &node.tag);
                for token in attribute_tokens(page, at, node) {
                    view.push(at, token);
                }
            } else if page.masked.text(at) {
                view.push(at, Token::AnyText);
            } else if !tree.parent(at).is_some_and(|parent| has_typed_text(tree.node(parent))) {
                view.text(at, &node.text);
            }
        }
        view.finish()
    }

    fn signatures(&self, page: &MaskedPage<'_>) -> Vec<Option<ActionSignature>> {
        signature::by_content(page)
    }

    fn differ(&self, a: &PageNode, b: &PageNode, aspect: &MaskedAspect) -> bool {
        match aspect {
            MaskedAspect::Text => readable(&a.text) != readable(&b.text),
            MaskedAspect::Attribute(name) => {
                significant_value(a, name) != significant_value(b, name)
            }
            MaskedAspect::Children { .. } => true,
        }
    }
}

/// The value of an attribute as the view or a signature uses it.
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

/// A text as a user reads it, without what differs on every load.
fn readable(text: &str) -> Cow<'_, str> {
    without_durations(text::normalise(text))
}

/// Whether the text inside is only the first value of a text area, not its present one.
fn has_typed_text(node: &PageNode) -> bool {
    node.tag == "textarea" && node.attribute(".value").is_some()
}

pub(super) fn attribute_tokens<'a>(
    page: &MaskedPage<'a>,
    at: usize,
    node: &'a PageNode,
) -> Vec<Token<'a>> {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    for (name, value) in &node.attributes {
        // A masked attribute is left out, because it may be missing in the next capture.
        if !page.masked.attribute(at, name) {
            tokens.extend(attribute_token(node, name, value));
        }
    }
    // A user cannot see the order in which a script sets attributes.
    tokens.sort_unstable();
    tokens
}

/// The token of an attribute, if it counts.
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
        | "aria-roledescription" => Some(Token::Attribute(name, readable(value))),
        // The address of an object inside the page differs on every load.
        "href" | "xlink:href" | "src" | "poster" if value.starts_with("blob:") => {
            Some(Token::AnyValue(name))
        }
        "href" | "xlink:href" | "src" | "poster" => exact(),
        "disabled" | "readonly" | "required" | "open" => Some(Token::AnyValue(name)),
        // The first value of a field counts only where the present one is unknown.
        "value" if node.attribute(".value").is_none() => exact(),
        "checked" if node.attribute(".checked").is_none() => Some(Token::AnyValue(name)),
        "selected" if node.attribute(".selected").is_none() => Some(Token::AnyValue(name)),
        "name" | "aria-activedescendant" if looks_generated(value) => Some(Token::AnyValue(name)),
        "name" => exact(),
        // These refer to ids, and ids do not count.
        "aria-labelledby" | "aria-controls" | "aria-describedby" | "aria-owns" | "aria-details"
        | "aria-errormessage" | "aria-flowto" => None,
        _ if name.starts_with("aria-") || name.starts_with('.') => exact(),
        _ => None,
    }
}
