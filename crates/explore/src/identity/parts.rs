//! Finds the parts of a page: containers such as dialogs and forms, custom elements, and elements
//! that repeat, such as the rows of a list. What lies in no part is the rest of the page.

use std::collections::BTreeMap;

use super::content;
use super::digest::Encoder;
use super::elements;
use super::signature::{inside_masked_nodes, offer_nodes};
use super::text;
use super::tree::NodeIndex;
use super::view::{MaskedPage, Token};
use crate::id::ActionSignature;
use crate::page::{Kind, Offer, PageNode};
use crate::parts::{PartAction, PartLook, PartPlace, StatePart, StateParts};

/// Elements that repeat at least this often are items of a list. Of fewer, each is a part of its
/// own.
const ITEMS: usize = 8;

/// How an element is a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It belongs to the part around it.
    None,
    /// The whole page, whose text does not count.
    Page,
    /// A container or a repeated element.
    Region,
    /// An item of a list. Its text does not count.
    Item,
}

/// What is known about the part around a node.
#[derive(Clone, Copy)]
struct Around {
    root: NodeIndex,
    place: u64,
    /// Whether an item is around it.
    item: bool,
    /// The way from the root of the part to the node.
    path: u64,
}

/// The parts of a page, and the actions in them. Signatures are those that an identity gave.
pub(super) fn of(page: &MaskedPage<'_>, signatures: &[Option<ActionSignature>]) -> StateParts {
    let tree = &page.tree;
    let roles = roles(page);
    let around = places(page, &roles);
    let looks = looks(page, &roles, &around);
    let part = |root: NodeIndex| StatePart {
        place: PartPlace(around[root].place),
        look: PartLook(looks[root]),
    };
    let is_root = |at: &NodeIndex| roles[*at] != Role::None && (*at == 0 || tree.node(*at).visible);
    let parts: Vec<StatePart> = (0..tree.len()).filter(is_root).map(part).collect();
    let hidden = inside_masked_nodes(page);
    let actions = tree.page.offers.iter().zip(signatures).filter_map(|(offer, signature)| {
        let action = (*signature)?;
        let (node, _) = offer_nodes(page, offer)?;
        if hidden(node) {
            return None;
        }
        let near = around[node];
        // A plain link outside lists is followed once in the whole crawl anyway.
        if offer.kind == Kind::Link && !near.item {
            return None;
        }
        let deed = if near.item { deed(offer, tree.node(node), near.path) } else { action.0 };
        Some((PartAction { action, deed, part: 0, item: near.item }, part(near.root)))
    });
    StateParts::new(&parts, actions)
}

/// What is done to which kind of element of an item.
fn deed(offer: &Offer, node: &PageNode, path: u64) -> u64 {
    let mut encoder = Encoder::tagged("deed");
    encoder.text(offer.kind.name()).number(path);
    for name in ["role", "type", "name"] {
        encoder.text(node.attribute(name).unwrap_or_default());
    }
    match offer.kind {
        Kind::Link => encoder.text(&template(&offer.argument)),
        Kind::Input => &mut encoder,
        _ => encoder.text(&offer.argument),
    };
    encoder.digest()
}

/// An address without what differs among the items of a list: pieces with digits, and the fragment.
fn template(address: &str) -> String {
    let address = address.split('#').next().unwrap_or_default();
    let piece = |piece: &str| {
        let is_data = piece.bytes().any(|byte| byte.is_ascii_digit());
        if is_data { "#".to_owned() } else { piece.to_owned() }
    };
    // The host is not data.
    let (host, path) = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            (format!("{scheme}://{host}/"), path)
        }
        None => (String::new(), address),
    };
    let pieces: Vec<String> = path.split(['/', '&', '=', '?']).map(piece).collect();
    host + &pieces.join("/")
}

/// Which elements are the roots of parts.
fn roles(page: &MaskedPage<'_>) -> Vec<Role> {
    let tree = &page.tree;
    let mut roles = vec![Role::None; tree.len()];
    if let Some(first) = roles.first_mut() {
        *first = Role::Page;
    }
    let holds_actions = holding_actions(page);
    let mut repeated: BTreeMap<(Option<NodeIndex>, &str, &str), Vec<NodeIndex>> = BTreeMap::new();
    for (at, node) in page.nodes(elements::is_never_shown) {
        if at == 0 || node.is_text() || !node.visible {
            continue;
        }
        let is_container = matches!(
            elements::container(node),
            Some(elements::Container::Group | elements::Container::Landmark)
        );
        if is_container || node.tag.contains('-') {
            roles[at] = Role::Region;
        }
        if holds_actions[at] && !is_whole(node) {
            let class = node.attribute("class").unwrap_or_default();
            let class = class.split_whitespace().next().unwrap_or_default();
            repeated.entry((tree.parent(at), &node.tag, class)).or_default().push(at);
        }
    }
    for siblings in repeated.into_values().filter(|siblings| siblings.len() > 1) {
        let role = if siblings.len() < ITEMS { Role::Region } else { Role::Item };
        siblings.into_iter().for_each(|at| roles[at] = role);
    }
    roles
}

