//! Descriptions of nodes and actions that are safe to print.

use std::fmt::Write;

use super::generated::looks_generated;
use super::name::ElementNames;
use super::text;
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::page::Offer;
use crate::quoted::{Escaped, Quoted};

/// The number of steps that are shown at the beginning and at the end of a long path.
const FIRST: usize = 2;
const LAST: usize = 6;

/// The maximum number of siblings, and of nodes, that are read for one description.
const MAX_READ: usize = 2_000;

/// Describes the place of a node, as in `html > body > main#list > li[2] "Buy milk"`. Empty if the
/// node does not exist.
pub(crate) fn describe_place(page: &MaskedPage<'_>, at: NodeIndex) -> String {
    if at >= page.tree.len() {
        return String::new();
    }
    let mut path: Vec<NodeIndex> = page.tree.ancestors(at).collect();
    path.reverse();
    let mut out = String::new();
    for (index, step) in path.iter().enumerate() {
        let left_out = path.len() > FIRST + LAST && (FIRST..path.len() - LAST).contains(&index);
        if left_out && index > FIRST {
            continue;
        }
        if index > 0 {
            out.push_str(" > ");
        }
        if left_out {
            out.push('…');
        } else {
            push_step(&mut out, page, *step);
        }
    }
    let text = text_of(page, at);
    if !text.is_empty() {
        _ = write!(out, " {}", Quoted(&text));
    }
    out
}

fn push_step(out: &mut String, page: &MaskedPage<'_>, at: NodeIndex) {
    let node = page.tree.node(at);
    _ = write!(out, "{}", Escaped(&node.tag, 30));
    if let Some(id) = node.attribute("id").filter(|id| !looks_generated(id)) {
        _ = write!(out, "#{}", Escaped(id, 40));
        return;
    }
    let siblings = page.tree.children(page.tree.parent(at)).take(MAX_READ);
    let alike: Vec<NodeIndex> =
        siblings.filter(|sibling| page.tree.node(*sibling).tag == node.tag).collect();
    if alike.len() > 1 {
        match alike.iter().position(|sibling| *sibling == at) {
            Some(position) => _ = write!(out, "[{}]", position + 1),
            None => out.push_str("[…]"),
        }
    }
}

/// The beginning of the text of a node.
fn text_of(page: &MaskedPage<'_>, at: NodeIndex) -> String {
    let mut out = String::new();
    for at in (at..page.tree.end(at)).take(MAX_READ) {
        let node = page.tree.node(at);
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

/// Describes an action, as in `click button "Delete" in "Buy milk"`.
pub(crate) fn describe_action(
    page: &MaskedPage<'_>,
    names: &ElementNames<'_, '_>,
    offer: &Offer,
) -> String {
    let at = offer.node as NodeIndex;
    let mut out = offer.kind.name().to_owned();
    if !offer.argument.is_empty() {
        _ = write!(out, " {}", Quoted(&offer.argument));
    }
    if at >= page.tree.len() {
        return out;
    }
    let mut describe = |at: NodeIndex| {
        _ = write!(out, " {}", Escaped(&page.tree.node(at).tag, 30));
        let name = names.name(at, offer.kind);
        if !name.is_empty() {
            _ = write!(out, " {}", Quoted(&name));
        }
    };
    describe(at);
    if let Some(onto) =
        offer.onto.map(|onto| onto as NodeIndex).filter(|onto| *onto < page.tree.len())
    {
        describe(onto);
    }
    let around = page.tree.parent(at).into_iter().flat_map(|parent| page.tree.ancestors(parent));
    let label = around.filter_map(|at| names.container_label(at)).find(|label| !label.is_empty());
    if let Some(label) = label {
        _ = write!(out, " in {}", Quoted(&label));
    }
    out
}
