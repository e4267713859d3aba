//! Tables of pairs of pages that are the same state, or different ones, under each identity.

use crate::identity::text_page::page;
use crate::identity::{Masks, find};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Are {
    Same,
    Different,
}
use Are::{Different, Same};

#[track_caller]
fn check(identity: &str, a: &str, are: Are, b: &str) {
    let identity = find(identity).unwrap();
    let key = |text: &str| identity.recognise(&page(text), &Masks::NONE).key;
    let found = if key(a) == key(b) { Same } else { Different };
    assert_eq!(found, are, "{}:\n{a}\nand\n{b}", identity.name);
}

#[test]
fn content_ignores_what_a_user_cannot_see() {
    let same = |a, b| check("content", a, Same, b);
    same("p 'a  b'", "p ' a\\n b '");
    same("p 'a'", "p class=red style=color:red data-x=1 onclick=go() 'a'");
    same("div id=r8c1f2a9 'a'", "div id=r0d77b31 'a'");
    same("body\n  p 'a'", "body\n  p 'a'\n  div !\n    button 'b'");
    same("body\n  p 'a'", "body\n  script 'x()'\n  p 'a'\n  style 'p {}'");
    same("p\n  'a '\n  'b'", "p\n  'a '\n  i ! 'hidden'\n  'b'");
    same("input name=:r1: .value=a", "input name=:r2: .value=a");
    same("img src=blob:http://x/1", "img src=blob:http://x/2");
    same("button aria-controls=:r1: 'a'", "button aria-controls=:r9: 'a'");
    same("a href=/x title=t 'a'", "a title=t href=/x 'a'");
    same("textarea .value=b\n  'a'", "textarea .value=b\n  'c'");
    same("button disabled=disabled 'a'", "button disabled 'a'");
}

#[test]
fn content_counts_what_a_user_can_see() {
    let different = |a, b| check("content", a, Different, b);
    different("p 'a'", "p 'b'");
    different("p 'a'", "div 'a'");
    different("p 'a'", "p 'a'\np 'a'");
    different("p 'ab'", "p\n  b 'a'\n  'b'");
    different("div\n  p 'a'\n  p", "div\n  p\n    p 'a'");
    different("p 'a'", "p ! 'a'");
    different("input .value=a", "input .value=b");
    different("input type=checkbox", "input type=checkbox .checked=true");
    different("details 'a'", "details open 'a'");
    different("a href=/x 'a'", "a href=/y 'a'");
    different("img src=data:image/png;base64,AAAA", "img src=data:image/png;base64,AAAB");
    different("button 'a'", "button disabled 'a'");
    different("div aria-expanded=false", "div aria-expanded=true");
    different(
        "form\n  input name=email .value=x",
        "form\n  input name=email .value=x\n  span class=error 'That is no address'",
    );
    different("ul\n  li 'a'\n  li 'b'", "ul\n  li 'b'\n  li 'a'");
}

#[test]
fn different_actions_make_different_states() {
    let different = |a, b| check("content", a, Different, b);
    different("div 'a'", "div @click 'a'");
    different("div @click 'a'", "div @hover 'a'");
    different("div @key=Enter 'a'", "div @key=Escape 'a'");
    different(
        "div\n  p id=a 'a'\n  p id=b 'b'\n  i @drag=#a 'x'",
        "div\n  p id=a 'a'\n  p id=b 'b'\n  i @drag=#b 'x'",
    );
}

#[test]
fn plain_links_do_not_distinguish_states() {
    check("content", "a href=/x 'a'", Same, "a href=/x @link=http://app.test/x 'a'");
}

#[test]
fn a_fragment_does_not_make_another_link() {
    let identity = find("content").unwrap();
    let of = |text: &str| identity.recognise(&page(text), &Masks::NONE).actions;
    assert_eq!(of("a @link=http://app.test/x 'a'"), of("p\n  b @link=http://app.test/x#y 'b'"));
    assert_eq!(of("p\n  a @link=/x 'a'\n  a @link=/x 'b'")[1], None, "a link is offered once");
}

const OWNERS: &str = "table\n  tr\n    td 'Name'\n    td 'Pet'";

#[test]
fn structure_merges_lists_of_any_length() {
    let same = |a: &str, b: &str| check("structure", a, Same, b);
    let row =
        |name: &str| format!("\n  tr\n    td\n      a @click href=/{name} '{name}'\n    td 'Leo'");
    let one = format!("{OWNERS}{}", row("George"));
    let two = format!("{OWNERS}{}{}", row("Betty"), row("Eduardo"));
    same(&one, &two);
    same("p 'a'", "p 'b'");
    same("p\n  'a'\n  'b'", "p 'c'");
    same("img src=/a alt=a title=a", "img src=/b alt=b title=b");
    same("input type=text .value=a", "input type=text .value=b");
    same(
        "ul\n  li\n    ul\n      li 'a'",
        "ul\n  li\n    ul\n      li 'b'\n      li 'c'\n  li\n    ul\n      li 'd'",
    );
}

#[test]
fn structure_distinguishes_a_form_from_a_form_with_errors() {
    let different = |a: &str, b: &str| check("structure", a, Different, b);
    different("form\n  div\n    input", "form\n  div\n    input\n    span 'may not be empty'");
    different("p 'a'", "p");
    different("span", "span 'may not be empty'");
    different("input type=checkbox", "input type=checkbox .checked=true");
    different("button 'a'", "button disabled 'a'");
    different("details", "details open");
    different("div 'a'", "div @click 'a'");
    different("p\n  b 'a'", "p\n  i 'a'");
    different("ul\n  li 'a'\n  li @click 'b'", "ul\n  li 'a'\n  li 'b'");
    different("p 'a'\n  b\n  'c'", "p 'a'\n  b");
}

#[test]
fn structure_offers_one_action_for_equal_rows() {
    let identity = find("structure").unwrap();
    let of = |text: &str| identity.recognise(&page(text), &Masks::NONE).actions;
    let two =
        of("ul\n  li\n    button @click 'a'\n  li\n    button @click 'b'\np\n  button @click 'c'");
    let three = of(
        "ul\n  li\n    button @click 'a'\n  li\n    button @click 'b'\n  li\n    button @click\n      'c'\np\n  button @click 'c'",
    );
    assert!(two[0].is_some() && two[1].is_none() && two[2].is_some());
    assert_eq!(three, [two[0], None, None, two[2]]);
    let apart = of("div\n  button @click 'a'\n  hr\n  button @click 'b'");
    assert!(apart[1].is_some() && apart[0] != apart[1]);
}

#[test]
fn strict_counts_everything() {
    let different = |a: &str, b: &str| check("strict", a, Different, b);
    check("strict", "p id=a 'b'", Same, "p id=a 'b'");
    different("p 'a'", "p 'a '");
    different("p 'a'", "p class=x 'a'");
    different("p id=a1b2c3d4 'a'", "p id=a1b2c3d5 'a'");
    different("p 'a'", "p 'a'\n  i !");
    different("p\n  i 'a'", "p\n  i ! 'a'");
    different("script 'a'", "script 'b'");
    let mut moved = page("p 'a'");
    moved.url.push_str("#x");
    let strict = find("strict").unwrap();
    let key = |page| strict.recognise(page, &Masks::NONE).key;
    assert_ne!(key(&page("p 'a'")), key(&moved));
}
