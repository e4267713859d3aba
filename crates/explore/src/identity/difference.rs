//! Explains the differences between two pages, and says of each whether it counts, is masked, or is
//! ignored by the identity.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::align::{Alignment, align};
use super::learn::differing_aspects;
use super::mask::{MaskedAspect, Masks};
use super::name::ElementNames;
use super::readable::{describe_action, describe_place};
use super::tree::NodeIndex;
use super::view::{MaskedPage, Token, View};
use super::{NamedIdentity, strict, text};
use crate::page::{Kind, Page, PageNode};
use crate::quoted::{Escaped, Quoted};

/// One difference between two pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whether it counts.
    pub verdict: Significance,
    /// What is different.
    pub change: Change,
    /// The place, safe to print. Empty if it concerns the whole page.
    pub place: String,
}

/// Whether a difference counts for the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Significance {
    /// It makes the pages two states.
    Counts,
    /// It would count, but is masked.
    Masked,
    /// The identity ignores it.
    DoesNotCount,
}

/// What is different. Texts are unescaped, so they are not safe to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the first page has this node.
    OnlyInA,
    /// Only the second page has this node.
    OnlyInB,
    /// Both have the node, and it is visible only in the first.
    ShownInA,
    /// Both have the node, and it is visible only in the second.
    ShownInB,
    /// A text, in both pages.
    Text(String, String),
    /// An attribute or a live property: its name and both values.
    Attribute(String, Option<String>, Option<String>),
    /// The address.
    Address(String, String),
    /// The title.
    Title(String, String),
    /// Only the first page offers this action. The description is safe to print.
    ActionInA(String),
    /// Only the second page offers this action. The description is safe to print.
    ActionInB(String),
}

/// Lists every difference between two pages: those that count, then masked ones, then ignored ones,
/// each in document order. If none counts, the pages are the same state.
pub fn difference(identity: &NamedIdentity, masks: &Masks, a: &Page, b: &Page) -> Vec<Difference> {
    let (a, b) = (MaskedPage::new(masks, a), MaskedPage::new(masks, b));
    let mut found = Finder::new(identity, &a, &b);
    found.compare_address_and_title();
    let alignment = align(&a.tree, &b.tree);
    found.compare_presence(&alignment);
    found.compare_values(&alignment);
    found.count_joint_differences();
    found.compare_actions();
    let mut differences = found.differences;
    differences.sort_by_key(|difference| difference.verdict);
    differences
}

struct Finder<'s, 'a> {
    identity: &'s NamedIdentity,
    a: &'s MaskedPage<'a>,
    b: &'s MaskedPage<'a>,
    /// Whether the canonical forms differ at all.
    views_differ: bool,
    in_a: Emitted<'a>,
    in_b: Emitted<'a>,
    differences: Vec<Difference>,
}

/// The nodes and attributes that are in a view.
struct Emitted<'a> {
    nodes: BTreeSet<NodeIndex>,
    attributes: BTreeMap<(NodeIndex, &'a str), Token<'a>>,
}

impl<'a> Emitted<'a> {
    fn of(view: View<'a>) -> Self {
        let mut emitted = Self { nodes: BTreeSet::new(), attributes: BTreeMap::new() };
        for (at, token) in view.tokens {
            emitted.nodes.insert(at);
            if let Token::Attribute(name, _) | Token::AnyValue(name) = token {
                emitted.attributes.insert((at, name), token);
            }
        }
        emitted
    }
}

