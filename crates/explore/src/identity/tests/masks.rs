//! Masks: learned from two captures, and covering nothing else.

use crate::identity::text_page::page;
use crate::identity::{Masks, NamedIdentity, StateMasks, find, learn_masks, learn_value_masks};
use crate::page::Page;

fn content() -> &'static NamedIdentity {
    find("content").unwrap()
}

/// Learns masks from two loads and checks that the loads are one state under them.
#[track_caller]
fn learned(a: &str, b: &str) -> Masks {
    let masks = learn_masks(content(), &page(a), &page(b));
    assert!(is_same(&masks, a, b), "{masks}\n{a}\nand\n{b}");
    masks
}

fn is_same(masks: &Masks, a: &str, b: &str) -> bool {
    // Equal keys imply equal actions.
    content().recognise(&page(a), masks).key == content().recognise(&page(b), masks).key
}

const CLOCK: &str = "html\n  body\n    header\n      span id=clock '10:00:01'\n    p 'Hello'";

#[test]
fn a_clock_is_masked_and_the_rest_is_not() {
    let masks = learned(CLOCK, &CLOCK.replace(":01", ":02"));
    assert_eq!(
        masks.to_string(),
        "text of span#clock > #text (learned from the first page, loaded twice)\n"
    );
    assert!(is_same(&masks, CLOCK, &CLOCK.replace("10:00", "23:59")));
    assert!(!is_same(&masks, CLOCK, &CLOCK.replace("Hello", "Bye")));
}

#[test]
fn equal_pages_and_ignored_differences_give_no_masks() {
    assert!(learned(CLOCK, CLOCK).is_empty());
    let with = |id: &str| format!("div id={id} class={id}\n  p 'a'");
    assert!(learned(&with("x1f9a8b7"), &with("x0d4c3b2")).masks.is_empty());
}

#[test]
fn masks_apply_to_other_pages_of_the_application() {
    let masks = learned(CLOCK, &CLOCK.replace(":01", ":02"));
    let other = "html\n  body\n    nav\n    header\n      b 'New'\n      span id=clock '11:00:00'\n    p 'Other'";
    assert!(is_same(&masks, other, &other.replace("11:00", "12:00")));
}

#[test]
fn places_without_ids_are_found_by_shape_and_number() {
    let text = "html\n  body\n    p '1'\n    p '2'\n    p class=x '3'";
    let masks = learned(text, &text.replace('2', "9"));
    assert_eq!(
        masks.to_string(),
        "text of html > body > p[2] > #text (learned from the first page, loaded twice)\n"
    );
    assert!(is_same(&masks, text, &text.replace('2', "7")));
    assert!(!is_same(&masks, text, &text.replace('3', "7")));
    // A sibling of another shape does not change the number.
    let more = text.replace("    p '1'", "    h1 'a'\n    a href=/ 'b'\n    p '1'");
    assert!(is_same(&masks, &more, &more.replace('2', "7")));
}

#[test]
fn attributes_and_live_values_are_masked() {
    let text = "html\n  body\n    img src=/ad?1 alt=a\n    input .value=1\n    button aria-label=1 @click 'a'";
    let masks = learned(text, &text.replace('1', "2"));
    assert!(is_same(&masks, text, &text.replace('1', "3")));
    assert!(!is_same(&masks, text, &text.replace("alt=a", "alt=b")));
}

#[test]
fn an_attribute_that_comes_and_goes_is_masked() {
    let text = "html\n  body\n    button disabled 'a'";
    learned(text, &text.replace("disabled ", ""));
}

#[test]
fn masked_text_does_not_count_in_signatures() {
    let text = "html\n  body\n    ul\n      li 'seen 1 s ago'\n        button @click 'Open'\n    button @click 'since 1'";
    let masks = learned(text, &text.replace('1', "2"));
    assert!(is_same(&masks, text, &text.replace('1', "3")));
}

const SHOP: &str = "html\n  body\n    main\n      h1 'Shop'\n      div class=item 'a'\n      div class=item 'b'\n      div class=item 'c'\n      p 'd'";

#[test]
fn an_advertisement_that_comes_and_goes_is_masked() {
    let ad = "      div class=ad\n        a href=/x @click 'Buy'\n      div class=item 'b'";
    let with = SHOP.replace("      div class=item 'b'", ad);
    let masks = learned(SHOP, &with);
    assert_eq!(
        masks.to_string(),
        "every child div of class \"ad\" of html > body > main (learned from the first page, loaded twice)\n"
    );
    assert!(!is_same(&masks, SHOP, &SHOP.replace("'c'", "'e'")));
    assert!(!is_same(&masks, SHOP, &SHOP.replace("      div class=item 'c'\n", "")));
    let seen = content().recognise(&page(&with), &masks);
    assert_eq!(seen.actions, [None], "what is inside is not offered");
}

