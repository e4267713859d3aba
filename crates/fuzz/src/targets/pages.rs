//! Contents of pages: any bytes give a page or none. A page that was unwrapped is wrapped and
//! unwrapped again without a change, and every identity names it, with different signatures.

use std::collections::BTreeSet;

use argiope_explore::id::ActionSignature;
use argiope_explore::identity::{self, Masks, difference};
use argiope_explore::page::{Kind, Offer, Page, PageNode};
use argiope_runtime::cluster::contents;
use argiope_runtime::store::{FoundPage, OfferDetail, UnperformedActions};

use super::FuzzTarget;
use crate::reached::{Reached, bucket};

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "pages",
    about: "contents of pages are unwrapped or refused; any page has a state and actions",
    framed: false,
    tokens: &["#text", "div", "id", "class", "href", ".value", "aria-labelledby", "a", "\u{202e}"],
    run,
    seeds,
};

fn run(input: &[u8]) -> Reached {
    let mut reached = Reached::default();
    let Some(found) = contents::unwrap(input) else {
        reached.refuse(input.first().copied());
        // The page agent gives a page without a content around it.
        if let Ok(page) = postcard::from_bytes::<Page>(input) {
            check_page(&page, &mut reached);
        }
        return reached;
    };
    let blob = contents::wrap(&found);
    assert!(contents::is_true(&blob));
    let again = contents::unwrap(&blob.bytes).expect("what was wrapped can be unwrapped");
    assert!(again == found, "a page changes when it is wrapped");
    reached.accept((bucket(found.source.len()), bucket(found.offers.len()), input[0]));
    check_page(&found.page, &mut reached);
    reached
}

fn check_page(page: &Page, reached: &mut Reached) {
    let checked = match page.clone().checked() {
        Ok(checked) => checked,
        Err(error) => {
            reached.note(("unfit", std::mem::discriminant(&error)));
            return;
        }
    };
    assert_eq!(checked.clone().checked().as_ref(), Ok(&checked), "a repaired page is repaired");
    for named in identity::ALL {
        let recognised = named.recognise(&checked, &Masks::NONE);
        assert_eq!(recognised, named.recognise(&checked, &Masks::NONE));
        assert_eq!(recognised.actions.len(), checked.offers.len());
        let actions: Vec<&ActionSignature> = recognised.actions.iter().flatten().collect();
        let distinct: BTreeSet<&&ActionSignature> = actions.iter().collect();
        assert_eq!(distinct.len(), actions.len(), "two offers have one signature");
        reached.note((named.name, bucket(actions.len()), bucket(checked.offers.len())));
    }
    let deepest = checked.nodes.iter().map(|node| node.depth).max().unwrap_or_default();
    reached.note((bucket(checked.nodes.len()), bucket(deepest.into())));
    // A page does not differ from itself, and to compare it with half of it ends.
    let identity = identity::find(identity::DEFAULT).expect("there is a default");
    let same = difference(identity, &Masks::NONE, &checked, &checked);
    assert_eq!(same, [], "a page differs from itself");
    let nodes = checked.nodes[..checked.nodes.len().div_ceil(2)].to_vec();
    if let Ok(half) = (Page { nodes, ..checked.clone() }).checked() {
        let between = difference(identity, &Masks::NONE, &checked, &half);
        reached.note(("differences", bucket(between.len())));
    }
}

fn node(depth: u16, tag: &str, text: &str, attributes: &[(&str, &str)]) -> PageNode {
    let attributes = attributes.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    PageNode { depth, tag: tag.into(), text: text.into(), attributes, visible: depth != 3 }
}

fn offer(kind: Kind, node: u32, argument: &str) -> Offer {
    let onto = (kind == Kind::Drag).then_some(0);
    Offer { kind, node, onto, argument: argument.into(), place: format!("{node}") }
}

fn found(page: Page, source: usize) -> FoundPage {
    let detail = |(at, offer): (usize, &Offer)| OfferDetail {
        signature: ActionSignature(at as u64 * 1_000_003),
        kind: offer.kind,
        argument: offer.argument.clone(),
        label: "label".to_owned(),
        place: offer.place.clone(),
        allowed: at == 1,
    };
    FoundPage {
        url: page.url.clone(),
        title: page.title.clone(),
        found_at: 7,
        raw: 1 << 90,
        source: b"<!doctype html>".repeat(source),
        offers: page.offers.iter().enumerate().map(detail).collect(),
        screenshot: (source % 2 == 1).then(|| vec![1, 2, 3]),
        unperformed: UnperformedActions::default(),
        parts: None,
        page,
    }
}

/// A form, a list, a table of one tag, and a chain of nodes.
fn pages() -> Vec<(&'static str, Page)> {
    let form = vec![
        node(0, "html", "", &[]),
        node(1, "body", "", &[("id", "top"), ("class", "a b")]),
        node(2, "form", "", &[("aria-label", "Search")]),
        node(3, "label", "", &[("for", "q")]),
        node(4, "#text", "Find\u{a0} it", &[]),
        node(3, "input", "", &[("id", "q"), ("type", "text"), (".value", "x")]),
        node(3, "input", "", &[("type", "checkbox"), (".checked", "true")]),
        node(3, "select", "", &[(".selected", "two")]),
        node(4, "option", "", &[("value", "one")]),
        node(3, "button", "", &[]),
        node(4, "#text", "Go", &[]),
        node(2, "a", "", &[("href", "/next#here"), ("aria-labelledby", "top q")]),
        node(3, "#text", "Next", &[]),
    ];
    let kinds = [Kind::Input, Kind::Check, Kind::Choose, Kind::Click, Kind::Drag, Kind::Key];
    let mut offers: Vec<Offer> =
        (5..).zip(kinds).map(|(at, kind)| offer(kind, at, "argument")).collect();
    offers.push(offer(Kind::Link, 11, "http://app.test/next"));
    let mut list = vec![node(0, "html", "", &[]), node(1, "ul", "", &[("id", "r1")])];
    for item in 0..12 {
        list.push(node(2, "li", "", &[("class", "item"), ("id", ":r1:")]));
        list.push(node(3, "#text", if item % 3 == 0 { "twin" } else { "other" }, &[]));
    }
    let clicks = (1..9).map(|at| offer(Kind::Click, at * 3, "")).collect();
    let flat = (0..60).map(|at| node(u16::from(at > 0), "br", "", &[])).collect();
    let deep = (0..120).map(|at| node(at * 500, "div", "", &[("id", "same")])).collect();
    let page = |nodes, offers| Page {
        url: "http://app.test/#a".to_owned(),
        title: "Title".to_owned(),
        nodes,
        offers,
    };
    vec![
        ("form", page(form, offers)),
        ("list", page(list, clicks)),
        ("flat", page(flat, Vec::new())),
        ("deep", page(deep, vec![offer(Kind::Scroll, 119, "")])),
    ]
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (name, page) in pages() {
        let content = found(page.checked().expect("it is a page"), 3);
        // Compressed bytes hardly survive a mutation, so there is a plain one too: a zero, then the
        // value as it is.
        let plain = postcard::to_extend(&content, vec![0]).expect("pages can be encoded");
        seeds.push((format!("{name}-plain"), plain));
        seeds.push((format!("{name}-packed"), contents::wrap(&content).bytes));
    }
    seeds
}
