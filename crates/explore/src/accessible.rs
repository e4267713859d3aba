//! The role and the accessible name of elements, as people and assistive technology know them:
//! `button "Save"`. Follows the usual rules of ARIA for the elements that pages have. For display
//! only: no key depends on it.

use std::collections::BTreeMap;

use crate::identity::{NodeIndex, PageTree};
use crate::page::{Page, PageNode};

/// The maximum number of nodes that are read for one name.
const MAX_NODES_READ: usize = 1000;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 300;

/// A page whose elements have roles and names.
pub struct AccessiblePage<'a> {
    tree: PageTree<'a>,
    /// The labels of fields, by the id of the field.
    labels: BTreeMap<&'a str, NodeIndex>,
    /// Whether hidden content counts everywhere.
    reads_hidden: bool,
}

impl<'a> AccessiblePage<'a> {
    /// Reads a page.
    pub fn of(page: &'a Page) -> Self {
        let mut labels = BTreeMap::new();
        for (at, node) in page.nodes.iter().enumerate().filter(|(_, node)| node.tag == "label") {
            if let Some(id) = node.attribute("for") {
                labels.entry(id).or_insert(at);
            }
        }
        Self { tree: PageTree::of(page), labels, reads_hidden: false }
    }

    /// Reads hidden content as well, to name what is hidden itself.
    #[must_use]
    pub fn with_hidden(self) -> Self {
        Self { reads_hidden: true, ..self }
    }

    /// The tree of the page.
    pub fn tree(&self) -> &PageTree<'a> {
        &self.tree
    }

    /// The element that people operate when they operate this one: a picture inside a button is the
    /// button. It is the element itself if nothing around it has a role.
    pub fn operated(&self, at: NodeIndex) -> NodeIndex {
        if role(self.tree.node(at)).is_some() {
            return at;
        }
        let is_operated = |at: &NodeIndex| is_operated(self.tree.node(*at));
        self.tree.ancestors(at).find(is_operated).unwrap_or(at)
    }

    /// Describes an element, as in `button "Save"`. Without a role and a name it says where the
    /// element is.
    pub fn describe(&self, at: NodeIndex) -> String {
        let at = self.operated(at);
        let node = self.tree.node(at);
        let name = self.name(at);
        match (role(node), name.as_str()) {
            (Some(role), "") => match written(node) {
                "" => role.to_owned(),
                written => format!("{role} {}", quoted(written)),
            },
            (Some(role), name) => format!("{role} {}", quoted(name)),
            (None, "") => match (written(node), self.around(at)) {
                (_, Some(around)) => format!("element in {around}"),
                ("", None) => "element".to_owned(),
                (written, None) => format!("element {}", quoted(written)),
            },
            (None, name) => quoted(name),
        }
    }

    /// The nearest element around this one that has a role and a name.
    fn around(&self, at: NodeIndex) -> Option<String> {
        self.tree.ancestors(at).skip(1).find_map(|at| {
            let role = role(self.tree.node(at))?;
            let name = self.name(at);
            (!name.is_empty()).then(|| format!("{role} {}", quoted(&name)))
        })
    }

    /// The accessible name: what the author wrote for it, its label, or its text.
    pub fn name(&self, at: NodeIndex) -> String {
        let node = self.tree.node(at);
        let attribute = |name: &str| squeezed(node.attribute(name).unwrap_or_default());
        let labelled = node.attribute("aria-labelledby").map(|ids| {
            let found = ids.split_whitespace().take(8).filter_map(|id| self.tree.by_id(id));
            found.map(|at| self.text(at, true)).collect::<Vec<_>>().join(" ")
        });
        let ways: [&dyn Fn() -> String; 7] = [
            &|| squeezed(labelled.as_deref().unwrap_or_default()),
            &|| attribute("aria-label"),
            &|| self.label(at, node),
            &|| attribute("alt"),
            &|| if is_button_input(node) { attribute(".value") } else { String::new() },
            &|| if is_named_by_text(node) { self.text(at, false) } else { String::new() },
            &|| attribute("title"),
        ];
        let found = ways.iter().map(|way| way()).find(|name| !name.is_empty());
        found.unwrap_or_else(|| attribute("placeholder"))
    }

    fn label(&self, at: NodeIndex, node: &PageNode) -> String {
        if !is_field(node) {
            return String::new();
        }
        let named = node.attribute("id").and_then(|id| self.labels.get(id).copied());
        let around =
            || self.tree.ancestors(at).skip(1).find(|at| self.tree.node(*at).tag == "label");
        named.or_else(around).map_or_else(String::new, |at| self.text(at, false))
    }

    /// What a region says: its name and the beginning of its text.
    pub fn spoken(&self, at: NodeIndex) -> String {
        format!("{} {}", self.name(at), self.text(at, false))
    }

    /// Whether something inside an element is operated by itself.
    pub fn has_operated_inside(&self, at: NodeIndex) -> bool {
        let inside = (at + 1..self.tree.end(at)).take(MAX_NODES_READ);
        inside.map(|at| self.tree.node(at)).any(is_operated)
    }

    /// The text inside, with the names of pictures. Content that is hidden counts only where the
    /// author refers to it.
    fn text(&self, at: NodeIndex, hidden: bool) -> String {
        let hidden = hidden || self.reads_hidden;
        let mut out = String::new();
        let (mut next, end) = (at + 1, self.tree.end(at));
        for _ in 0..MAX_NODES_READ {
            if next >= end || out.len() > MAX_NAME {
                break;
            }
            let (here, node) = (next, self.tree.node(next));
            next += 1;
            let parent = self.tree.parent(here).map(|at| self.tree.node(at));
            let is_read = |node: &PageNode| node.visible || node.attribute(".parked").is_some();
            if node.is_text() {
                if hidden || is_read(node) || parent.is_some_and(is_read) {
                    out.push_str(&node.text);
                }
                continue;
            }
            out.push(' ');
            let named = || node.attribute("aria-label").or_else(|| node.attribute("alt"));
            if node.attribute("aria-hidden") == Some("true") || is_field(node) {
                next = self.tree.end(here);
            } else if let Some(said) = named().filter(|_| hidden || is_read(node)) {
                out.push_str(said);
                next = self.tree.end(here);
            }
        }
        squeezed(&out)
    }
}

