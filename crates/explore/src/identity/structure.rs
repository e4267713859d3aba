//! The identity `structure`: what kinds of thing are on the page, not what they say nor how many are in
//! a row. The plain hash that served best on a labelled set of pages of PetClinic.

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

/// How people choose it.
pub const IDENTITY: NamedIdentity = NamedIdentity {
    name: "structure",
    summary: "what kinds of thing are on the page, not what they say nor how many are alike in a row",
    help: "Two pages are the same state if the same kinds of visible element stand in the same places: \
           text counts only as being there, neighbours that are alike count as one, and so do their \
           actions. A list with three rows is the list with thirty; a form that shows an error is another \
           state. Finds fewer states. The right choice for models of security and of tests.",
    identity: &StructureIdentity,
};

/// The identity `structure`.
pub struct StructureIdentity;

impl Identity for StructureIdentity {
    fn view<'a>(&self, seen: &MaskedPage<'a>) -> View<'a> {
        let skeleton = Skeleton::of(seen);
        let mut tokens = Vec::new();
        // What is still to come, the next at the end; none closes an element.
        let mut open: Vec<(usize, bool)> =
            skeleton.roots.iter().rev().map(|bone| (*bone, false)).collect();
        while let Some((index, close)) = open.pop() {
            let bone = &skeleton.nodes[index];
            let node = seen.tree.node(bone.node);
            if close {
                tokens.push((bone.node, Token::Close));
            } else if node.is_text() {
                tokens.push((bone.node, Token::AnyText));
            } else {
                tokens.push((bone.node, Token::Open(&node.tag)));
                for (name, value) in skeleton::attributes(seen, bone.node, node) {
                    tokens.push((bone.node, Token::Attribute(name, Cow::Borrowed(value))));
                }
                open.push((index, true));
                open.extend(bone.kept.iter().rev().map(|child| (*child, false)));
            }
        }
        View { tokens }
    }

    fn signatures(&self, seen: &MaskedPage<'_>) -> Vec<Option<ActionSignature>> {
        signatures(seen)
    }

    fn differ(&self, a: &PageNode, b: &PageNode, part: &MaskedAspect) -> bool {
        match part {
            MaskedAspect::Text => text::is_blank(&a.text) != text::is_blank(&b.text),
            MaskedAspect::Attribute(name) => {
                let kept = ["role", "type", "disabled", "open", ".open", "checked", ".checked"];
                kept.contains(&name.as_str()) && a.attribute(name) != b.attribute(name)
            }
            MaskedAspect::Children { .. } => true,
        }
    }
}

/// Where an action happens in the skeleton, and what it is.
type ActionPlace<'a> = (usize, Option<usize>, Kind, &'a str);

fn signatures<'a>(seen: &MaskedPage<'a>) -> Vec<Option<ActionSignature>> {
    let skeleton = Skeleton::of(seen);
    let paths = paths(seen, &skeleton);
    let hidden = signature::inside_masked_nodes(seen);
    let spot = |offer: &'a Offer| -> Option<ActionPlace<'a>> {
        let (node, onto) = signature::offer_nodes(seen, offer)?;
        if hidden(node) || onto.is_some_and(&hidden) {
            return None;
        }
        let place = |at| skeleton.representative(at);
        let argument = if offer.kind == Kind::Key { offer.argument.as_str() } else { "" };
        // What is nowhere visible, such as an empty page, is taken for the root.
        Some((place(node).unwrap_or(0), onto.and_then(place), offer.kind, argument))
    };
    let offers = &seen.tree.page.offers;
    let spots: Vec<Option<ActionPlace<'a>>> = offers.iter().map(spot).collect();
    // Numbered by place in the skeleton: which of several alike offers it does not matter.
    let others = spots.iter().flatten().filter(|(_, _, kind, _)| *kind != Kind::Link);
    let ordered: BTreeSet<ActionPlace<'a>> = others.copied().collect();
    let mut tally = SignatureTally::default();
    let mut named: BTreeMap<ActionPlace<'a>, ActionSignature> = BTreeMap::new();
    for spot @ (bone, onto, kind, argument) in ordered {
        let mut encoder = Encoder::tagged("structural action");
        encoder
            .text(kind.name())
            .text(argument)
            .number(paths.get(bone).copied().unwrap_or_default());
        encoder.number(onto.map_or(0, |onto| paths[onto]));
        named.insert(spot, tally.number(encoder.digest()));
    }
    let both = offers.iter().zip(spots);
    both.map(|(offer, spot)| match offer.kind {
        Kind::Link => spot.and_then(|_| tally.link(offer)),
        // Taken out: those that come later are the same action.
        _ => named.remove(&spot?),
    })
    .collect()
}

/// A hash of each bone's way from the root: tags, roles and types, without numbers.
fn paths(seen: &MaskedPage<'_>, skeleton: &Skeleton) -> Vec<u64> {
    let mut paths: Vec<u64> = Vec::with_capacity(skeleton.nodes.len());
    for bone in &skeleton.nodes {
        let node = seen.tree.node(bone.node);
        let mut encoder = Encoder::tagged("path");
        encoder.number(bone.parent.map_or(0, |parent| paths[parent]));
        encoder.text(&node.tag);
        for name in ["role", "type"] {
            let value = node.attribute(name).filter(|_| !seen.masked.attribute(bone.node, name));
            encoder.text(value.unwrap_or_default());
        }
        paths.push(encoder.digest());
    }
    paths
}
