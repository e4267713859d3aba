//! Finds the offers of a page that are left alone. An offer is judged by every name of its element,
//! by the address that it leads to, by the form that it sends, and by the question it confirms.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::words;
use super::{Brakes, Danger};
use crate::accessible::{AccessiblePage, is_operated, role};
use crate::identity::NodeIndex;
use crate::page::{Kind, Offer, PageNode};

/// Attributes that hold a name which people see as a hint.
const HINTS: [&str; 7] = [
    "title",
    "aria-label",
    "alt",
    "data-tooltip",
    "data-title",
    "data-original-title",
    "data-bs-original-title",
];
/// How far up an action is looked for that contains another.
const MOST_ANCESTORS: usize = 24;
/// How many nodes of an element are read for the names of its icons.
const MOST_ICONS: usize = 8;

/// Which offers of a page are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrakedOffers {
    /// For each offer, why it is left alone.
    pub dangers: Vec<Option<Danger>>,
    /// For each offer, whether it would be left alone had the crawl not been told to perform it.
    pub allowed: Vec<bool>,
    /// Elements around one that is left alone: a pointer in their middle may hit it.
    pub around: BTreeSet<u32>,
}

impl Brakes {
    /// Judges the offers of a page. `selected` are nodes that a selector of the crawl names.
    pub fn judge(
        &self,
        page: &AccessiblePage<'_>,
        offers: &[Offer],
        selected: &BTreeSet<u32>,
    ) -> BrakedOffers {
        let judge = PageJudge { brakes: self, page };
        let mut by_node: BTreeMap<(u32, bool), Option<Danger>> = BTreeMap::new();
        let mut dangers: Vec<Option<Danger>> = Vec::with_capacity(offers.len());
        for offer in offers {
            if offer.node as usize >= page.tree().len() {
                dangers.push(None);
            } else if selected.contains(&offer.node) {
                dangers.push(Some(Danger::Asked));
            } else if offer.kind == Kind::Choose {
                dangers.push(judge.chosen(offer));
            } else {
                let sends = sends_form(offer);
                let danger = *by_node
                    .entry((offer.node, sends))
                    .or_insert_with(|| judge.element(offer.node as usize, sends));
                dangers.push(danger.filter(|danger| applies(offer.kind, *danger)));
            }
        }
        // Not what only sends a form: the field itself is harmless.
        let own = by_node.iter().filter(|((_, sends), _)| !sends);
        let mut braked: BTreeMap<u32, Danger> =
            own.filter_map(|((node, _), danger)| Some((*node, (*danger)?))).collect();
        let told = selected.iter().filter(|node| (**node as usize) < page.tree().len());
        braked.extend(told.map(|node| (*node, Danger::Asked)));
        judge.spread(offers, &braked, &mut dangers);
        let around = judge.around(&braked);
        let allowed = if self.allow.is_empty() {
            vec![false; offers.len()]
        } else {
            let bare = Self { allow: Vec::new(), ..self.clone() }.judge(page, offers, selected);
            let both = bare.dangers.iter().zip(&dangers);
            both.map(|(bare, now)| bare.is_some() && now.is_none()).collect()
        };
        BrakedOffers { dangers, allowed, around }
    }
}

/// Whether an action of this kind on a dangerous element does what is dangerous. Pointing at it and
/// typing into it do not; what a crawl was told to leave alone is left alone altogether.
fn applies(kind: Kind, danger: Danger) -> bool {
    match kind {
        Kind::Hover | Kind::Focus | Kind::Input | Kind::Enter | Kind::Check | Kind::Scroll => {
            danger == Danger::Asked
        }
        Kind::Click
        | Kind::DoubleClick
        | Kind::LongPress
        | Kind::ContextMenu
        | Kind::Drag
        | Kind::Key
        | Kind::Choose
        | Kind::Submit
        | Kind::Fill
        | Kind::Link => true,
    }
}

/// Whether an action sends the form around its element.
fn sends_form(offer: &Offer) -> bool {
    match offer.kind {
        Kind::Submit | Kind::Fill => true,
        Kind::Key => offer.argument == "Enter",
        _ => false,
    }
}

struct PageJudge<'a, 'p> {
    brakes: &'a Brakes,
    page: &'a AccessiblePage<'p>,
}

