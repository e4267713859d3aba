//! Explanations of differences between two pages.

use crate::identity::text_page::page;
use crate::identity::{Masks, Significance, difference, find, learn_masks};

#[track_caller]
fn check(identity: &str, a: &str, b: &str, expected: &[&str]) {
    let found = difference(find(identity).unwrap(), &Masks::NONE, &page(a), &page(b));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

const LIST: &str = "html\n  body\n    main id=list\n      ul\n        li 'Buy bread'\n        li class=x 'Buy milk'";

#[test]
fn differences_are_listed_with_their_places() {
    check(
        "content",
        LIST,
        &LIST.replace(
            "        li class=x 'Buy milk'",
            "        li class=y 'Buy milk'\n        li 'Buy tea'",
        ),
        &[
            "only in B: html > body > main#list > ul > li[3] \"Buy tea\"",
            "class: \"x\" in A, \"y\" in B, at html > body > main#list > ul > li[2] \"Buy milk\" (does not count)",
        ],
    );
    check(
        "content",
        "html\n  body\n    p '3 left'\n    a href=/a 'x'",
        "html\n  body\n    p '2 left'\n    a 'x'",
        &[
            "text: \"3 left\" in A, \"2 left\" in B, at html > body > p \"3 left\"",
            "href: \"/a\" in A, none in B, at html > body > a \"x\"",
        ],
    );
}

#[test]
fn actions_and_hidden_elements_are_listed() {
    check(
        "content",
        "ul\n  li 'Milk'\n    button 'Delete'",
        "ul\n  li 'Milk'\n    button @click 'Delete'",
        &["action only in B: click button \"Delete\" in \"Milk\", at ul > li > button \"Delete\""],
    );
    check("content", "div\n  p 'a'", "div\n  p ! 'a'", &["shown only in A: div > p \"a\""]);
}

#[test]
fn ignored_differences_are_marked() {
    check(
        "structure",
        "ul\n  li 'a'\n  li 'b'",
        "ul\n  li 'c'",
        &[
            "only in A: ul > li[2] \"b\" (does not count)",
            "text: \"a\" in A, \"c\" in B, at ul > li[1] \"a\" (does not count)",
        ],
    );
}

#[test]
fn masked_differences_are_marked() {
    let text = "html\n  body\n    p '10:00'\n    b 'x'";
    let (a, b) = (page(text), page(&text.replace("10:00", "10:01")));
    let content = find("content").unwrap();
    let masks = learn_masks(content, &a, &b);
    let found =
        difference(content, &masks, &a, &page(&text.replace("10:00", "9:09").replace('x', "y")));
    let verdicts: Vec<Significance> = found.iter().map(|difference| difference.verdict).collect();
    assert_eq!(verdicts, [Significance::Counts, Significance::Masked]);
    assert!(found[1].to_string().ends_with("(masked)"));
}

#[test]
fn long_paths_are_shortened_and_control_characters_escaped() {
    let deep: String = (0..20).map(|depth| format!("{}div\n", " ".repeat(depth))).collect();
    let text = format!("{deep}{}p title=a 'x\u{1b}[31m'", " ".repeat(20));
    check(
        "content",
        &text,
        &text.replace("title=a", "title=b"),
        &[
            "title: \"a\" in A, \"b\" in B, at div > div > … > div > div > div > div > div > p \"x\\u{1b}[31m\"",
        ],
    );
}
