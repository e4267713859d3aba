//! Signatures of actions: the kind of action, the name of the element (not its place), and its
//! containers. The order on the page counts only among actions that are equal in all of these.

use std::collections::{BTreeMap, BTreeSet};

use super::digest::Encoder;
use super::name::{ElementNames, STABLE};
use super::tree::NodeIndex;
use super::unique::without_numbers;
use super::view::MaskedPage;
use crate::id::ActionSignature;
use crate::page::{Kind, Offer};

/// One signature per offer. `None` for an offer that repeats an earlier action, that refers to no
/// node, or that is inside a masked node.
pub(crate) fn by_content<'a>(page: &MaskedPage<'a>) -> Vec<Option<ActionSignature>> {
    let mut names = ElementNames::of(page);
    let hidden = inside_masked_nodes(page);
    let mut tally = SignatureTally::default();
    let mut targets: BTreeMap<NodeIndex, u64> = BTreeMap::new();
    let offers = &page.tree.page.offers;
    let signature = |offer: &'a Offer| {
        let (node, onto) = offer_nodes(page, offer)?;
        if hidden(node) || onto.is_some_and(&hidden) || !tally.is_new(offer) {
            return None;
        }
        if offer.kind == Kind::Link {
            return tally.link(offer);
        }
        let mut encoder = Encoder::tagged("action");
        encoder.text(offer.kind.name());
        // A value of argiope's own may follow from what changes on the page; a given one does not.
        if !matches!(offer.kind, Kind::Input) {
            encoder.text(&offer.argument);
        }
        describe(&mut encoder, &mut names, node, offer.kind);
        if let Some(onto) = onto {
            // Many elements can be dragged to the same target.
            let target = *targets.entry(onto).or_insert_with(|| {
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

/// The node of an offer and the target of a drag, if they exist.
pub(crate) fn offer_nodes(
    page: &MaskedPage<'_>,
    offer: &Offer,
) -> Option<(NodeIndex, Option<NodeIndex>)> {
    let exists = |node: u32| ((node as usize) < page.tree.len()).then_some(node as NodeIndex);
    let node = exists(offer.node)?;
    match offer.onto {
        None => Some((node, None)),
        Some(onto) => Some((node, Some(exists(onto)?))),
    }
}

/// Returns a test of whether a node is inside a masked node.
pub(crate) fn inside_masked_nodes(page: &MaskedPage<'_>) -> impl Fn(NodeIndex) -> bool + use<> {
    let tree = &page.tree;
    let mut ranges: Vec<(NodeIndex, NodeIndex)> = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        if page.masked.whole(at) {
            ranges.push((at, tree.end(at)));
            at = tree.end(at);
        } else {
            at += 1;
        }
    }
    move |node| {
        let before = ranges.partition_point(|(start, _)| *start <= node);
        before > 0 && node < ranges[before - 1].1
    }
}

/// Encodes what identifies an element, without its place.
fn describe(encoder: &mut Encoder, names: &mut ElementNames<'_, '_>, at: NodeIndex, kind: Kind) {
    let node = names.node(at);
    encoder.text(&node.tag);
    let value_attribute = match (node.tag.as_str(), node.attribute("type")) {
        ("input", Some("radio" | "checkbox")) => "value",
        ("form", _) => "action",
        _ => "href",
    };
    for name in ["role", "type", value_attribute] {
        let value = names.attribute(at, name).filter(|value| !value.starts_with("blob:"));
        encoder.text(value.unwrap_or_default());
    }
    let name = names.attribute(at, "name").filter(|name| !super::looks_generated(name));
    encoder.text(name.unwrap_or_default());
    encoder.text(names.id(at).unwrap_or_default());
    let written = STABLE.iter().find_map(|name| names.attribute(at, name));
    encoder.text(written.unwrap_or_default());
    encoder.text(&names.name(at, kind));
    encoder.number(names.context(at));
}

/// Makes the signatures of one page different.
#[derive(Default)]
pub(crate) struct SignatureTally<'a> {
    known: BTreeSet<(Kind, u32, Option<u32>, &'a str)>,
    links: BTreeSet<u64>,
    counts: BTreeMap<u64, u64>,
}

impl<'a> SignatureTally<'a> {
    /// Whether no earlier offer is the same.
    pub(crate) fn is_new(&mut self, offer: &'a Offer) -> bool {
        self.known.insert((offer.kind, offer.node, offer.onto, &offer.argument))
    }

    /// The signature of a plain link, which is its URL alone. `None` if the page offered it before.
    pub(crate) fn link(&mut self, offer: &Offer) -> Option<ActionSignature> {
        let url = offer.argument.split('#').next().unwrap_or_default();
        let digest = Encoder::tagged("link").text(&without_numbers(url)).digest();
        self.links.insert(digest).then_some(ActionSignature(digest))
    }

    /// Numbers the actions that are equal in everything, in document order.
    pub(crate) fn number(&mut self, base: u64) -> ActionSignature {
        let count = self.counts.entry(base).or_default();
        *count += 1;
        match *count {
            1 => ActionSignature(base),
            nth => ActionSignature(Encoder::tagged("nth action").number(base).number(nth).digest()),
        }
    }
}
