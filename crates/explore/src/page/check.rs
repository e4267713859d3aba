//! Checks a page that came from outside: refuses a page that is too large, and repairs small
//! faults. Identities accept any page; the store and the user interface rely on this check.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Page, PageNode};

/// The maximum number of nodes.
pub const MAX_NODES: usize = 200_000;
/// The maximum number of offers.
pub const MAX_OFFERS: usize = 20_000;
/// The maximum size of all texts, attributes and arguments together, in bytes.
pub const MAX_TEXT: usize = 64 << 20;

/// Why a page is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageError {
    /// The page has no nodes.
    #[error("the page has no nodes")]
    Empty,
    /// The page has too many nodes.
    #[error("the page has {0} nodes; the limit is {MAX_NODES}")]
    Nodes(usize),
    /// The page has too many offers.
    #[error("the page offers {0} actions; the limit is {MAX_OFFERS}")]
    Offers(usize),
    /// The page has too much text.
    #[error("the page has {0} bytes of text; the limit is {MAX_TEXT}")]
    Text(usize),
}

impl Page {
    /// Checks and repairs the page:
    /// - every node but the first gets a parent, by closing gaps between depths;
    /// - tags become lower case;
    /// - offers without a node, and repeated offers, are dropped.
    pub fn checked(mut self) -> Result<Page, PageError> {
        if self.nodes.is_empty() {
            return Err(PageError::Empty);
        }
        if self.nodes.len() > MAX_NODES {
            return Err(PageError::Nodes(self.nodes.len()));
        }
        if self.offers.len() > MAX_OFFERS {
            return Err(PageError::Offers(self.offers.len()));
        }
        let text = self.text_bytes();
        if text > MAX_TEXT {
            return Err(PageError::Text(text));
        }
        // First the tags: they say which nodes are texts, and texts have no children.
        for node in &mut self.nodes {
            if node.tag.bytes().any(|byte| byte.is_ascii_uppercase()) {
                node.tag.make_ascii_lowercase();
            }
        }
        repair_depths(&mut self.nodes);
        let count = self.nodes.len();
        let mut known = BTreeSet::new();
        self.offers.retain(|offer| {
            let points = |node: u32| (node as usize) < count;
            points(offer.node)
                && offer.onto.is_none_or(points)
                && known.insert((offer.kind, offer.node, offer.onto, offer.argument.clone()))
        });
        Ok(self)
    }

    fn text_bytes(&self) -> usize {
        let node = |node: &PageNode| {
            let attributes = node.attributes.iter().map(|(name, value)| name.len() + value.len());
            node.tag.len() + node.text.len() + attributes.sum::<usize>()
        };
        let offers = self.offers.iter().map(|offer| offer.argument.len() + offer.place.len());
        self.url.len()
            + self.title.len()
            + self.nodes.iter().map(node).sum::<usize>()
            + offers.sum::<usize>()
    }
}

/// Closes gaps between depths. Afterwards a node is at most one deeper than its predecessor, texts
/// have no children, and only the first node is a root.
fn repair_depths(nodes: &mut [PageNode]) {
    // The open ancestors of the next node: depth before and after the repair.
    let mut open: Vec<(u16, u16)> = Vec::new();
    for (index, node) in nodes.iter_mut().enumerate() {
        while open.len() > 1 && open.last().is_some_and(|(was, _)| *was >= node.depth) {
            open.pop();
        }
        let was = node.depth;
        node.depth =
            if index == 0 { 0 } else { open.last().map_or(0, |(_, now)| now.saturating_add(1)) };
        // The root stays open, whatever its depth was, and even if it is a text.
        if index == 0 || !node.is_text() {
            open.push((was, node.depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NODES, PageError};
    use crate::page::{Kind, Offer, Page, PageNode};

    fn node(depth: u16, tag: &str) -> PageNode {
        PageNode {
            depth,
            tag: tag.into(),
            text: String::new(),
            attributes: Vec::new(),
            visible: true,
        }
    }

    fn offer(node: u32, onto: Option<u32>) -> Offer {
        Offer { kind: Kind::Click, node, onto, argument: String::new(), place: String::new() }
    }

    fn depths(before: &[u16]) -> Vec<u16> {
        let nodes = before.iter().map(|depth| node(*depth, "div")).collect();
        let page = Page { nodes, ..Page::default() }.checked().unwrap();
        page.nodes.iter().map(|node| node.depth).collect()
    }

    #[test]
    fn gaps_between_depths_are_closed() {
        assert_eq!(depths(&[0, 1, 2, 1]), [0, 1, 2, 1]);
        assert_eq!(depths(&[5, 9, 9, 7, 60000, 0, 3]), [0, 1, 1, 1, 2, 1, 2]);
        assert_eq!(depths(&[0, 0, 0]), [0, 1, 1]);
    }

    #[test]
    fn a_page_of_maximal_depth_is_repaired() {
        let before: Vec<u16> = (0..=u16::MAX).chain([u16::MAX; 3]).collect();
        assert_eq!(depths(&before), before);
    }

    #[test]
    fn a_text_has_no_children() {
        let nodes = vec![node(0, "P"), node(1, PageNode::TEXT), node(2, "b")];
        let page = Page { nodes, ..Page::default() }.checked().unwrap();
        assert_eq!(page.nodes[0].tag, "p");
        assert_eq!(page.nodes[2].depth, 1);
        let nodes = vec![node(0, "P"), node(1, "#TEXT"), node(2, "b")];
        let page = Page { nodes, ..Page::default() }.checked().unwrap();
        assert_eq!(page.nodes[2].depth, 1, "whatever the case of its tag");
    }

    #[test]
    fn offers_without_a_node_and_repeated_offers_are_dropped() {
        let offers = vec![
            offer(0, None),
            offer(9, None),
            offer(0, Some(7)),
            offer(0, None),
            offer(0, Some(0)),
        ];
        let page =
            Page { nodes: vec![node(0, "html")], offers, ..Page::default() }.checked().unwrap();
        assert_eq!(page.offers, [offer(0, None), offer(0, Some(0))]);
    }

    #[test]
    fn an_empty_or_too_large_page_is_refused() {
        assert_eq!(Page::default().checked(), Err(PageError::Empty));
        let nodes = vec![node(0, "br"); MAX_NODES + 1];
        assert_eq!(
            Page { nodes, ..Page::default() }.checked(),
            Err(PageError::Nodes(MAX_NODES + 1))
        );
    }
}