/// Roles that people operate.
const OPERATED: &[&str] = &[
    "button",
    "link",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "checkbox",
    "radio",
    "switch",
    "treeitem",
    "textbox",
    "searchbox",
    "combobox",
    "slider",
    "spinbutton",
    "disclosure",
];

/// The role of an element: the one written, or that of its tag. `None` for an element that means
/// nothing by itself.
pub fn role(node: &PageNode) -> Option<&str> {
    let written = node.attribute("role").unwrap_or_default().split_whitespace().next();
    if let Some(role) = written.filter(|role| !matches!(*role, "presentation" | "none" | "generic"))
    {
        return Some(role);
    }
    let typed = node.attribute("type").unwrap_or("text");
    Some(match node.tag.as_str() {
        "button" => "button",
        "a" | "area" if node.attribute("href").is_some() => "link",
        "summary" => "disclosure",
        "select" => "combobox",
        "textarea" => "textbox",
        "option" => "option",
        "input" => match typed {
            "button" | "submit" | "reset" | "image" => "button",
            "checkbox" => "checkbox",
            "radio" => "radio",
            "range" => "slider",
            "number" => "spinbutton",
            "search" => "searchbox",
            _ => "textbox",
        },
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "heading",
        "img" => "image",
        "li" => "listitem",
        "tr" => "row",
        "td" => "cell",
        "th" => "columnheader",
        "ul" | "ol" => "list",
        "table" => "table",
        "form" => "form",
        "dialog" => "dialog",
        "nav" => "navigation",
        "article" => "article",
        "fieldset" => "group",
        "html" | "body" => "page",
        "iframe" | "frame" => "frame",
        _ if node.attribute("contenteditable").is_some_and(|value| value != "false") => "textbox",
        _ => return None,
    })
}

/// Whether people operate an element.
pub fn is_operated(node: &PageNode) -> bool {
    role(node).is_some_and(|role| OPERATED.contains(&role))
}

