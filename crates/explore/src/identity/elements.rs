//! Classifies elements for the identities: controls, list items, groups. An explicit role takes
//! precedence over the tag.

use crate::page::PageNode;

/// The kinds of element that contain others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One of several similar elements, identified by its text.
    Item,
    /// A group, identified by its heading. It has no label without one.
    Group,
    /// A group whose tag alone identifies it.
    Landmark,
}

/// The first role of an element, empty without one.
fn role(node: &PageNode) -> &str {
    let roles = node.attribute("role").unwrap_or_default();
    roles.split_whitespace().next().unwrap_or_default()
}

/// The kind of container that an element is, if any.
pub(crate) fn container(node: &PageNode) -> Option<Container> {
    use Container::{Group, Item, Landmark};
    let by_role = match role(node) {
        "listitem" | "row" | "option" | "treeitem" | "menuitem" | "menuitemcheckbox"
        | "menuitemradio" | "gridcell" | "article" => Some(Item),
        "group" | "region" | "tabpanel" | "form" | "radiogroup" | "toolbar" | "grid" | "tree" => {
            Some(Group)
        }
        "dialog" | "alertdialog" | "navigation" | "menu" | "listbox" | "search"
        | "complementary" | "banner" | "contentinfo" => Some(Landmark),
        _ => None,
    };
    by_role.or(match node.tag.as_str() {
        "li" | "tr" | "option" | "article" => Some(Item),
        "fieldset" | "form" | "section" | "details" | "table" => Some(Group),
        "dialog" | "nav" | "aside" | "header" | "footer" => Some(Landmark),
        _ => None,
    })
}

/// Whether its text does not belong to the element around it, as in a popup or a form.
pub(crate) fn has_own_text(node: &PageNode) -> bool {
    matches!(container(node), Some(Container::Item))
        || matches!(node.tag.as_str(), "dialog" | "form" | "fieldset")
        || matches!(
            role(node),
            "dialog" | "alertdialog" | "menu" | "listbox" | "tooltip" | "alert" | "status" | "form"
        )
}

/// Whether it leads somewhere or opens something. Its text also labels the item around it, if
/// nothing else in that item does.
pub(crate) fn is_title_like(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "a" | "summary") || role(node) == "link"
}

/// Whether it is a control. Its text says what it does, and does not describe its container.
pub(crate) fn is_control(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "button" | "input" | "select" | "textarea" | "option" | "optgroup" | "datalist"
    ) || is_title_like(node)
        || is_label_like_role(node)
        || is_field_role(node)
}

/// Whether all its text is its name.
pub(crate) fn is_named_by_its_text(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "button" | "option" | "label" | "legend" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
    ) || is_label_like_role(node)
        || is_title_like(node)
}

fn is_label_like_role(node: &PageNode) -> bool {
    matches!(role(node), "button" | "tab" | "option" | "checkbox" | "radio" | "switch")
        || matches!(role(node), "menuitem" | "menuitemcheckbox" | "menuitemradio")
}

fn is_field_role(node: &PageNode) -> bool {
    matches!(role(node), "textbox" | "searchbox" | "combobox" | "spinbutton" | "slider")
}

/// Whether its text is a typed or chosen value, and therefore never its name.
pub(crate) fn is_field(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "input" | "select" | "textarea")
        || node.attribute("contenteditable").is_some_and(|value| value != "false")
        || is_field_role(node)
}

/// Whether it is a whole page, frame or shadow root.
pub(crate) fn is_whole_page(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "html" | "body" | "#document" | "#shadow" | "main")
}

/// Whether it is the heading of the group around it.
pub(crate) fn is_heading(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "legend" | "caption" | "summary"
    ) || role(node) == "heading"
}

/// Whether a page has put it out of sight, where only screen readers find it.
pub(crate) fn is_parked(node: &PageNode) -> bool {
    !node.visible && node.attribute(".parked").is_some()
}

/// Whether a browser never shows its content.
pub(crate) fn is_never_shown(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "head" | "script" | "style" | "template" | "noscript" | "meta" | "link" | "base"
    )
}
