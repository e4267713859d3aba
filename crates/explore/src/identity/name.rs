//! Names of elements and of their containers: accessible names, texts of items, headings of groups.
//! Reads only content that is visible or for screen readers, and not masked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::digest::Encoder;
use super::duration::without_durations;
use super::elements::{self, Container};
use super::generated::looks_generated;
use super::text;
use super::tree::NodeIndex;
use super::view::MaskedPage;
use crate::page::{Kind, PageNode};

/// The maximum number of nodes that are read for one name. Nested buttons would otherwise cost the
/// square of the page size.
const MAX_NODES_READ: usize = 4096;

/// The placeholder for a masked text.
const MASKED: char = '\u{fffc}';

/// Attributes by which authors identify elements for tests.
pub(crate) const STABLE: &[&str] =
    &["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];

/// The text inside an element that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextScope {
    /// All text.
    All,
    /// The text outside controls and outside elements with their own text.
    Own,
    /// Like `Own`, with links and summaries.
    OwnAndTitles,
    /// Like `Own`, without text inside elements that offer an action.
    Idle,
}

/// The names and containers of the elements of one page.
pub(crate) struct ElementNames<'s, 'a> {
    page: &'s MaskedPage<'a>,
    has_offer: Vec<bool>,
    /// The nearest container of each node, possibly the node itself.
    containers: Vec<Option<u32>>,
    /// The nearest label around each node.
    labels: Vec<Option<u32>>,
    /// The labels of fields, by the id of the field.
    fields: BTreeMap<&'a str, NodeIndex>,
    contexts: BTreeMap<NodeIndex, u64>,
}

impl<'s, 'a> ElementNames<'s, 'a> {
    pub(crate) fn of(page: &'s MaskedPage<'a>) -> Self {
        let tree = &page.tree;
        let mut operated = vec![false; tree.len()];
        for offer in tree.page.offers.iter().filter(|offer| offer.kind != Kind::Link) {
            if let Some(operated) = operated.get_mut(offer.node as usize) {
                *operated = true;
            }
        }
        let mut names = Self {
            page,
            has_offer: operated,
            containers: Vec::with_capacity(tree.len()),
            labels: Vec::with_capacity(tree.len()),
            fields: BTreeMap::new(),
            contexts: BTreeMap::new(),
        };
        for at in 0..tree.len() {
            let node = tree.node(at);
            let parent = tree.parent(at);
            let inherited = |list: &[Option<u32>]| parent.and_then(|parent| list[parent]);
            let own = elements::container(node).map(|_| at as u32);
            names.containers.push(own.or_else(|| inherited(&names.containers)));
            let own = (node.tag == "label").then_some(at as u32);
            names.labels.push(own.or_else(|| inherited(&names.labels)));
            if let Some(id) = node.attribute("for").filter(|_| node.tag == "label") {
                names.fields.entry(id).or_insert(at);
            }
        }
        names
    }