fn is_whole(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "html" | "body" | "main" | "#document" | "#shadow")
}

/// Whether there are actions on elements inside a node, the node itself apart.
fn holding_actions(page: &MaskedPage<'_>) -> Vec<bool> {
    let tree = &page.tree;
    let mut holding = vec![false; tree.len()];
    for offer in &tree.page.offers {
        let Some((node, _)) = offer_nodes(page, offer) else { continue };
        for above in tree.ancestors(node).skip(1) {
            if std::mem::replace(&mut holding[above], true) {
                break;
            }
        }
    }
    holding
}

/// The part around each node (its own, for the root of a part).
fn places(page: &MaskedPage<'_>, roles: &[Role]) -> Vec<Around> {
    let tree = &page.tree;
    let outside = Around { root: 0, place: 0, item: false, path: 0 };
    let mut around: Vec<Around> = Vec::with_capacity(tree.len());
    // How often an element with this name came among its siblings, or in its part.
    let mut counts: BTreeMap<(NodeIndex, u64), u64> = BTreeMap::new();
    for (at, &role) in roles.iter().enumerate() {
        let node = tree.node(at);
        let parent = tree.parent(at);
        let above = parent.map_or(outside, |parent| around[parent]);
        let mut name = Encoder::tagged("element");
        name.text(&node.tag).text(node.attribute("role").unwrap_or_default());
        if let Some(id) = tree.stable_id(at).filter(|_| role != Role::Item) {
            name.text(id);
        }
        let name = name.digest();
        let mut nth = |of: NodeIndex| {
            let count = counts.entry((of, name)).or_default();
            *count += 1;
            *count
        };
        around.push(match role {
            Role::None => {
                let nth = if node.is_text() { 0 } else { nth(parent.unwrap_or(at)) };
                let mut path = Encoder::tagged("path");
                path.number(above.path).number(name).number(nth);
                Around { path: path.digest(), ..above }
            }
            role => {
                let is_item = role == Role::Item;
                let mut place = Encoder::tagged("part");
                place.number(above.place).number(above.path).number(name);
                // The items of a list have one place.
                place.number(if is_item { 0 } else { nth(parent.unwrap_or(at)) });
                let item = above.item || is_item;
                Around { root: at, place: place.digest(), item, path: 0 }
            }
        });
    }
    around
}

/// What each part shows, without the parts inside it. A run of equal elements counts once where
/// text does not count.
fn looks(page: &MaskedPage<'_>, roles: &[Role], around: &[Around]) -> Vec<u64> {
    let tree = &page.tree;
    let shown = shown(page);
    let mut digests = vec![0; tree.len()];
    let mut kept: Vec<u64> = Vec::new();
    // Text counts in regions that are not part of an item.
    let counts_text: Vec<bool> =
        around.iter().map(|near| !near.item && roles[near.root] == Role::Region).collect();
    for at in (0..tree.len()).rev() {
        if !shown[at] {
            continue;
        }
        let node = tree.node(at);
        let mut encoder = Encoder::tagged("look");
        if node.is_text() {
            let text = if counts_text[at] && !page.masked.text(at) {
                without_digits(&text::normalise(&node.text))
            } else {
                String::new()
            };
            encoder.text(&text);
            digests[at] = encoder.digest();
            continue;
        }
        encoder.text(&node.tag);
        for token in content::attribute_tokens(page, at, node) {
            match token {
                Token::Attribute(name, value) if is_condition(name) => {
                    encoder.text(name).text(&value);
                }
                Token::Attribute(name, value) if counts_text[at] => {
                    encoder.text(name).text(&without_digits(&value));
                }
                Token::AnyValue(name) => _ = encoder.text(name),
                _ => {}
            }
        }
        kept.clear();
        let inner = tree.children(Some(at)).filter(|child| shown[*child]);
        kept.extend(inner.filter(|child| roles[*child] == Role::None).map(|child| digests[child]));
        if !counts_text[at] {
            kept.dedup();
        }
        encoder.number(kept.len() as u64);
        for digest in &kept {
            encoder.number(*digest);
        }
        digests[at] = encoder.digest();
    }
    digests
}

