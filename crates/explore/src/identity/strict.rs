//! The identity `strict`: everything on the page, visible or not, to the last space.

use std::borrow::Cow;

use super::mask::MaskedAspect;
use super::signature;
use super::view::{Builder, MaskedPage, Token, View};
use super::{Identity, NamedIdentity};
use crate::id::ActionSignature;
use crate::page::PageNode;

/// How people choose it.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "strict",
    summary: "everything: all elements, attributes and text, hidden ones too, and the address",
    help: "Two pages are the same state only if they are equal to the last attribute and space, hidden \
           parts and the address included, but for what is masked. Tells the most states apart. The right \
           choice for a small application in which every difference matters.",
    identity: &StrictIdentity,
};

/// The identity `strict`.
pub struct StrictIdentity;

impl Identity for StrictIdentity {
    fn view<'a>(&self, seen: &MaskedPage<'a>) -> View<'a> {
        let tree = &seen.tree;
        let mut view = Builder::default();
        view.push(0, Token::Attribute("url", Cow::Borrowed(&tree.page.url)));
        view.push(0, Token::Attribute("title", Cow::Borrowed(&tree.page.title)));
        let mut at = 0;
        while at < tree.len() {
            view.close_before(at);
            let node = tree.node(at);
            if seen.masked.whole(at) {
                at = tree.end(at);
                continue;
            }
            view.open(at, tree.end(at), &node.tag);
            if !node.visible {
                view.push(at, Token::AnyValue("invisible"));
            }
            // What is masked is left out: it may be missing on the next look.
            for (name, value) in
                node.attributes.iter().filter(|(name, _)| !seen.masked.attribute(at, name))
            {
                view.push(at, Token::Attribute(name, Cow::Borrowed(value)));
            }
            match seen.masked.text(at) {
                true => view.push(at, Token::AnyText),
                false => view.push(at, Token::Text(Cow::Borrowed(&node.text))),
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
            MaskedAspect::Text => a.text != b.text,
            MaskedAspect::Attribute(name) => a.attribute(name) != b.attribute(name),
            MaskedAspect::Children { .. } => true,
        }
    }
}
