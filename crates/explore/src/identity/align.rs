//! Aligns the nodes of two pages. Children are matched by id, class, role, tag and text, so that an
//! inserted child does not shift all the others.

use std::collections::BTreeMap;

use super::digest::Encoder;
use super::tree::{NodeIndex, PageTree};

/// The maximum number of pairs of children for the best matching. Longer lists are matched in one
/// pass.
const MAX_WEIGHED_PAIRS: usize = 40_000;

/// The alignment of two pages.
#[derive(Default)]
pub(crate) struct Alignment {
    /// The matched nodes, in the order of the first page.
    pub(crate) pairs: Vec<(NodeIndex, NodeIndex)>,
    /// The nodes that only the first page has, without their descendants.
    pub(crate) only_a: Vec<NodeIndex>,
    /// The nodes that only the second page has, without their descendants.
    pub(crate) only_b: Vec<NodeIndex>,
}

impl Alignment {
    /// The partners of the nodes of the second page.
    pub(crate) fn partners_of_b(&self) -> BTreeMap<NodeIndex, NodeIndex> {
        self.pairs.iter().map(|(x, y)| (*y, *x)).collect()
    }

    /// The partner of a node of the first page.
    pub(crate) fn partner_of_a(&self, x: NodeIndex) -> Option<NodeIndex> {
        self.pairs.binary_search_by_key(&x, |(x, _)| *x).ok().map(|index| self.pairs[index].1)
    }
}

struct PagePair<'t, 'a, 'b> {
    a: &'t PageTree<'a>,
    b: &'t PageTree<'b>,
    a_digests: Vec<u128>,
    b_digests: Vec<u128>,
    a_texts: Vec<Option<u128>>,
    b_texts: Vec<Option<u128>>,
}

/// Aligns two pages.
pub(crate) fn align(a: &PageTree<'_>, b: &PageTree<'_>) -> Alignment {
    let pair = PagePair {
        a,
        b,
        a_digests: digests(a),
        b_digests: digests(b),
        a_texts: text_digests(a),
        b_texts: text_digests(b),
    };
    let mut alignment = Alignment::default();
    let mut open = vec![(None, None)];
    while let Some((x, y)) = open.pop() {
        let xs: Vec<NodeIndex> = a.children(x).collect();
        let ys: Vec<NodeIndex> = b.children(y).collect();
        let matched = pair.match_children(&xs, &ys);
        let mut of_b = vec![true; ys.len()];
        let mut next = 0;
        for (i, j) in matched {
            alignment.only_a.extend(&xs[next..i]);
            next = i + 1;
            of_b[j] = false;
            let (x, y) = (xs[i], ys[j]);
            if pair.a_digests[x] == pair.b_digests[y] {
                alignment.pairs.extend((x..a.end(x)).zip(y..b.end(y)));
            } else {
                alignment.pairs.push((x, y));
                open.push((Some(x), Some(y)));
            }
        }
        alignment.only_a.extend(&xs[next..]);
        alignment.only_b.extend(ys.iter().zip(of_b).filter(|(_, only)| *only).map(|(y, _)| *y));
    }
    alignment.pairs.sort_unstable();
    alignment.only_a.sort_unstable();
    alignment.only_b.sort_unstable();
    alignment
}

/// A hash of each node with its descendants.
fn digests(tree: &PageTree<'_>) -> Vec<u128> {
    let mut digests = vec![0; tree.len()];
    for at in (0..tree.len()).rev() {
        let node = tree.node(at);
        let mut encoder = Encoder::tagged("node");
        encoder.text(&node.tag).text(&node.text).mark(u8::from(node.visible));
        for (name, value) in &node.attributes {
            encoder.text(name).text(value);
        }
        encoder.mark(0);
        for child in tree.children(Some(at)) {
            encoder.wide(digests[child]);
        }
        digests[at] = encoder.wide_digest();
    }
    digests
}

/// A hash of the text of each node with its descendants, `None` without text.
fn text_digests(tree: &PageTree<'_>) -> Vec<Option<u128>> {
    let mut digests = vec![None; tree.len()];
    for at in (0..tree.len()).rev() {
        let node = tree.node(at);
        let mut encoder = Encoder::tagged("saying");
        let mut has_text = !node.text.trim().is_empty();
        encoder.text(node.text.trim());
        for digest in tree.children(Some(at)).filter_map(|child| digests[child]) {
            encoder.wide(digest);
            has_text = true;
        }
        digests[at] = has_text.then(|| encoder.wide_digest());
    }
    digests
}

