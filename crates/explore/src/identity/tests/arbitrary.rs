//! Random pages, as an attacker could send them: nothing panics, results are deterministic, and the
//! guarantees of the identities hold.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::identity::{
    ALL, Masks, Significance, StateMasks, difference, find, learn_masks, learn_value_masks,
};
use crate::page::{Kind, Offer, Page, PageNode};

fn node() -> impl Strategy<Value = PageNode> {
    let tag = proptest::sample::select(vec![
        "div", "p", "#text", "#text", "li", "ul", "button", "a", "input", "label", "form", "h1",
        "script", "select", "option", "#shadow", "details", "summary", "",
    ]);
    let name = proptest::sample::select(vec![
        "id",
        "class",
        "role",
        "type",
        "href",
        "for",
        "aria-labelledby",
        "aria-label",
        ".value",
        ".checked",
        "name",
        "disabled",
        "",
    ]);
    let value = proptest::sample::select(vec![
        "a", "b", "a b", "listitem", "button", "dialog", ":r1:", " ", "ü\u{1b}",
    ]);
    let attributes = proptest::collection::vec(
        (name.prop_map(str::to_owned), value.prop_map(str::to_owned)),
        0..3,
    );
    let text = proptest::sample::select(vec!["", " ", "a", "b", "a\u{a0} b", "\u{0}\u{202e}"]);
    let depth = prop_oneof![8 => 0_u16..5, 1 => any::<u16>()];
    (depth, tag, text, attributes, proptest::bool::weighted(0.8)).prop_map(
        |(depth, tag, text, attributes, visible)| PageNode {
            depth,
            tag: tag.into(),
            text: text.into(),
            attributes,
            visible,
        },
    )
}

fn offer() -> impl Strategy<Value = Offer> {
    let kind = proptest::sample::select(vec![
        Kind::Click,
        Kind::Click,
        Kind::Drag,
        Kind::Key,
        Kind::Input,
        Kind::Choose,
        Kind::Scroll,
        Kind::Link,
    ]);
    let node = prop_oneof![9 => 0_u32..20, 1 => any::<u32>()];
    let onto = proptest::option::weighted(0.2, node.clone());
    let argument = proptest::sample::select(vec!["", "a", "#"]);
    (kind, node, onto, argument).prop_map(|(kind, node, onto, argument)| Offer {
        kind,
        node,
        onto,
        argument: argument.into(),
        place: String::new(),
    })
}

fn page() -> impl Strategy<Value = Page> {
    (proptest::collection::vec(node(), 0..24), proptest::collection::vec(offer(), 0..8)).prop_map(
        |(nodes, offers)| Page { url: "http://app.test/".into(), title: "t".into(), nodes, offers },
    )
}

/// Two related pages: the second is the first with a few nodes replaced, removed or added.
fn two_pages() -> impl Strategy<Value = (Page, Page)> {
    (page(), proptest::collection::vec((0_usize..24, node(), 0_u8..3), 0..4)).prop_map(
        |(a, changes)| {
            let mut b = a.clone();
            for (at, node, change) in changes {
                match change {
                    0 if at < b.nodes.len() => b.nodes[at] = node,
                    1 if at < b.nodes.len() => _ = b.nodes.remove(at),
                    _ => b.nodes.insert(at.min(b.nodes.len()), node),
                }
            }
            (a, b)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_page_gets_a_key_and_different_signatures(page in page()) {
        for identity in ALL {
            let once = identity.recognise(&page, &Masks::NONE);
            prop_assert_eq!(&once, &identity.recognise(&page.clone(), &Masks::NONE));
            prop_assert_eq!(once.actions.len(), page.offers.len());
            let some: Vec<_> = once.actions.iter().flatten().collect();
            prop_assert_eq!(some.iter().collect::<BTreeSet<_>>().len(), some.len());
        }
    }

    #[test]
    fn a_repaired_page_is_the_same_state(page in page()) {
        // Children of texts and nodes without a parent move; other pages keep their key.
        if let Ok(repaired) = page.clone().checked() {
            prop_assert_eq!(repaired.clone().checked(), Ok(repaired.clone()));
            if repaired.nodes == page.nodes {
                let content = find("content").unwrap();
                prop_assert_eq!(content.recognise(&repaired, &Masks::NONE).key, content.recognise(&page, &Masks::NONE).key);
            }
        }
    }

    #[test]
    fn strict_distinguishes_all_that_the_other_identities_do((a, b) in two_pages()) {
        let same = |name| {
            let identity = find(name).unwrap();
            identity.recognise(&a, &Masks::NONE) == identity.recognise(&b, &Masks::NONE)
        };
        prop_assert!(!same("strict") || same("content"));
        prop_assert!(!same("strict") || same("structure"));
    }

    #[test]
    fn a_difference_counts_exactly_if_the_states_differ((a, b) in two_pages()) {
        for identity in ALL {
            let found = difference(identity, &Masks::NONE, &a, &b);
            let counts = found.iter().any(|difference| difference.verdict == Significance::Counts);
            let differ = identity.recognise(&a, &Masks::NONE).key != identity.recognise(&b, &Masks::NONE).key;
            prop_assert_eq!(differ, counts, "{} {:?}", identity.name, found);
            for difference in found {
                prop_assert!(!difference.to_string().chars().any(char::is_control));
            }
        }
    }

    #[test]
    fn learned_masks_are_deterministic_and_resolve_their_state((a, b) in two_pages(), c in page()) {
        for identity in ALL {
            let masks = learn_masks(identity, &a, &b);
            prop_assert_eq!(&masks, &learn_masks(identity, &a, &b));
            prop_assert!(learn_masks(identity, &a, &a).is_empty());
            identity.recognise(&c, &masks);
            difference(identity, &masks, &a, &c);
            let key = identity.recognise(&a, &masks).key;
            if let Some(values) = learn_value_masks(identity, &masks, key, &a, &b) {
                let mut states = StateMasks::default();
                states.learn(identity, &masks, key, &a, &values);
                let found = states.resolve(identity, &masks, &a);
                prop_assert_eq!(found.map(|found| found.key), Some(key));
                states.resolve(identity, &masks, &c);
            }
        }
    }

    #[test]
    fn masks_from_a_file_apply_to_any_page((a, b) in two_pages(), c in page()) {
        let masks = learn_masks(find("strict").unwrap(), &a, &b);
        let json = serde_json::to_string(&masks).unwrap();
        let masks: Masks = serde_json::from_str(&json).unwrap();
        for identity in ALL {
            identity.recognise(&c, &masks);
        }
    }
}

#[test]
fn a_page_of_maximal_depth_is_recognised() {
    let nodes = (0..=u16::MAX).map(|depth| PageNode {
        depth,
        tag: "button".into(),
        text: String::new(),
        attributes: Vec::new(),
        visible: true,
    });
    let offer = |node| Offer {
        kind: Kind::Click,
        node,
        onto: None,
        argument: String::new(),
        place: String::new(),
    };
    let page =
        Page { nodes: nodes.collect(), offers: (0..2_000).map(offer).collect(), ..Page::default() };
    for identity in ALL {
        assert_eq!(identity.recognise(&page, &Masks::NONE).actions.iter().flatten().count(), 2_000);
        assert!(difference(identity, &Masks::NONE, &page, &page).is_empty());
    }
}
