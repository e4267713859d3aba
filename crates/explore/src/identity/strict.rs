//! The identity `strict`: everything on the page, visible or not, including white space.

use std::borrow::Cow;

use super::mask::MaskedAspect;
use super::signature;
use super::view::{Builder, MaskedPage, Token, View};
use super::{Identity, NamedIdentity};
use crate::id::ActionSignature;
use crate::page::PageNode;

/// The entry in the list of identities.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "strict",
    summary: "compare everything: all elements, attributes and text, also hidden ones, and the address",
    help: "Two pages are the same state only if they are equal in every attribute and space, including \
           hidden elements and the address. Only masked content does not count. It distinguishes the \
           most states. Choose it for a small application in which every difference matters.",
    identity: &StrictIdentity,
};

/// The identity `strict`.
pub struct StrictIdentity;

impl Identity for StrictIdentity {
    fn view<'a>(&self, page: &MaskedPage<'a>) -> View<'a> {
        let tree = &page.tree;
        let mut view = Builder::default();
        view.push(0, Token::Attribute("url", Cow::Borrowed(&tree.page.url)));
        view.push(0, Token::Attribute("title", Cow::Borrowed(&tree.page.title)));
        for (at, node) in page.nodes(|_| false) {
            view.close_before(at);
            view.open(at, tree.end(at), &node.tag);
            if !node.visible {
                view.push(at, Token::AnyValue("invisible"));
            }
            // A masked attribute is left out, because it may be missing in the next capture.
            for (name, value) in
                node.attributes.iter().filter(|(name, _)| !page.masked.attribute(at, name))
            {
                view.push(at, Token::Attribute(name, Cow::Borrowed(value)));
            }
            match page.masked.text(at) {
                true => view.push(at, Token::AnyText),
                false => view.push(at, Token::Text(Cow::Borrowed(&node.text))),
            }
        }
        view.finish()
    }

    fn signatures(&self, page: &MaskedPage<'_>) -> Vec<Option<ActionSignature>> {
        signature::by_content(page)
    }

    fn differ(&self, a: &PageNode, b: &PageNode, aspect: &MaskedAspect) -> bool {
        match aspect {
            MaskedAspect::Text => a.text != b.text,
            MaskedAspect::Attribute(name) => a.attribute(name) != b.attribute(name),
            MaskedAspect::Children { .. } => true,
        }
    }
}