#[test]
fn values_beside_an_advertisement_are_still_found() {
    let a = SHOP.replace("class=item ", "");
    let b = a.replace("      h1", "      div class=ad 'x'\n      h1").replace("'c'", "'9'");
    let masks = learned(&a, &b);
    assert!(is_same(&masks, &a, &a.replace("'c'", "'7'")));
    assert!(!is_same(&masks, &a, &a.replace("'b'", "'7'")));
}

#[test]
fn a_large_group_of_children_is_never_masked() {
    let rows: String = (0..20).map(|row| format!("      p 'row {row}'\n")).collect();
    let full = format!("html\n  body\n    main\n{rows}");
    let masks = learn_masks(content(), &page(&full), &page("html\n  body\n    main"));
    assert!(masks.is_empty(), "{masks}");
}

#[test]
fn masks_survive_a_file_and_print_no_control_characters() {
    let a = "html\n  body\n    x\u{1b}[31m\n      p '7'\n    p id=\u{202e}a '7'";
    let masks = learn_masks(content(), &page(a), &page(&a.replace('7', "2")));
    assert_eq!(masks.masks.len(), 2);
    let json = serde_json::to_string(&masks).unwrap();
    assert_eq!(serde_json::from_str::<Masks>(&json).unwrap(), masks);
    assert!(!masks.to_string().contains(['\u{1b}', '\u{202e}']));
}

fn state_of(page: &Page) -> crate::id::StateKey {
    content().recognise(page, &Masks::NONE).key
}

#[test]
fn a_state_that_changed_only_in_values_is_found_again() {
    let text = "html\n  body\n    ul\n      li 'ticket 17'\n        button @click 'Take'\n    a @link=/x 'x'";
    let (a, b, c) = (page(text), page(&text.replace("17", "18")), page(&text.replace("17", "99")));
    let first = content().recognise(&a, &Masks::NONE);
    assert_ne!(state_of(&b), first.key);
    let masks = learn_value_masks(content(), &Masks::NONE, first.key, &a, &b).unwrap();
    assert_eq!(masks.masks.len(), 1);
    let mut states = StateMasks::default();
    assert_eq!(states.resolve(content(), &Masks::NONE, &b), None);
    states.learn(content(), &Masks::NONE, first.key, &a, &masks);
    // Also a page that is new, and its actions have the signatures of the first page.
    assert_eq!(states.resolve(content(), &Masks::NONE, &c), Some(first.clone()));
    let other = page(&text.replace("Take", "Give"));
    assert_eq!(states.resolve(content(), &Masks::NONE, &other), None);
    let json = serde_json::to_string(&states).unwrap();
    assert_eq!(serde_json::from_str::<StateMasks>(&json).unwrap(), states);
    assert_eq!(states.of(first.key), Some(&masks));
}

#[test]
fn masks_of_a_state_accumulate() {
    let text = "html\n  body\n    p '1'\n    b '2'";
    let (a, b, c) = (page(text), page(&text.replace('1', "x")), page(&text.replace('2', "y")));
    let key = state_of(&a);
    let mut states = StateMasks::default();
    for look in [&b, &c] {
        let known = states.of(key).cloned().unwrap_or_default();
        let masks = learn_value_masks(content(), &known, key, &a, look).unwrap();
        states.learn(content(), &Masks::NONE, key, &a, &masks);
    }
    let both = page(&text.replace('1', "v").replace('2', "w"));
    assert_eq!(states.resolve(content(), &Masks::NONE, &both).map(|found| found.key), Some(key));
    assert_eq!(states.iter().count(), 1);
}

#[test]
fn other_elements_are_not_value_differences() {
    let only = |a: &str, b: &str| {
        let (a, b) = (page(a), page(b));
        learn_value_masks(content(), &Masks::NONE, state_of(&a), &a, &b).is_some()
    };
    assert!(only("p 'a'", "p 'b'"));
    assert!(only("p 'a'", "p 'b'\n  i !"), "what is hidden does not count");
    assert!(!only("p 'a'", "p 'a'\n  i 'b'"));
    assert!(!only("p 'a'", "div 'a'"));
    assert!(!only("div 'a'", "div @click 'a'"));
    assert!(!only("p 'a'", "p ! 'a'"));
}

#[test]
fn buttons_with_generated_ids_are_matched_by_their_text() {
    let page = |ids: [&str; 3]| {
        let button =
            |(id, says): (&str, &str)| format!("      button id={id} class=css-{id} '{says}'\n");
        let buttons = ids.into_iter().zip(["earlier", "later", "type"]).map(button);
        format!("html\n  body\n    main id=main\n{}", buttons.collect::<String>())
    };
    // Some random ids look as if a person had written them.
    for (a, b) in [
        (["bqwertyu", "b1k9x2m4", "b7h3q9x1"], ["b4j8w2n6", "basdfghj", "b2m5k8p1"]),
        (["b1k9x2m4", "b7h3q9x1", "bqwertyu"], ["basdfghj", "bzxcvbnm", "b4j8w2n6"]),
    ] {
        let masks = learned(&page(a), &page(b));
        assert_eq!(masks.to_string(), "every id: the page generates new ones on each load\n");
    }
}