fn is_field(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "input" | "select" | "textarea") && !is_button_input(node)
}

fn is_button_input(node: &PageNode) -> bool {
    let buttons = ["button", "submit", "reset", "image"];
    node.tag == "input" && node.attribute("type").is_some_and(|of| buttons.contains(&of))
}

/// Whether the text inside is the name. A region, a list or a page has too much of it.
fn is_named_by_text(node: &PageNode) -> bool {
    const REGIONS: &[&str] = &[
        "page",
        "list",
        "table",
        "form",
        "dialog",
        "navigation",
        "group",
        "frame",
        "textbox",
        "searchbox",
        "combobox",
        "slider",
        "spinbutton",
        "listbox",
        "menu",
        "tablist",
        "tabpanel",
        "tree",
        "grid",
        "region",
        "main",
        "banner",
        "toolbar",
        "alertdialog",
        "radiogroup",
    ];
    !is_field(node) && !role(node).is_some_and(|role| REGIONS.contains(&role))
}

/// What the author calls an element that has no name.
fn written(node: &PageNode) -> &str {
    let names = ["name", "data-testid", "data-test", "id"];
    let found = names.iter().find_map(|name| node.attribute(name));
    found.filter(|name| !crate::identity::looks_generated(name)).unwrap_or_default()
}

/// A text with single spaces, cut.
fn squeezed(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.len() + word.len() > MAX_NAME && !out.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::AccessiblePage;
    use crate::identity::text_page::page;

    /// Checks the description of the first element with an offer.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let page = page(text);
        let names = AccessiblePage::of(&page);
        assert_eq!(names.describe(page.offers[0].node as usize), expected, "{text}");
    }

    #[test]
    fn an_element_inside_a_button_is_the_button() {
        check("button 'Save'\n  span @click", "button \"Save\"");
        check("button\n  span @click 'Save'", "button \"Save\"");
        check("a href=/x\n  div\n    b @click 'Home'", "link \"Home\"");
        check("div role=tab aria-label=Mail\n  svg @click", "tab \"Mail\"");
    }

    #[test]
    fn names_come_from_labels_before_texts() {
        check("button @click aria-label=Close 'x'", "button \"Close\"");
        check("p id=t ! 'Old mail'\nbutton @click aria-labelledby=t 'x'", "button \"Old mail\"");
        check("label for=f 'Your name'\ninput id=f @input", "textbox \"Your name\"");
        check("label 'Agree'\n  input type=checkbox @check", "checkbox \"Agree\"");
        check("button @click\n  img alt=Print", "button \"Print\"");
        check("input type=submit .value=Send @click", "button \"Send\"");
        check("input @input placeholder=Search", "textbox \"Search\"");
        check("button @click title=Undo", "button \"Undo\"");
        check("button @click\n  span ! .parked= 'Close'", "button \"Close\"");
        check("button @click 'Save'\n  span ! 'hidden'", "button \"Save\"");
    }

    #[test]
    fn what_is_hidden_has_a_name_for_those_who_ask() {
        let page = page("button ! @click 'Secret'");
        assert_eq!(AccessiblePage::of(&page).describe(0), "button");
        assert_eq!(AccessiblePage::of(&page).with_hidden().describe(0), "button \"Secret\"");
    }

    #[test]
    fn an_element_without_a_role_is_its_text_or_its_surroundings() {
        check("div @click 'More'", "\"More\"");
        check("li 'Milk'\n  i @click", "element in listitem \"Milk\"");
        check("div id=cart @click", "element \"cart\"");
        check("div @click", "element");
    }

    #[test]
    fn a_page_of_any_shape_has_names() {
        let deep: String = (0..300).map(|depth| " ".repeat(depth) + "div\n").collect();
        check(&format!("{deep}{}b @click 'x'", " ".repeat(300)), "\"x\"");
        check(&format!("button @click '{}'", "é ".repeat(500)), &{
            let name: String = "é ".repeat(40).chars().take(80).collect();
            format!("button \"{name}…\"")
        });
    }
}
