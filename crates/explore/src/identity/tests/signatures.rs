//! An action keeps its signature while its surroundings change.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::id::ActionSignature;
use crate::identity::text_page::page;
use crate::identity::{Masks, find};

fn of(text: &str) -> Vec<ActionSignature> {
    let recognised = find("content").unwrap().recognise(&page(text), &Masks::NONE);
    recognised.actions.into_iter().map(|action| action.expect("every offer is an action")).collect()
}

#[track_caller]
fn equal(a: &str, b: &str) {
    assert_eq!(of(a), of(b), "\n{a}\nand\n{b}");
}

#[track_caller]
fn unequal(a: &str, b: &str) {
    let (a_s, b_s) = (of(a), of(b));
    assert!(a_s.iter().all(|action| !b_s.contains(action)), "\n{a}\nand\n{b}");
}

#[test]
fn a_signature_ignores_the_surroundings_of_an_action() {
    let plain = "body\n  button @click 'Save'";
    equal(plain, "body\n  button @click class=hot style=left:9px 'Save'");
    equal(plain, "body\n  div\n    div\n      button @click 'Save'");
    equal(plain, "body\n  p 'Something happened'\n  button @click 'Save'\n  p '7 left'");
    equal(plain, "body\n  button @click id=:r7: ' Save\\n'");
    equal(
        "input @input=argiope type=text name=q",
        "input @input=other type=text name=q .value=old",
    );
    equal("div @click id=app '1'", "div @click id=app '2'");
    equal("body @key=Enter\n  p 'a'", "body @key=Enter\n  p 'b'");
    equal("div @scroll\n  p 'a'", "div @scroll\n  p 'b'\n  p 'c'");
    equal("form @submit\n  input .value=a", "form @submit\n  input .value=b\n  p 'wrong'");
}

#[test]
fn a_signature_depends_on_kind_element_and_container() {
    let plain = "button @click 'Save'";
    unequal(plain, "button @click 'Delete'");
    unequal(plain, "button @double-click 'Save'");
    unequal(plain, "a @click 'Save'");
    unequal(plain, "button @click id=other 'Save'");
    unequal(plain, "button @click role=tab 'Save'");
    unequal(plain, "dialog\n  button @click 'Save'");
    unequal("div @key=Enter", "div @key=Escape");
    unequal("select @choose=a", "select @choose=b");
    unequal("input @check type=radio name=x value=1", "input @check type=radio name=x value=2");
    unequal(
        "section\n  h2 'Cats'\n  button @click 'Add'",
        "section\n  h2 'Dogs'\n  button @click 'Add'",
    );
}

#[test]
fn names_come_from_labels_attributes_and_text() {
    let named = |text: &str| of(text);
    assert_eq!(named("button @click aria-label=Save 'x'"), named("button @click 'Save'"));
    assert_eq!(
        named("p\n  i id=t 'Save'\n  button @click aria-labelledby=t"),
        named("button @click 'Save'")
    );
    assert_eq!(named("button @click\n  img alt=Save"), named("button @click 'Save'"));
    assert_eq!(named("button @click title=Save\n  i"), named("button @click 'Save'"));
    unequal("label 'Age'\n  input @input", "label 'Name'\n  input @input");
    unequal(
        "p\n  label for=a1 'Age'\n  input @input id=a1",
        "p\n  label for=a1 'Name'\n  input @input id=a1",
    );
    unequal("input @click type=submit .value=Go", "input @click type=submit .value=Stop");
    unequal("input @input placeholder=Age", "input @input placeholder=Name");
}

#[test]
fn actions_of_items_are_distinguished_by_the_item() {
    let two =
        of("ul\n  li 'Milk'\n    button @click 'Delete'\n  li 'Bread'\n    button @click 'Delete'");
    assert_eq!(of("ul\n  li 'Bread'\n    button @click 'Delete'"), two[1..]);
    let swapped =
        of("ul\n  li 'Bread'\n    button @click 'Delete'\n  li 'Milk'\n    button @click 'Delete'");
    assert_eq!(swapped, [two[1], two[0]]);
}

#[test]
fn a_change_of_one_item_keeps_the_signatures_of_others() {
    let closed = of("ul\n  li 'a'\n    span @click '+'\n  li 'b'\n    span @click '+'");
    let open = of(
        "ul\n  li 'a'\n    span @click '-'\n    ul\n      li 'c'\n        span @click '+'\n  li 'b'\n    span @click '+'",
    );
    assert_eq!(open[2], closed[1]);
    assert_ne!(open[1], closed[0], "the same text deeper down is another item");
}

#[test]
fn a_link_distinguishes_the_item_it_describes() {
    let two = of(
        "ul\n  li\n    a href=/a 'Milk'\n    button @click 'x'\n  li\n    a href=/b 'Bread'\n    button @click 'x'",
    );
    assert_eq!(of("ul\n  li\n    a href=/b 'Bread'\n    button @click 'x'"), two[1..]);
}

#[test]
fn equal_actions_are_numbered() {
    let three = of("div\n  button @click 'x'\n  button @click 'x'\n  button @click 'x'");
    assert_eq!(of("div\n  button @click 'x'\n  button @click 'x'"), three[..2]);
    assert_eq!(of("div\n  button @click 'x'"), three[..1]);
}

#[test]
fn the_signature_of_a_drag_depends_on_its_target() {
    let columns = "div\n  div id=todo\n    p @drag=#done 'Card'\n  div id=done\n  div id=later";
    unequal(columns, &columns.replace("#done", "#later"));
    equal(columns, &columns.replace("div id=done", "div id=done\n    p 'Other'"));
}

#[test]
fn moved_buttons_keep_their_signatures() {
    let a = of("div\n  button @click 'a'\n  button @click 'b'\n  button @click 'c'");
    let b = of("div\n  button @click 'c'\n  div\n    button @click 'a'\n  button @click 'b'");
    assert_eq!([a[2], a[0], a[1]], b[..]);
}

/// A page with a list of items with different texts, each with three actions.
fn list(items: &[u8], around: u8) -> String {
    let mut text = "body\n".to_owned();
    for index in 0..around {
        text.push_str(&format!("  p 'paragraph {index}'\n"));
    }
    text.push_str("  ul\n");
    for item in items {
        text.push_str(&format!(
            "    li\n      input type=checkbox @check\n      label @double-click 'item {item}'\n      button @click '×'\n"
        ));
    }
    text
}

fn named(items: &[u8], around: u8) -> BTreeMap<u8, Vec<ActionSignature>> {
    items.iter().copied().zip(of(&list(items, around)).chunks(3).map(<[_]>::to_vec)).collect()
}

proptest! {
    #[test]
    fn items_keep_their_signatures_while_others_change(
        before in Just((0_u8..12).collect::<Vec<_>>()).prop_shuffle(),
        after in proptest::sample::subsequence((0_u8..20).collect::<Vec<_>>(), 0..20).prop_shuffle(),
        around in 0_u8..4,
    ) {
        let (one, other) = (named(&before, 0), named(&after, around));
        for (item, actions) in &one {
            if let Some(still) = other.get(item) {
                prop_assert_eq!(actions, still);
            }
        }
        let mut all: Vec<_> = other.values().flatten().collect();
        all.sort();
        let count = all.len();
        all.dedup();
        prop_assert_eq!(all.len(), count, "all are different");
    }
}
