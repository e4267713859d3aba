//! The tree of a page: parents, children and ends of subtrees. Accepts any page, also one with gaps
//! between depths, and never recurses, because a page may be very deep.

use std::collections::BTreeMap;

use super::generated::looks_generated;
use crate::page::{Page, PageNode};

/// The index of a node in [`Page::nodes`].
pub type NodeIndex = usize;

/// A page with the relations between its nodes.
pub struct PageTree<'a> {
    /// The page.
    pub page: &'a Page,
    parents: Vec<Option<u32>>,
    ends: Vec<u32>,
    /// The node of each id, `None` if several nodes have it.
    ids: BTreeMap<&'a str, Option<u32>>,
}

impl<'a> PageTree<'a> {
    /// Computes the relations. The parent of a node is the last earlier element that is less deep.
    pub fn of(page: &'a Page) -> Self {
        let nodes = &page.nodes;
        let mut parents = Vec::with_capacity(nodes.len());
        let mut ends = vec![nodes.len() as u32; nodes.len()];
        let mut ids = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            while let Some(last) =
                open.pop_if(|last| nodes[*last].depth >= node.depth || nodes[*last].is_text())
            {
                ends[last] = at as u32;
            }
            parents.push(open.last().map(|parent| *parent as u32));
            open.push(at);
            if let Some(id) = node.attribute("id") {
                ids.entry(id).and_modify(|known| *known = None).or_insert(Some(at as u32));
            }
        }
        Self { page, parents, ends, ids }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.page.nodes.len()
    }

    /// Whether the page has no nodes.
    pub fn is_empty(&self) -> bool {
        self.page.nodes.is_empty()
    }

    /// A node.
    pub fn node(&self, at: NodeIndex) -> &'a PageNode {
        &self.page.nodes[at]
    }

    /// The parent of a node, `None` for a root.
    pub fn parent(&self, at: NodeIndex) -> Option<NodeIndex> {
        self.parents[at].map(|parent| parent as NodeIndex)
    }

    /// The first node after the subtree of a node.
    pub fn end(&self, at: NodeIndex) -> NodeIndex {
        self.ends[at] as NodeIndex
    }

    /// The children of a node, in order. The children of `None` are the roots.
    pub fn children(&self, of: Option<NodeIndex>) -> impl Iterator<Item = NodeIndex> {
        let (mut next, end) = of.map_or((0, self.len()), |at| (at + 1, self.end(at)));
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.end(child);
            Some(child)
        })
    }

    /// The node, its parent, and so on up to the root.
    pub fn ancestors(&self, from: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        std::iter::successors(Some(from), |at| self.parent(*at))
    }

    /// The node with this id, if exactly one has it.
    pub fn by_id(&self, id: &str) -> Option<NodeIndex> {
        self.ids.get(id).copied().flatten().map(|at| at as NodeIndex)
    }

    /// The id of a node, if it is unique and does not look generated.
    pub fn stable_id(&self, at: NodeIndex) -> Option<&'a str> {
        let id = self.node(at).attribute("id")?;
        (self.by_id(id) == Some(at) && !looks_generated(id)).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::PageTree;
    use crate::identity::text_page::page;

    #[test]
    fn relations_follow_the_document() {
        let page = page("html\n  body\n    p 'a'\n    p\n  div id=x\n    b id=y\n    i id=y");
        let tree = PageTree::of(&page);
        let tags = |of| tree.children(of).map(|at| tree.node(at).tag.as_str()).collect::<Vec<_>>();
        assert_eq!(tags(None), ["html"]);
        assert_eq!(tags(Some(0)), ["body", "div"]);
        assert_eq!(tags(Some(1)), ["p", "p"]);
        assert_eq!(tags(Some(2)), ["#text"]);
        assert_eq!(tree.end(1), 5);
        assert_eq!(tree.ancestors(3).collect::<Vec<_>>(), [3, 2, 1, 0]);
        assert_eq!(tree.by_id("x"), Some(5));
        assert_eq!(tree.by_id("y"), None, "two have it");
    }

    #[test]
    fn a_page_with_gaps_between_depths_still_gives_a_tree() {
        let mut page = page("a\n  b\n  c\n  d");
        for (node, depth) in page.nodes.iter_mut().zip([7, 60000, 9, 0]) {
            node.depth = depth;
        }
        let tree = PageTree::of(&page);
        assert_eq!(tree.children(None).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(tree.children(Some(0)).collect::<Vec<_>>(), [1, 2]);
    }
}
