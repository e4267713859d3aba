//! The canonical form of a page: a list of tokens, each with the node that it comes from. Two pages
//! are the same to an identity if their tokens are equal and they offer the same actions.

use std::borrow::Cow;

use super::digest::Encoder;
use super::mask::{Masked, Masks};
use super::text;
use super::tree::{NodeIndex, PageTree};
use crate::page::Page;

/// A page as it is looked at through masks.
pub struct MaskedPage<'a> {
    /// The page.
    pub tree: PageTree<'a>,
    pub(crate) masked: Masked<'a>,
}

impl<'a> MaskedPage<'a> {
    /// Looks at a page through masks.
    pub fn new(masks: &'a Masks, page: &'a Page) -> Self {
        let tree = PageTree::of(page);
        let masked = Masked::of(&tree, masks);
        Self { tree, masked }
    }
}

/// A piece of the canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token<'a> {
    /// An element begins.
    Open(&'a str),
    /// The element ends.
    Close,
    /// An attribute of the element that has just begun.
    Attribute(&'a str, Cow<'a, str>),
    /// The same, and whatever its value is does not count.
    AnyValue(&'a str),
    /// A text.
    Text(Cow<'a, str>),
    /// Some text; what it says does not count.
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

/// Puts a view together. Texts that nothing stands between become one, and blank ones are dropped.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    view: View<'a>,
    /// Where each open element ends.
    open: Vec<(NodeIndex, NodeIndex)>,
    pending: Option<(NodeIndex, Cow<'a, str>)>,
}

impl<'a> Builder<'a> {
    /// Closes the elements that end before this node. Called for each node in turn.
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

    /// A token that stands by itself.
    pub(crate) fn push(&mut self, at: NodeIndex, token: Token<'a>) {
        self.flush();
        self.view.tokens.push((at, token));
    }

    /// A text, to be joined with those beside it.
    pub(crate) fn text(&mut self, at: NodeIndex, more: &'a str) {
        match &mut self.pending {
            Some((_, text)) => text.to_mut().push_str(more),
            none => *none = Some((at, Cow::Borrowed(more))),
        }
    }

    fn flush(&mut self) {
        let Some((at, pending)) = self.pending.take() else { return };
        let normal = match pending {
            Cow::Borrowed(raw) => text::normalise(raw),
            Cow::Owned(raw) => Cow::Owned(text::normalise(&raw).into_owned()),
        };
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
