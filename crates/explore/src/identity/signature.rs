//! Lasting names of actions: what is done, to what (as it is called, not where it is), in which
//! surroundings. The order on the page counts only among actions that share all of that.

use std::collections::{BTreeMap, BTreeSet};

use super::digest::Encoder;
use super::name::{ElementNames, STABLE};
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::id::ActionSignature;
use crate::page::{Kind, Offer};

/// One signature per offer; none for an offer that is the same action as an earlier one, that points
/// nowhere or that is in a masked part.
pub(crate) fn by_content<'a>(seen: &MaskedPage<'a>) -> Vec<Option<ActionSignature>> {
    let mut names = ElementNames::of(seen);
    let hidden = inside_masked_nodes(seen);
    let mut tally = SignatureTally::default();
    let mut bases: BTreeMap<NodeIndex, u64> = BTreeMap::new();
    let offers = &seen.tree.page.offers;
    let signature = |offer: &'a Offer| {
        let (node, onto) = offer_nodes(seen, offer)?;
        if hidden(node) || onto.is_some_and(&hidden) || !tally.is_new(offer) {
            return None;
        }
        if offer.kind == Kind::Link {
            return tally.link(offer);
        }
        let mut encoder = Encoder::tagged("action");
        encoder.text(offer.kind.name());
        if !matches!(offer.kind, Kind::Input) {
            encoder.text(&offer.argument);
        }
        describe(&mut encoder, &mut names, node, offer.kind);
        if let Some(onto) = onto {
            // Many things can be dragged to the same place.
            let target = *bases.entry(onto).or_insert_with(|| {
                let mut encoder = Encoder::tagged("target");
                describe(&mut encoder, &mut names, onto, Kind::Drag);
                encoder.digest()
            });
            encoder.number(target);
        }
        Some(tally.number(encoder.digest()))
    };
    offers.iter().map(signature).collect()
}

/// The nodes of an offer, if it points to nodes.
pub(crate) fn offer_nodes(
    seen: &MaskedPage<'_>,
    offer: &Offer,
) -> Option<(NodeIndex, Option<NodeIndex>)> {
    let exists = |node: u32| ((node as usize) < seen.tree.len()).then_some(node as NodeIndex);
    let node = exists(offer.node)?;
    match offer.onto {
        None => Some((node, None)),
        Some(onto) => Some((node, Some(exists(onto)?))),
    }
}

/// Tells whether a node is inside of a part that is left out as a whole.
pub(crate) fn inside_masked_nodes(seen: &MaskedPage<'_>) -> impl Fn(NodeIndex) -> bool + use<> {
    let tree = &seen.tree;
    let mut parts: Vec<(NodeIndex, NodeIndex)> = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        if seen.masked.whole(at) {
            parts.push((at, tree.end(at)));
            at = tree.end(at);
        } else {
            at += 1;
        }
    }
    move |node| {
        let before = parts.partition_point(|(start, _)| *start <= node);
        before > 0 && node < parts[before - 1].1
    }
}

/// Hashes what an element is, but not where it is.
fn describe(encoder: &mut Encoder, names: &mut ElementNames<'_, '_>, at: NodeIndex, kind: Kind) {
    let node = names.node(at);
    encoder.text(&node.tag);
    let stands_for = match (node.tag.as_str(), node.attribute("type")) {
        ("input", Some("radio" | "checkbox")) => "value",
        ("form", _) => "action",
        _ => "href",
    };
    for name in ["role", "type", stands_for] {
        encoder.text(
            names
                .attribute(at, name)
                .filter(|value| !value.starts_with("blob:"))
                .unwrap_or_default(),
        );
    }
    let written = |name: &&str| names.attribute(at, name);
    encoder.text(
        names
            .attribute(at, "name")
            .filter(|name| !super::looks_generated(name))
            .unwrap_or_default(),
    );
    encoder.text(names.id(at).unwrap_or_default());
    encoder.text(STABLE.iter().find_map(written).unwrap_or_default());
    encoder.text(&names.name(at, kind));
    encoder.number(names.context(at));
}

/// Keeps signatures apart within one page.
#[derive(Default)]
pub(crate) struct SignatureTally<'a> {
    known: BTreeSet<(Kind, u32, Option<u32>, &'a str)>,
    links: BTreeSet<u64>,
    counts: BTreeMap<u64, u64>,
}

impl<'a> SignatureTally<'a> {
    /// Whether the same was not offered before.
    pub(crate) fn is_new(&mut self, offer: &'a Offer) -> bool {
        self.known.insert((offer.kind, offer.node, offer.onto, &offer.argument))
    }

    /// A plain link is its URL, wherever it stands and whatever it is called.
    pub(crate) fn link(&mut self, offer: &Offer) -> Option<ActionSignature> {
        let url = offer.argument.split('#').next().unwrap_or_default();
        let digest = Encoder::tagged("link").text(url).digest();
        self.links.insert(digest).then_some(ActionSignature(digest))
    }

    /// Numbers those that share everything, in the order of the document.
    pub(crate) fn number(&mut self, base: u64) -> ActionSignature {
        let count = self.counts.entry(base).or_default();
        *count += 1;
        match *count {
            1 => ActionSignature(base),
            nth => ActionSignature(Encoder::tagged("nth action").number(base).number(nth).digest()),
        }
    }
}