impl<'s, 'a> Finder<'s, 'a> {
    fn new(identity: &'s NamedIdentity, a: &'s MaskedPage<'a>, b: &'s MaskedPage<'a>) -> Self {
        let (view_a, view_b) = (identity.identity.view(a), identity.identity.view(b));
        let tokens = |view: &View<'a>| {
            view.tokens.iter().map(|(_, token)| token.clone()).collect::<Vec<_>>()
        };
        let apart = tokens(&view_a) != tokens(&view_b);
        let (in_a, in_b) = (Emitted::of(view_a), Emitted::of(view_b));
        Self { identity, a, b, views_differ: apart, in_a, in_b, differences: Vec::new() }
    }

    fn add(&mut self, change: Change, place: String, masked: bool, counts: bool) {
        let verdict = match (masked, counts) {
            (true, _) => Significance::Masked,
            (false, true) => Significance::Counts,
            (false, false) => Significance::DoesNotCount,
        };
        self.differences.push(Difference { verdict, change, place });
    }

    fn compare_address_and_title(&mut self) {
        let (a, b) = (self.a.tree.page, self.b.tree.page);
        let counts = self.identity.name == strict::IDENTITY.name;
        if a.url != b.url {
            self.add(Change::Address(a.url.clone(), b.url.clone()), String::new(), false, counts);
        }
        if a.title != b.title {
            self.add(Change::Title(a.title.clone(), b.title.clone()), String::new(), false, counts);
        }
    }

    /// Compares nodes that only one page has or shows.
    fn compare_presence(&mut self, alignment: &Alignment) {
        let emits =
            |emitted: &Emitted<'_>, from, to| emitted.nodes.range(from..to).next().is_some();
        // The view contains only the first of adjacent texts.
        let joins = |page: &MaskedPage<'_>, at: NodeIndex| {
            let node = page.tree.node(at);
            node.is_text() && node.visible && !text::is_blank(&node.text)
        };
        let only_a = alignment.only_a.iter().map(|at| (Change::OnlyInA, self.a, *at));
        let only_b = alignment.only_b.iter().map(|at| (Change::OnlyInB, self.b, *at));
        for (change, page, at) in only_a.chain(only_b).collect::<Vec<_>>() {
            let emitted = if change == Change::OnlyInA { &self.in_a } else { &self.in_b };
            let counts =
                self.views_differ && (emits(emitted, at, page.tree.end(at)) || joins(page, at));
            self.add(change, describe_place(page, at), page.masked.whole(at), counts);
        }
        let mut inside = 0;
        for (x, y) in alignment.pairs.iter().copied() {
            let shown = self.a.tree.node(x).visible;
            if x < inside || shown == self.b.tree.node(y).visible {
                continue;
            }
            inside = self.a.tree.end(x);
            let counts = emits(&self.in_a, x, inside) != emits(&self.in_b, y, self.b.tree.end(y));
            let counts =
                self.views_differ && (counts || self.identity.name == strict::IDENTITY.name);
            let masked = self.a.masked.whole(x) || self.b.masked.whole(y);
            let change = if shown { Change::ShownInA } else { Change::ShownInB };
            self.add(change, describe_place(self.a, x), masked, counts);
        }
    }

    /// Compares texts and attributes of nodes that both pages have.
    fn compare_values(&mut self, alignment: &Alignment) {
        for (x, y) in alignment.pairs.iter().copied() {
            let (one, other) = (self.a.tree.node(x), self.b.tree.node(y));
            for aspect in differing_aspects(one, other) {
                let differ =
                    self.views_differ && self.identity.identity.differ(one, other, &aspect);
                match aspect {
                    MaskedAspect::Text => {
                        let masked = self.a.masked.text(x) || self.b.masked.text(y);
                        let parent = self.a.tree.parent(x);
                        let shown = parent.is_none_or(|parent| self.in_a.nodes.contains(&parent));
                        let counts = differ && shown && (one.visible || other.visible);
                        let change = Change::Text(one.text.clone(), other.text.clone());
                        let place = describe_place(self.a, parent.unwrap_or(x));
                        self.add(change, place, masked, counts);
                    }
                    MaskedAspect::Attribute(name) => {
                        let masked =
                            self.a.masked.attribute(x, &name) || self.b.masked.attribute(y, &name);
                        let tokens = (
                            self.in_a.attributes.get(&(x, name.as_str())),
                            self.in_b.attributes.get(&(y, name.as_str())),
                        );
                        let counts = differ && tokens.0 != tokens.1;
                        let value = |node: &PageNode| node.attribute(&name).map(str::to_owned);
                        let change = Change::Attribute(name.clone(), value(one), value(other));
                        self.add(change, describe_place(self.a, x), masked, counts);
                    }
                    MaskedAspect::Children { .. } => {}
                }
            }
        }
    }

    /// Makes all differences count if the views differ although no single difference counts.
    /// Example: two texts join when the node between them disappears.
    fn count_joint_differences(&mut self) {
        if !self.views_differ
            || self.differences.iter().any(|difference| difference.verdict == Significance::Counts)
        {
            return;
        }
        for difference in &mut self.differences {
            let whole_page = matches!(difference.change, Change::Address(..) | Change::Title(..));
            if difference.verdict == Significance::DoesNotCount && !whole_page {
                difference.verdict = Significance::Counts;
            }
        }
    }

    fn compare_actions(&mut self) {
        let of = |page: &MaskedPage<'a>| self.identity.identity.signatures(page);
        let (a, b) = (of(self.a), of(self.b));
        let known = |list: &[Option<_>]| list.iter().flatten().copied().collect::<BTreeSet<_>>();
        let (known_a, known_b) = (known(&a), known(&b));
        let sides = [(self.a, a, known_b), (self.b, b, known_a)];
        for (side, (page, actions, known)) in sides.into_iter().enumerate() {
            let names = ElementNames::of(page);
            for (offer, signature) in page.tree.page.offers.iter().zip(actions) {
                if signature.is_none_or(|signature| known.contains(&signature)) {
                    continue;
                }
                let words = describe_action(page, &names, offer);
                let change =
                    if side == 0 { Change::ActionInA(words) } else { Change::ActionInB(words) };
                let place = describe_place(page, offer.node as NodeIndex);
                self.add(change, place, false, offer.kind != Kind::Link);
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        let value = |value: &Option<String>| match value {
            Some(value) => Quoted(value).to_string(),
            None => "none".to_owned(),
        };
        match &self.change {
            Change::OnlyInA => write!(f, "only in A: {place}")?,
            Change::OnlyInB => write!(f, "only in B: {place}")?,
            Change::ShownInA => write!(f, "shown only in A: {place}")?,
            Change::ShownInB => write!(f, "shown only in B: {place}")?,
            Change::Text(a, b) => {
                write!(f, "text: {} in A, {} in B, at {place}", Quoted(a), Quoted(b))?;
            }
            Change::Attribute(name, a, b) => {
                let (name, a, b) = (Escaped(name, 40), value(a), value(b));
                write!(f, "{name}: {a} in A, {b} in B, at {place}")?;
            }
            Change::Address(a, b) => write!(f, "address: {} in A, {} in B", Quoted(a), Quoted(b))?,
            Change::Title(a, b) => write!(f, "title: {} in A, {} in B", Quoted(a), Quoted(b))?,
            Change::ActionInA(words) => write!(f, "action only in A: {words}, at {place}")?,
            Change::ActionInB(words) => write!(f, "action only in B: {words}, at {place}")?,
        }
        match self.verdict {
            Significance::Counts => Ok(()),
            Significance::Masked => write!(f, " (masked)"),
            Significance::DoesNotCount => write!(f, " (does not count)"),
        }
    }
}