impl<'p> PageJudge<'_, 'p> {
    fn node(&self, at: NodeIndex) -> &'p PageNode {
        self.page.tree().node(at)
    }

    /// Why an action on an element is left alone.
    fn element(&self, at: NodeIndex, sends: bool) -> Option<Danger> {
        let operated = self.page.operated(at);
        let own = self
            .by_names_and_addresses(operated)
            .or_else(|| (operated != at).then(|| self.by_names_and_addresses(at)).flatten());
        own.or_else(|| self.by_question(operated)).or_else(|| {
            let form = sends.then(|| self.form_of(at)).flatten()?;
            self.by_form(form)
        })
    }

    fn by_names_and_addresses(&self, at: NodeIndex) -> Option<Danger> {
        let node = self.node(at);
        let mut names = self.names(at);
        let mut links = Vec::new();
        if matches!(node.tag.as_str(), "a" | "area")
            && let Some(address) = node.attribute("href")
        {
            links.push(address);
        }
        let form = if is_submitting(node) { self.form_of(at) } else { None };
        let sent_to = node.attribute("formaction").or_else(|| {
            let form = form.map(|form| self.node(form));
            form.or_else(|| (node.tag == "form").then_some(node))?.attribute("action")
        });
        names.retain(|name| !name.is_empty());
        self.brakes.danger(names.iter().map(String::as_str), links, sent_to)
    }

    /// Everything that people may read as the name of an element.
    fn names(&self, at: NodeIndex) -> Vec<String> {
        let node = self.node(at);
        let hint = |name: &&str| node.attribute(name).map(str::to_owned);
        let mut names: Vec<String> = HINTS.iter().filter_map(hint).collect();
        // The text of a container is that of the buttons in it.
        if !is_operated(node) && self.page.has_operated_inside(at) {
            return names;
        }
        names.push(self.page.name(at));
        if names.iter().all(String::is_empty) {
            // An icon without any name: what the author calls it.
            let end = self.page.tree().end(at).min(at + MOST_ICONS);
            for icon in (at..end).map(|at| self.node(at)).filter(|node| !node.is_text()) {
                let written = ["id", "name", "data-testid", "href", "xlink:href", "title"];
                names.extend(
                    written.iter().filter_map(|name| icon.attribute(name)).map(str::to_owned),
                );
                let classes = icon.attribute("class").unwrap_or_default();
                names.extend(classes.split_whitespace().take(MOST_ICONS).map(icon_name));
            }
        }
        names
    }

    /// The form that an element belongs to.
    fn form_of(&self, at: NodeIndex) -> Option<NodeIndex> {
        let named = self.node(at).attribute("form").and_then(|id| self.page.tree().by_id(id));
        named.or_else(|| {
            let mut around = self.page.tree().ancestors(at);
            around.find(|at| self.node(*at).tag == "form")
        })
    }

    /// Why a form is not sent: its address, or the button that sends it.
    fn by_form(&self, form: NodeIndex) -> Option<Danger> {
        let inside = form + 1..self.page.tree().end(form);
        let button = inside.clone().find(|&at| is_submitting(self.node(at)));
        match button {
            Some(button) => self.by_names_and_addresses(button),
            None => self.by_names_and_addresses(form),
        }
    }

    /// Why an option is not chosen: its text.
    fn chosen(&self, offer: &Offer) -> Option<Danger> {
        let select = offer.node as usize;
        let wanted: usize = offer.argument.parse().ok()?;
        let inside = select + 1..self.page.tree().end(select);
        let mut options = inside.filter(|&at| self.node(at).tag == "option");
        let option = options.nth(wanted)?;
        self.brakes.danger([self.page.name(option).as_str()], [], [])
    }

    /// Why the answer to a question is not given: the question asks for something dangerous.
    fn by_question(&self, at: NodeIndex) -> Option<Danger> {
        if !self.brakes.tables.confirms(&words(&self.page.name(at))) {
            return None;
        }
        let is_dialog = |at: &NodeIndex| {
            let node = self.node(*at);
            node.tag == "dialog" || matches!(role(node), Some("dialog" | "alertdialog"))
        };
        let dialog = self.page.tree().ancestors(at).find(is_dialog)?;
        self.brakes.danger_of_question(&self.page.spoken(dialog))
    }

    /// What lies inside an element that is left alone is left alone: its click is that element's.
    fn spread(
        &self,
        offers: &[Offer],
        braked: &BTreeMap<u32, Danger>,
        dangers: &mut [Option<Danger>],
    ) {
        if braked.is_empty() {
            return;
        }
        for (offer, danger) in offers.iter().zip(dangers) {
            if danger.is_some() || offer.node as usize >= self.page.tree().len() {
                continue;
            }
            let around = self.page.tree().ancestors(offer.node as usize).take(MOST_ANCESTORS);
            let inherited = around.filter_map(|at| braked.get(&(at as u32))).next().copied();
            *danger = inherited.filter(|danger| applies(offer.kind, *danger));
        }
    }

    fn around(&self, braked: &BTreeMap<u32, Danger>) -> BTreeSet<u32> {
        let tree = self.page.tree();
        let above = |&node: &u32| tree.ancestors(node as usize).skip(1).take(MOST_ANCESTORS);
        braked.keys().flat_map(above).map(|at| at as u32).collect()
    }
}

/// Whether a click on an element sends its form.
fn is_submitting(node: &PageNode) -> bool {
    match node.tag.as_str() {
        "button" => !matches!(node.attribute("type"), Some("button" | "reset" | "menu")),
        "input" => matches!(node.attribute("type"), Some("submit" | "image")),
        _ => false,
    }
}

/// The words in the class of an icon, without the prefix of its family.
fn icon_name(class: &str) -> String {
    const FAMILIES: [&str; 7] = ["fa-", "bi-", "icon-", "glyphicon-", "mdi-", "ti-", "ri-"];
    let name = FAMILIES.iter().find_map(|family| class.strip_prefix(family)).unwrap_or(class);
    const STYLES: [&str; 4] = ["-alt", "-solid", "-outline", "-fill"];
    STYLES.iter().find_map(|style| name.strip_suffix(style)).unwrap_or(name).to_owned()
}
