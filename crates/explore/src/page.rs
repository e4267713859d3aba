//! What a page shows and what can be done there, as told by whoever looked at it. Plain data: an
//! identity makes a state key and action signatures of it. Everything in it is hostile.

use serde::{Deserialize, Serialize};

mod check;
pub use check::{MAX_NODES, MAX_OFFERS, MAX_TEXT, PageError};

/// One look at a page: its tree as a user perceives it, and the actions it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The address, fragment included.
    pub url: String,
    /// The title of the document.
    pub title: String,
    /// The tree in document order. The first node is the root element; shadow roots and same-origin
    /// frames stand in it as elements named `#shadow` and `#document`.
    pub nodes: Vec<PageNode>,
    /// What can be done here, in document order.
    pub offers: Vec<Offer>,
}

/// An element or a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNode {
    /// How many ancestors it has; a node's parent is the last node before it that has one less.
    pub depth: u16,
    /// The tag in lower case, or `#text`.
    pub tag: String,
    /// The text of a text node as it stands in the document; empty for an element.
    pub text: String,
    /// In the order of the document. What is not written in the document but counts as content (the
    /// value of a field, whether it is checked, an open popover) has a name that begins with a full
    /// stop: `.value`, `.checked`, `.selected`, `.open`.
    pub attributes: Vec<(String, String)>,
    /// Whether a user can see it (of a text: whether its element can be seen).
    pub visible: bool,
}

/// A thing that can be done on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What is done.
    pub kind: Kind,
    /// To which node, as an index into the page's.
    pub node: u32,
    /// Where a drag ends.
    pub onto: Option<u32>,
    /// The value typed, the option chosen, the key pressed; the address that a plain link leads to.
    pub argument: String,
    /// How the looker finds the node again on a page that is the same to the byte. Opaque here, and no
    /// part of a signature.
    pub place: String,
}

impl PageNode {
    /// The tag of texts.
    pub const TEXT: &str = "#text";

    /// Whether it is a text and not an element.
    pub fn is_text(&self) -> bool {
        self.tag == Self::TEXT
    }

    /// The value of an attribute (or of a live property, with its full stop).
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The kinds of action. A pointer family is one kind: a click is also its mousedown and pointerup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A click; also opens details and popovers.
    Click,
    /// Two clicks in a row.
    DoubleClick,
    /// A press that lasts.
    LongPress,
    /// The other mouse button.
    ContextMenu,
    /// The pointer rests on it.
    Hover,
    /// The focus moves to it.
    Focus,
    /// It is dragged onto another.
    Drag,
    /// A key is pressed while it has the focus.
    Key,
    /// A value is typed.
    Input,
    /// An option is chosen.
    Choose,
    /// A box or a radio button is checked.
    Check,
    /// A form without a button is sent.
    Submit,
    /// It is scrolled to its end.
    Scroll,
    /// A plain link is followed: a URL, taken once in the whole crawl.
    Link,
}

impl Kind {
    /// The name that people read; the same as in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Click => "click",
            Kind::DoubleClick => "double-click",
            Kind::LongPress => "long-press",
            Kind::ContextMenu => "context-menu",
            Kind::Hover => "hover",
            Kind::Focus => "focus",
            Kind::Drag => "drag",
            Kind::Key => "key",
            Kind::Input => "input",
            Kind::Choose => "choose",
            Kind::Check => "check",
            Kind::Submit => "submit",
            Kind::Scroll => "scroll",
            Kind::Link => "link",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn a_kind_has_one_name_everywhere() {
        for kind in [Kind::Click, Kind::DoubleClick, Kind::ContextMenu, Kind::Link] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
