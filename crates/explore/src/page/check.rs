//! A page as it came from outside, made fit to be read: too much of anything is refused, small faults
//! are mended. The identities stand any page; this is for whoever stores and shows them.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Page, PageNode};

/// How many nodes a page may have.
pub const MAX_NODES: usize = 200_000;
/// How many actions a page may offer.
pub const MAX_OFFERS: usize = 20_000;
/// How many bytes all its texts, attributes and arguments may have together.
pub const MAX_TEXT: usize = 64 << 20;

/// Why a page is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageError {
    /// There is nothing in it.
    #[error("the page has no nodes")]
    Empty,
    /// There are more nodes than are read.
    #[error("the page has {0} nodes, more than the {MAX_NODES} that are read")]
    Nodes(usize),
    /// There are more actions than are read.
    #[error("the page offers {0} actions, more than the {MAX_OFFERS} that are read")]
    Offers(usize),
    /// There is more text than is read.
    #[error("the page holds {0} bytes of text, more than the {MAX_TEXT} that are read")]
    Text(usize),
}

impl Page {
    /// The page, mended: depths that jump are closed up, so that every node but the first has a parent;
    /// tags are in lower case; offers that point nowhere or repeat an earlier one are gone.
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
        repair_depths(&mut self.nodes);
        for node in &mut self.nodes {
            if node.tag.bytes().any(|byte| byte.is_ascii_uppercase()) {
                node.tag.make_ascii_lowercase();
            }
        }
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

/// A node is at most one deeper than the one before it, nothing is below a text, and only the first is
/// a root.
fn repair_depths(nodes: &mut [PageNode]) {
    // The depths of those that the next node can be below, as they were and as they are now.
    let mut open: Vec<(u16, u16)> = Vec::new();
    for (index, node) in nodes.iter_mut().enumerate() {
        while open.len() > 1 && open.last().is_some_and(|(was, _)| *was >= node.depth) {
            open.pop();
        }
        let was = node.depth;
        node.depth =
            if index == 0 { 0 } else { open.last().map_or(0, |(_, now)| now.saturating_add(1)) };
        // The root stays open whatever its depth was, and a root that claims to be a text as well.
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
    fn depths_that_jump_are_closed_up() {
        assert_eq!(depths(&[0, 1, 2, 1]), [0, 1, 2, 1]);
        assert_eq!(depths(&[5, 9, 9, 7, 60000, 0, 3]), [0, 1, 1, 1, 2, 1, 2]);
        assert_eq!(depths(&[0, 0, 0]), [0, 1, 1]);
    }

    #[test]
    fn the_deepest_page_there_can_be_is_mended() {
        let before: Vec<u16> = (0..=u16::MAX).chain([u16::MAX; 3]).collect();
        assert_eq!(depths(&before), before);
    }

    #[test]
    fn nothing_hangs_below_a_text() {
        let nodes = vec![node(0, "P"), node(1, PageNode::TEXT), node(2, "b")];
        let page = Page { nodes, ..Page::default() }.checked().unwrap();
        assert_eq!(page.nodes[0].tag, "p");
        assert_eq!(page.nodes[2].depth, 1);
    }

    #[test]
    fn offers_that_point_nowhere_or_repeat_are_dropped() {
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
    fn too_much_is_refused() {
        assert_eq!(Page::default().checked(), Err(PageError::Empty));
        let nodes = vec![node(0, "br"); MAX_NODES + 1];
        assert_eq!(
            Page { nodes, ..Page::default() }.checked(),
            Err(PageError::Nodes(MAX_NODES + 1))
        );
    }
}