    pub(crate) fn node(&self, at: NodeIndex) -> &'a PageNode {
        self.page.tree.node(at)
    }

    /// The value of an attribute that is not masked.
    pub(crate) fn attribute(&self, at: NodeIndex, name: &str) -> Option<&'a str> {
        let value = self.page.tree.node(at).attribute(name)?;
        (!self.page.masked.attribute(at, name)).then_some(value)
    }

    fn attribute_text(&self, at: NodeIndex, name: &str) -> Option<String> {
        let value = without_durations(text::normalise(self.attribute(at, name)?));
        (!value.is_empty()).then(|| value.into_owned())
    }

    /// The name of an element, as the target of an action of this kind.
    pub(crate) fn name(&self, at: NodeIndex, kind: Kind) -> String {
        let node = self.page.tree.node(at);
        self.aria_name(at)
            .or_else(|| self.label_text(at))
            .or_else(|| self.attribute_text(at, "alt"))
            .or_else(|| {
                let button =
                    matches!(node.attribute("type"), Some("button" | "submit" | "reset" | "image"));
                let value = || {
                    self.attribute_text(at, ".value").or_else(|| self.attribute_text(at, "value"))
                };
                (node.tag == "input" && button).then(value).flatten()
            })
            .or_else(|| self.text(at, node, kind))
            .or_else(|| self.attribute_text(at, "title"))
            .or_else(|| self.attribute_text(at, "placeholder"))
            .unwrap_or_default()
    }

    /// The name that the author wrote for assistive technology.
    fn aria_name(&self, at: NodeIndex) -> Option<String> {
        let labelled_by = |ids: &str| {
            let texts: Vec<String> = ids
                .split_whitespace()
                .take(8)
                .filter_map(|id| self.page.tree.by_id(id))
                .map(|at| self.read(at, TextScope::All))
                .filter(|text| !text.is_empty())
                .collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        };
        self.attribute(at, "aria-labelledby")
            .and_then(labelled_by)
            .or_else(|| self.attribute_text(at, "aria-label"))
    }

    /// The text of its label, if it is a field.
    fn label_text(&self, at: NodeIndex) -> Option<String> {
        let node = self.page.tree.node(at);
        if !elements::is_field(node) {
            return None;
        }
        let named = node.attribute("id").and_then(|id| self.fields.get(id).copied());
        let around = || self.labels[at].map(|label| label as NodeIndex);
        let text = self.read(named.or_else(around)?, TextScope::Own);
        (!text.is_empty()).then_some(text)
    }

    /// The text inside, if it can be a name: neither a typed value nor the content of a container.
    fn text(&self, at: NodeIndex, node: &PageNode, kind: Kind) -> Option<String> {
        let holds =
            matches!(kind, Kind::Scroll | Kind::Submit | Kind::Input | Kind::Enter | Kind::Choose);
        if holds || elements::is_field(node) || elements::is_whole_page(node) {
            return None;
        }
        let text = if elements::is_named_by_its_text(node) {
            self.read(at, TextScope::All)
        } else if kind == Kind::Key || self.has_own_name(at) {
            return None;
        } else {
            self.read(at, TextScope::Idle)
        };
        (!text.is_empty()).then_some(text)
    }

    fn has_own_name(&self, at: NodeIndex) -> bool {
        self.id(at).is_some() || STABLE.iter().any(|name| self.attribute(at, name).is_some())
    }

    /// The id, if it does not look generated. It need not be unique, because another element with
    /// the same id may come and go.
    pub(crate) fn id(&self, at: NodeIndex) -> Option<&'a str> {
        self.attribute(at, "id").filter(|id| !looks_generated(id))
    }

    fn read(&self, at: NodeIndex, scope: TextScope) -> String {
        let tree = &self.page.tree;
        let mut out = String::new();
        let (mut next, end) = (at + 1, tree.end(at));
        for _ in 0..MAX_NODES_READ {
            if next >= end {
                break;
            }
            let (here, node) = (next, tree.node(next));
            next += 1;
            if node.is_text() {
                let is_readable = node.visible || self.is_parked(tree.parent(here));
                if is_readable && self.page.masked.text(here) {
                    out.push(MASKED);
                } else if is_readable {
                    text::push_normalised(&mut out, &node.text);
                }
                continue;
            }
            // Elements separate words, as the cells of a row do.
            text::push_normalised(&mut out, " ");
            if self.is_skipped(here, node, scope) {
                next = tree.end(here);
            } else if (node.visible || elements::is_parked(node))
                && let Some(said) = self
                    .attribute_text(here, "aria-label")
                    .or_else(|| self.attribute_text(here, "alt"))
            {
                text::push_normalised(&mut out, &said);
                next = tree.end(here);
            }
        }
        out.truncate(out.trim_end().len());
        without_durations(Cow::Owned(out)).into_owned()
    }

    fn is_parked(&self, at: Option<NodeIndex>) -> bool {
        at.is_some_and(|at| elements::is_parked(self.page.tree.node(at)))
    }

    fn is_skipped(&self, at: NodeIndex, node: &PageNode, scope: TextScope) -> bool {
        if self.page.masked.whole(at) || elements::is_never_shown(node) {
            return true;
        }
        let control = elements::is_control(node) || elements::is_field(node);
        match scope {
            TextScope::All => false,
            TextScope::Own => elements::has_own_text(node) || control,
            TextScope::OwnAndTitles => {
                elements::has_own_text(node) || (control && !elements::is_title_like(node))
            }
            TextScope::Idle => elements::has_own_text(node) || control || self.has_offer[at],
        }
    }

    /// A hash of the containers of a node, from the outermost to the nearest, each by its label.
    /// The rest of the page does not count.
    pub(crate) fn context(&mut self, at: NodeIndex) -> u64 {
        let mut unknown = Vec::new();
        let mut nearest = self.containers[at].map(|at| at as NodeIndex);
        let mut digest = 0;
        while let Some(at) = nearest {
            if let Some(known) = self.contexts.get(&at) {
                digest = *known;
                break;
            }
            unknown.push(at);
            let above = self.page.tree.parent(at);
            nearest = above.and_then(|above| self.containers[above]).map(|at| at as NodeIndex);
        }
        for at in unknown.into_iter().rev() {
            if let Some(label) = self.container_label(at) {
                let mut encoder = Encoder::tagged("context");
                encoder.number(digest).text(&self.page.tree.node(at).tag).text(&label);
                digest = encoder.digest();
            }
            self.contexts.insert(at, digest);
        }
        digest
    }

    /// The label of a container.
    pub(crate) fn container_label(&self, at: NodeIndex) -> Option<String> {
        let node = self.page.tree.node(at);
        let kind = elements::container(node)?;
        let text = match kind {
            Container::Item => self.aria_name(at).or_else(|| {
                [TextScope::Own, TextScope::OwnAndTitles]
                    .into_iter()
                    .map(|scope| self.read(at, scope))
                    .find(|text| !text.is_empty())
            }),
            Container::Group | Container::Landmark => {
                self.aria_name(at).or_else(|| self.heading(at))
            }
        };
        let written =
            || STABLE.iter().chain(&["name"]).find_map(|name| self.attribute_text(at, name));
        let bare = || (kind == Container::Landmark).then(String::new);
        text.or_else(|| self.id(at).map(str::to_owned)).or_else(written).or_else(bare)
    }

    /// The first heading that belongs to a group itself.
    fn heading(&self, group: NodeIndex) -> Option<String> {
        let tree = &self.page.tree;
        let (mut next, end) = (group + 1, tree.end(group));
        for _ in 0..MAX_NODES_READ {
            if next >= end {
                return None;
            }
            let (here, node) = (next, tree.node(next));
            next += 1;
            if self.page.masked.whole(here) || elements::container(node).is_some() {
                next = tree.end(here);
            } else if (node.visible || elements::is_parked(node)) && elements::is_heading(node) {
                let text = self.read(here, TextScope::All);
                return (!text.is_empty()).then_some(text);
            }
        }
        None
    }
}
