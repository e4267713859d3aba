//! The canonical form of a page: a list of tokens, each with its node. Two pages are the same state
//! if their tokens and their actions, without plain links, are equal.

use std::borrow::Cow;

use super::digest::Encoder;
use super::duration::without_durations;
use super::mask::{Masked, Masks};
use super::text;
use super::tree::{NodeIndex, PageTree};
use crate::page::{Page, PageNode};

/// A page together with its masked nodes.
pub struct MaskedPage<'a> {
    /// The tree of the page.
    pub tree: PageTree<'a>,
    pub(crate) masked: Masked<'a>,
}

impl<'a> MaskedPage<'a> {
    /// Finds the masked nodes of a page.
    pub fn new(masks: &'a Masks, page: &'a Page) -> Self {
        let tree = PageTree::of(page);
        let masked = Masked::of(&tree, masks);
        Self { tree, masked }
    }

    /// The nodes in document order. Skips the subtrees of masked nodes and of those `left_out`.
    pub(crate) fn nodes(
        &self,
        left_out: impl Fn(&PageNode) -> bool,
    ) -> impl Iterator<Item = (NodeIndex, &'a PageNode)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            while next < self.tree.len() {
                let (at, node) = (next, self.tree.node(next));
                if !self.masked.whole(at) && !left_out(node) {
                    next = at + 1;
                    return Some((at, node));
                }
                next = self.tree.end(at);
            }
            None
        })
    }
}

/// A token of the canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token<'a> {
    /// An element begins.
    Open(&'a str),
    /// The element ends.
    Close,
    /// An attribute of the element that has just begun.
    Attribute(&'a str, Cow<'a, str>),
    /// An attribute whose value does not count.
    AnyValue(&'a str),
    /// A text.
    Text(Cow<'a, str>),
    /// A text whose content does not count.
    AnyText,
}

/// The canonical form of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View<'a> {
    /// The tokens in order, each with its node.
    pub tokens: Vec<(NodeIndex, Token<'a>)>,
}

impl View<'_> {
    pub(crate) fn encode(&self, encoder: &mut Encoder) {
        encoder.number(self.tokens.len() as u64);
        for (_, token) in &self.tokens {
            match token {
                Token::Open(tag) => encoder.mark(1).text(tag),
                Token::Close => encoder.mark(2),
                Token::Attribute(name, value) => encoder.mark(3).text(name).text(value),
                Token::AnyValue(name) => encoder.mark(4).text(name),
                Token::Text(text) => encoder.mark(5).text(text),
                Token::AnyText => encoder.mark(6),
            };
        }
    }
}

/// Builds a view. Joins adjacent texts and drops blank ones and measured durations.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    view: View<'a>,
    /// The open elements, with the end of each.
    open: Vec<(NodeIndex, NodeIndex)>,
    pending: Option<(NodeIndex, Cow<'a, str>)>,
}

impl<'a> Builder<'a> {
    /// Closes the elements that end before this node. Call it for each node in turn.
    pub(crate) fn close_before(&mut self, at: NodeIndex) {
        while let Some((element, _)) = self.open.pop_if(|(_, end)| *end <= at) {
            self.flush();
            self.view.tokens.push((element, Token::Close));
        }
    }

    pub(crate) fn open(&mut self, at: NodeIndex, end: NodeIndex, tag: &'a str) {
        self.flush();
        self.view.tokens.push((at, Token::Open(tag)));
        self.open.push((at, end));
    }

    /// Adds a token.
    pub(crate) fn push(&mut self, at: NodeIndex, token: Token<'a>) {
        self.flush();
        self.view.tokens.push((at, token));
    }

    /// Adds a text, which is joined with adjacent texts.
    pub(crate) fn text(&mut self, at: NodeIndex, more: &'a str) {
        match &mut self.pending {
            Some((_, text)) => text.to_mut().push_str(more),
            none => *none = Some((at, Cow::Borrowed(more))),
        }
    }

    fn flush(&mut self) {
        let Some((at, pending)) = self.pending.take() else { return };
        let normal = without_durations(match pending {
            Cow::Borrowed(raw) => text::normalise(raw),
            Cow::Owned(raw) => Cow::Owned(text::normalise(&raw).into_owned()),
        });
        if !normal.is_empty() {
            self.view.tokens.push((at, Token::Text(normal)));
        }
    }

    pub(crate) fn finish(mut self) -> View<'a> {
        self.close_before(NodeIndex::MAX);
        self.flush();
        self.view
    }
}