impl PagePair<'_, '_, '_> {
    /// Matches two lists of children. Returns ascending pairs of positions.
    fn match_children(&self, xs: &[NodeIndex], ys: &[NodeIndex]) -> Vec<(usize, usize)> {
        let same = |(x, y): &(&NodeIndex, &NodeIndex)| self.a_digests[**x] == self.b_digests[**y];
        let prefix = xs.iter().zip(ys).take_while(same).count();
        let (rest_x, rest_y) = (&xs[prefix..], &ys[prefix..]);
        let suffix = rest_x.iter().rev().zip(rest_y.iter().rev()).take_while(same).count();
        let middle_x = &rest_x[..rest_x.len() - suffix];
        let middle_y = &rest_y[..rest_y.len() - suffix];
        let middle = if middle_x.len().saturating_mul(middle_y.len()) <= MAX_WEIGHED_PAIRS {
            self.match_by_weight(middle_x, middle_y)
        } else {
            self.match_long_lists(middle_x, middle_y)
        };
        let mut matched: Vec<(usize, usize)> = (0..prefix).map(|at| (at, at)).collect();
        matched.extend(middle.into_iter().map(|(i, j)| (i + prefix, j + prefix)));
        matched.extend((0..suffix).rev().map(|back| (xs.len() - 1 - back, ys.len() - 1 - back)));
        matched
    }

    /// The matching with the greatest sum of similarities.
    fn match_by_weight(&self, xs: &[NodeIndex], ys: &[NodeIndex]) -> Vec<(usize, usize)> {
        let width = ys.len() + 1;
        let mut similarities = vec![0_u32; xs.len() * ys.len()];
        // The best sum for the rest of both lists.
        let mut best = vec![0_u32; (xs.len() + 1) * width];
        for i in (0..xs.len()).rev() {
            for j in (0..ys.len()).rev() {
                let similarity = self.similarity(xs[i], ys[j]);
                similarities[i * ys.len() + j] = similarity;
                let both =
                    if similarity == 0 { 0 } else { similarity + best[(i + 1) * width + j + 1] };
                best[i * width + j] =
                    both.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
            }
        }
        let mut matched = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < xs.len() && j < ys.len() {
            let similarity = similarities[i * ys.len() + j];
            let here = best[i * width + j];
            if similarity > 0 && here == similarity + best[(i + 1) * width + j + 1] {
                matched.push((i, j));
                i += 1;
                j += 1;
            } else if here == best[(i + 1) * width + j] {
                i += 1;
            } else {
                j += 1;
            }
        }
        matched
    }

    /// Matches long lists in one pass: equal nodes first, and the nodes between them in order.
    fn match_long_lists(&self, xs: &[NodeIndex], ys: &[NodeIndex]) -> Vec<(usize, usize)> {
        let mut equal: BTreeMap<u128, Vec<usize>> = BTreeMap::new();
        for (j, y) in ys.iter().enumerate() {
            equal.entry(self.b_digests[*y]).or_default().push(j);
        }
        let mut matched = Vec::new();
        let (mut from_x, mut from_y) = (0, 0);
        for (i, x) in xs.iter().enumerate() {
            let Some(places) = equal.get(&self.a_digests[*x]) else { continue };
            let next = places.partition_point(|j| *j < from_y);
            // A node that moved far would leave all nodes between unmatched.
            let Some(j) = places.get(next).copied().filter(|j| *j <= from_y + (i - from_x) + 64)
            else {
                continue;
            };
            self.match_in_order(xs, ys, (from_x, i), (from_y, j), &mut matched);
            matched.push((i, j));
            (from_x, from_y) = (i + 1, j + 1);
        }
        self.match_in_order(xs, ys, (from_x, xs.len()), (from_y, ys.len()), &mut matched);
        matched
    }

    fn match_in_order(
        &self,
        xs: &[NodeIndex],
        ys: &[NodeIndex],
        (mut i, end_x): (usize, usize),
        (mut j, end_y): (usize, usize),
        matched: &mut Vec<(usize, usize)>,
    ) {
        while i < end_x && j < end_y {
            if self.similarity(xs[i], ys[j]) > 0 {
                matched.push((i, j));
                i += 1;
                j += 1;
            } else if end_x - i >= end_y - j {
                i += 1;
            } else {
                j += 1;
            }
        }
    }

    /// The similarity of two nodes. Zero if they cannot be the same node.
    fn similarity(&self, x: NodeIndex, y: NodeIndex) -> u32 {
        let (one, other) = (self.a.node(x), self.b.node(y));
        if one.tag != other.tag {
            return 0;
        }
        if self.a_digests[x] == self.b_digests[y] {
            return 8;
        }
        if one.is_text() {
            return 2;
        }
        let equal = |name| one.attribute(name) == other.attribute(name);
        // The text is stable where the page generates everything else on each load.
        let same_text = self.a_texts[x].is_some() && self.a_texts[x] == self.b_texts[y];
        let text = if same_text { 3 } else { 0 };
        let attributes = match (self.a.stable_id(x), self.b.stable_id(y)) {
            (Some(id), Some(same)) if id == same => 6,
            (Some(_), _) | (_, Some(_)) => 1,
            (None, None) => {
                1 + u32::from(equal("class"))
                    + u32::from(equal("role") && equal("type") && equal("name"))
                    + u32::from(equal("href"))
            }
        };
        attributes + text
    }
}
