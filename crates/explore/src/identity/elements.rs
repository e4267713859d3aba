//! What kinds of element there are to an identity: controls, items of lists, groups. A role that an
//! author wrote goes before the tag.

use crate::page::PageNode;

/// What an element is as a surrounding of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One of several alike: known by what it says.
    Item,
    /// Holds things that belong together: known by its heading, and nothing if it has none.
    Group,
    /// The same, and already its tag says something.
    Landmark,
}

fn role(node: &PageNode) -> Option<&str> {
    node.attribute("role").and_then(|role| role.split_whitespace().next())
}

/// Which surrounding an element is, if one.
pub(crate) fn container(node: &PageNode) -> Option<Container> {
    use Container::{Group, Item, Landmark};
    let by_role = match role(node) {
        Some(
            "listitem" | "row" | "option" | "treeitem" | "menuitem" | "menuitemcheckbox"
            | "menuitemradio" | "gridcell" | "article",
        ) => Some(Item),
        Some(
            "group" | "region" | "tabpanel" | "form" | "radiogroup" | "toolbar" | "grid" | "tree",
        ) => Some(Group),
        Some(
            "dialog" | "alertdialog" | "navigation" | "menu" | "listbox" | "search"
            | "complementary" | "banner" | "contentinfo",
        ) => Some(Landmark),
        _ => None,
    };
    by_role.or(match node.tag.as_str() {
        "li" | "tr" | "option" | "article" => Some(Item),
        "fieldset" | "form" | "section" | "details" | "table" => Some(Group),
        "dialog" | "nav" | "aside" | "header" | "footer" => Some(Landmark),
        _ => None,
    })
}

/// Whether its text belongs to itself and not to the element that it is in: what pops up over it, or
/// asks something.
pub(crate) fn has_own_text(node: &PageNode) -> bool {
    matches!(container(node), Some(Container::Item))
        || matches!(node.tag.as_str(), "dialog" | "form" | "fieldset")
        || matches!(
            role(node),
            Some(
                "dialog"
                    | "alertdialog"
                    | "menu"
                    | "listbox"
                    | "tooltip"
                    | "alert"
                    | "status"
                    | "form"
            )
        )
}

/// Whether it leads somewhere or opens something: its text is also what the item around it is about,
/// if nothing else in that item says so.
pub(crate) fn is_title_like(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "a" | "summary") || matches!(role(node), Some("link"))
}

/// Whether it is operated: its text says what it does, not what is around it.
pub(crate) fn is_control(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "button" | "input" | "select" | "textarea" | "option" | "optgroup" | "datalist"
    ) || is_title_like(node)
        || is_label_like_role(node)
        || matches!(
            role(node),
            Some("slider" | "spinbutton" | "combobox" | "textbox" | "searchbox")
        )
}

/// Whether all the text in it is its name.
pub(crate) fn is_named_by_its_text(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "button"
            | "a"
            | "summary"
            | "option"
            | "label"
            | "legend"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
    ) || is_label_like_role(node)
        || is_title_like(node)
}

fn is_label_like_role(node: &PageNode) -> bool {
    matches!(
        role(node),
        Some(
            "button"
                | "tab"
                | "menuitem"
                | "menuitemcheckbox"
                | "menuitemradio"
                | "option"
                | "checkbox"
                | "radio"
                | "switch"
        )
    )
}

/// Whether its text is what a user typed or may choose, and so never its name.
pub(crate) fn is_field(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "input" | "select" | "textarea")
        || node.attribute("contenteditable").is_some_and(|value| value != "false")
        || matches!(
            role(node),
            Some("textbox" | "searchbox" | "combobox" | "spinbutton" | "slider")
        )
}

/// Whether it is the whole page, or the whole of a frame or shadow root.
pub(crate) fn is_whole_page(node: &PageNode) -> bool {
    matches!(node.tag.as_str(), "html" | "body" | "#document" | "#shadow" | "main")
}

/// Whether it is a heading of the group around it.
pub(crate) fn is_heading(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "legend" | "caption" | "summary"
    ) || matches!(role(node), Some("heading"))
}

/// Whether nothing in it is ever shown.
pub(crate) fn is_never_shown(node: &PageNode) -> bool {
    matches!(
        node.tag.as_str(),
        "head" | "script" | "style" | "template" | "noscript" | "meta" | "link" | "base"
    )
}
