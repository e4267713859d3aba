//! The identity `structure`: the kinds of elements on the page, without their text, and with equal
//! neighbours counted once. Of several hashes it was the best on a labelled set of PetClinic pages.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::digest::Encoder;
use super::mask::MaskedAspect;
use super::signature::{self, SignatureTally};
use super::skeleton::{self, Skeleton};
use super::view::{MaskedPage, Token, View};
use super::{Identity, NamedIdentity, text};
use crate::id::ActionSignature;
use crate::page::{Kind, Offer, PageNode};

/// The entry in the list of identities.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "structure",
    summary: "compare the kinds of elements, without their text and with equal neighbours as one",
    help: "Two pages are the same state if they have the same kinds of visible elements in the same \
           places. What a text says does not count. Equal neighbours count as one, and so do their \
           actions: a list with three rows is the same state as a list with thirty, and a form that shows \
           an error is another state. It finds fewer states. Choose it for models for security and tests.",
    identity: &StructureIdentity,
};

/// The identity `structure`.
pub struct StructureIdentity;

impl Identity for StructureIdentity {
    fn view<'a>(&self, page: &MaskedPage<'a>) -> View<'a> {
        let skeleton = Skeleton::of(page);
        let mut tokens = Vec::new();
        // A stack of nodes to emit, and whether to close them.
        let mut open: Vec<(usize, bool)> =
            skeleton.roots.iter().rev().map(|entry| (*entry, false)).collect();
        while let Some((index, close)) = open.pop() {
            let entry = &skeleton.nodes[index];
            let node = page.tree.node(entry.node);
            if close {
                tokens.push((entry.node, Token::Close));
            } else if node.is_text() {
                tokens.push((entry.node, Token::AnyText));
            } else {
                tokens.push((entry.node, Token::Open(&node.tag)));
                for (name, value) in skeleton::attributes(page, entry.node, node) {
                    tokens.push((entry.node, Token::Attribute(name, Cow::Borrowed(value))));
                }
                open.push((index, true));
                open.extend(entry.kept.iter().rev().map(|child| (*child, false)));
            }
        }
        View { tokens }
    }

    fn signatures<'a>(&self, page: &MaskedPage<'a>) -> Vec<Option<ActionSignature>> {
        let skeleton = Skeleton::of(page);
        let paths = paths(page, &skeleton);
        let hidden = signature::inside_masked_nodes(page);
        let place = |offer: &'a Offer| -> Option<ActionPlace<'a>> {
            let (node, onto) = signature::offer_nodes(page, offer)?;
            if hidden(node) || onto.is_some_and(&hidden) {
                return None;
            }
            let argument = if offer.kind == Kind::Key { offer.argument.as_str() } else { "" };
            // An action without a visible node, as on an empty page, counts at the root.
            let node = skeleton.representative(node).unwrap_or(0);
            let onto = onto.and_then(|onto| skeleton.representative(onto));
            Some((node, onto, offer.kind, argument))
        };
        let offers = &page.tree.page.offers;
        let places: Vec<Option<ActionPlace<'a>>> = offers.iter().map(place).collect();
        // Numbered by position in the skeleton, because equal neighbours are one.
        let others = places.iter().flatten().filter(|(_, _, kind, _)| *kind != Kind::Link);
        let ordered: BTreeSet<ActionPlace<'a>> = others.copied().collect();
        let mut tally = SignatureTally::default();
        let mut named: BTreeMap<ActionPlace<'a>, ActionSignature> = BTreeMap::new();
        for place @ (entry, onto, kind, argument) in ordered {
            let mut encoder = Encoder::tagged("structural action");
            encoder.text(kind.name()).text(argument);
            encoder.number(paths.get(entry).copied().unwrap_or_default());
            encoder.number(onto.map_or(0, |onto| paths[onto]));
            named.insert(place, tally.number(encoder.digest()));
        }
        let both = offers.iter().zip(places);
        both.map(|(offer, place)| match offer.kind {
            Kind::Link => place.and_then(|_| tally.link(offer)),
            // Removed, because later offers at this place are the same action.
            _ => named.remove(&place?),
        })
        .collect()
    }

    fn differ(&self, a: &PageNode, b: &PageNode, aspect: &MaskedAspect) -> bool {
        match aspect {
            MaskedAspect::Text => text::is_blank(&a.text) != text::is_blank(&b.text),
            MaskedAspect::Attribute(name) => {
                let kept = ["role", "type", "disabled", "open", ".open", "checked", ".checked"];
                kept.contains(&name.as_str()) && a.attribute(name) != b.attribute(name)
            }
            MaskedAspect::Children { .. } => true,
        }
    }
}

/// The node of an action in the skeleton, the target of a drag, and the action.
type ActionPlace<'a> = (usize, Option<usize>, Kind, &'a str);

/// A hash of the path from the root to each node of the skeleton: tags, roles and types.
fn paths(page: &MaskedPage<'_>, skeleton: &Skeleton) -> Vec<u64> {
    let mut paths: Vec<u64> = Vec::with_capacity(skeleton.nodes.len());
    for entry in &skeleton.nodes {
        let node = page.tree.node(entry.node);
        let mut encoder = Encoder::tagged("path");
        encoder.number(entry.parent.map_or(0, |parent| paths[parent]));
        encoder.text(&node.tag);
        for name in ["role", "type"] {
            let value = node.attribute(name).filter(|_| !page.masked.attribute(entry.node, name));
            encoder.text(value.unwrap_or_default());
        }
        paths.push(encoder.digest());
    }
    paths
}