/// Whether an attribute says in which condition an element is, whatever its text.
fn is_condition(name: &str) -> bool {
    matches!(
        name,
        "role" | "type" | ".checked" | ".selected" | ".open" | "aria-expanded" | "aria-selected"
    ) || matches!(name, "aria-pressed" | "aria-checked" | "aria-current" | "aria-disabled")
        || name == "aria-hidden"
}

/// Which nodes users see. Blank texts do not count.
fn shown(page: &MaskedPage<'_>) -> Vec<bool> {
    let mut shown = vec![false; page.tree.len()];
    for (at, node) in page.nodes(elements::is_never_shown) {
        shown[at] = if node.is_text() {
            node.visible && !text::is_blank(&node.text)
        } else {
            // The descendants of an invisible element may be visible.
            at == 0 || node.visible
        };
    }
    shown
}

/// A text in which every number is the same.
fn without_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if !letter.is_numeric() {
            out.push(letter);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::text_page::page;
    use super::super::{self as identity, Masks};
    use super::*;

    fn parts(text: &str) -> StateParts {
        let page = page(text);
        let rule = identity::find("content").unwrap().identity;
        let masks = Masks::NONE;
        let masked = MaskedPage::new(&masks, &page);
        let parts = of(&masked, &rule.signatures(&masked));
        assert_eq!(parts.fault(), None);
        parts
    }

    /// What the parts of the second page show that those of the first do not.
    fn news(before: &str, after: &str) -> Vec<StatePart> {
        let (before, after) = (parts(before), parts(after));
        after.parts.into_iter().filter(|part| !before.parts.contains(part)).collect()
    }

    const SECTIONS: &str = "html\n  body\n    section\n      h2 'Hours'\n      button @click 'Show'\n    \
                            section\n      h2 'Fines'\n      button @click 'Show'\n";

    #[test]
    fn what_happens_in_a_section_changes_that_part_alone() {
        let opened = SECTIONS.replacen("'Show'", "'Hide'\n      p 'From nine to five'", 1);
        assert_eq!(parts(SECTIONS).parts.len(), 3, "two sections and the rest");
        assert_eq!(parts(SECTIONS).actions.len(), 2);
        assert_eq!(news(SECTIONS, &opened).len(), 1);
    }

    #[test]
    fn texts_count_in_regions_and_numbers_do_not() {
        assert_eq!(news(SECTIONS, &SECTIONS.replace("Hours", "Places")).len(), 1);
        let counted = SECTIONS.replace("Hours", "3 hours");
        assert_eq!(news(&counted, &SECTIONS.replace("Hours", "41 hours")), []);
        let rest = |text: &str| {
            SECTIONS.replacen("    section", &format!("    p '{text}'\n    section"), 1)
        };
        assert_eq!(news(&rest("Welcome"), &rest("It rains")), []);
        assert_eq!(news(SECTIONS, &rest("Welcome")).len(), 1, "one more paragraph");
    }

    /// A list whose items have a button and a link.
    fn list(items: usize) -> String {
        let mut text = "html\n  body\n    ul\n".to_owned();
        for item in 0..items {
            writeln!(text, "      li '{item}. Tea'\n        button @click 'Brew {item}'").unwrap();
            writeln!(text, "        a @link=http://host/tea/{item} 'More'").unwrap();
        }
        text
    }

    #[test]
    fn items_of_a_long_list_are_one_part_and_their_actions_one_deed() {
        let nine = parts(&list(9));
        let deeds: std::collections::BTreeSet<u64> =
            nine.actions.iter().map(|action| action.deed).collect();
        assert_eq!((nine.actions.len(), deeds.len()), (18, 2));
        assert!(nine.actions.iter().all(|action| action.item));
        assert_eq!(nine.parts.len(), 2, "the items and the rest");
        assert_eq!(news(&list(9), &list(12)), [], "more of the same is nothing new");
        let ticked = list(9).replacen("Tea'", "Tea'\n        b 'done'", 1);
        assert_eq!(news(&list(9), &ticked).len(), 1, "an item that looks otherwise");
        // Of a short list each item is a part of its own, and links belong to no part.
        let three = parts(&list(3));
        assert_eq!((three.parts.len(), three.actions.len()), (4, 3));
    }

    #[test]
    fn addresses_of_items_are_alike_if_only_their_numbers_differ() {
        assert_eq!(template("http://host1/tea/12/edit?x=3#y"), "http://host1/tea/#/edit/x/#");
        assert_ne!(template("http://host/tea/12"), template("http://host/cups/12"));
        assert_ne!(template("http://a/"), template("http://b/"));
    }
}
