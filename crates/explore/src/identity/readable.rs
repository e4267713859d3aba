//! Nodes and actions of a page in words that are fit to print.

use std::fmt::Write;

use super::generated::looks_generated;
use super::name::ElementNames;
use super::text;
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::page::Offer;
use crate::quoted::{Escaped, Quoted};

/// How many steps of a long way are shown, at its beginning and at its end.
const FIRST: usize = 2;
const LAST: usize = 6;

/// How many siblings and how many nodes are looked at to tell where something is.
const LOOKED_AT: usize = 2_000;

/// Where a node is, as in `html > body > main#list > li[2] "Buy milk"`. Empty if there is no such node.
pub(crate) fn describe_place(seen: &MaskedPage<'_>, at: NodeIndex) -> String {
    if at >= seen.tree.len() {
        return String::new();
    }
    let mut way: Vec<NodeIndex> = seen.tree.ancestors(at).collect();
    way.reverse();
    let mut out = String::new();
    for (index, step) in way.iter().enumerate() {
        let left_out = way.len() > FIRST + LAST && (FIRST..way.len() - LAST).contains(&index);
        if left_out && index > FIRST {
            continue;
        }
        if index > 0 {
            out.push_str(" > ");
        }
        if left_out {
            out.push('…');
        } else {
            push_step(&mut out, seen, *step);
        }
    }
    let says = text_of(seen, at);
    if !says.is_empty() {
        _ = write!(out, " {}", Quoted(&says));
    }
    out
}

fn push_step(out: &mut String, seen: &MaskedPage<'_>, at: NodeIndex) {
    let node = seen.tree.node(at);
    _ = write!(out, "{}", Escaped(&node.tag, 30));
    if let Some(id) = node.attribute("id").filter(|id| !looks_generated(id)) {
        _ = write!(out, "#{}", Escaped(id, 40));
        return;
    }
    let siblings = seen.tree.children(seen.tree.parent(at)).take(LOOKED_AT);
    let alike: Vec<NodeIndex> =
        siblings.filter(|sibling| seen.tree.node(*sibling).tag == node.tag).collect();
    if alike.len() > 1 {
        match alike.iter().position(|sibling| *sibling == at) {
            Some(position) => _ = write!(out, "[{}]", position + 1),
            None => out.push_str("[…]"),
        }
    }
}

/// The beginning of what a node says.
fn text_of(seen: &MaskedPage<'_>, at: NodeIndex) -> String {
    let mut out = String::new();
    for at in (at..seen.tree.end(at)).take(LOOKED_AT) {
        let node = seen.tree.node(at);
        if node.is_text() {
            let start: String = node.text.chars().take(200).collect();
            text::push_normalised(&mut out, &start);
        } else {
            text::push_normalised(&mut out, " ");
        }
        if out.len() > 200 {
            break;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// What an action is, as in `click button "Delete" in "Buy milk"`.
pub(crate) fn describe_action(
    seen: &MaskedPage<'_>,
    names: &ElementNames<'_, '_>,
    offer: &Offer,
) -> String {
    let at = offer.node as NodeIndex;
    let mut out = offer.kind.name().to_owned();
    if !offer.argument.is_empty() {
        _ = write!(out, " {}", Quoted(&offer.argument));
    }
    if at >= seen.tree.len() {
        return out;
    }
    let mut describe = |at: NodeIndex| {
        _ = write!(out, " {}", Escaped(&seen.tree.node(at).tag, 30));
        let name = names.name(at, offer.kind);
        if !name.is_empty() {
            _ = write!(out, " {}", Quoted(&name));
        }
    };
    describe(at);
    if let Some(onto) =
        offer.onto.map(|onto| onto as NodeIndex).filter(|onto| *onto < seen.tree.len())
    {
        describe(onto);
    }
    let around = seen.tree.parent(at).into_iter().flat_map(|parent| seen.tree.ancestors(parent));
    let label = around.filter_map(|at| names.container_label(at)).find(|label| !label.is_empty());
    if let Some(label) = label {
        _ = write!(out, " in {}", Quoted(&label));
    }
    out
}
