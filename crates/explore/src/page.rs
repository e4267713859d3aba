//! A page as a crawler captured it: its tree and the actions it offers. Plain data, from which an
//! identity computes a state key and action signatures. All of it is untrusted.

use serde::{Deserialize, Serialize};

mod check;
pub use check::{MAX_NODES, MAX_OFFERS, MAX_TEXT, PageError};

/// One capture of a page: its tree as a user perceives it, and the actions it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The address, with its fragment.
    pub url: String,
    /// The title of the document.
    pub title: String,
    /// The tree in document order. The first node is the root element. Shadow roots and same-origin
    /// frames are elements named `#shadow` and `#document`.
    pub nodes: Vec<PageNode>,
    /// The offered actions, in document order.
    pub offers: Vec<Offer>,
}

/// An element or a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNode {
    /// The number of ancestors. The parent is the last node before it that has one less.
    pub depth: u16,
    /// The tag in lower case, or `#text`.
    pub tag: String,
    /// The text of a text node, unchanged. Empty for an element.
    pub text: String,
    /// The attributes in document order, and live properties that count as content. The name of a
    /// live property begins with a full stop: `.value`, `.checked`, `.selected`, `.open`.
    pub attributes: Vec<(String, String)>,
    /// Whether a user can see it. A text is visible if its element is.
    pub visible: bool,
}

/// An action that a page offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The kind of action.
    pub kind: Kind,
    /// The node, as an index into the page's nodes.
    pub node: u32,
    /// The node on which a drag ends.
    pub onto: Option<u32>,
    /// The typed value, the chosen option, the pressed key, the address of a plain link, or the
    /// given value of a form.
    pub argument: String,
    /// How the page agent finds the node again on an identical page. Opaque here, and not included
    /// in a signature.
    pub place: String,
}

impl PageNode {
    /// The tag of text nodes.
    pub const TEXT: &str = "#text";

    /// Whether the node is a text, not an element.
    pub fn is_text(&self) -> bool {
        self.tag == Self::TEXT
    }

    /// The value of an attribute, or of a live property by its name with the full stop.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An action that a page has and does not offer. No key depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// The kind of action.
    pub kind: Kind,
    /// The node, as an index into the page's nodes.
    pub node: u32,
    /// See [`Offer::argument`].
    pub argument: String,
    /// Why it is withheld.
    pub reason: Hindrance,
}

/// Why a page does not let an action be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hindrance {
    /// No user sees it.
    Invisible,
    /// Something else lies over it.
    Covered,
    /// The page has disabled it.
    Disabled,
    /// It leads out of the scope of the crawl.
    OutOfScope,
}

/// The kinds of action. A click includes its mousedown and pointerup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Click. Also opens details and popovers.
    Click,
    /// Click twice.
    DoubleClick,
    /// Press and hold.
    LongPress,
    /// Click the secondary mouse button.
    ContextMenu,
    /// Move the pointer onto the node.
    Hover,
    /// Move the focus to the node.
    Focus,
    /// Drag the node onto another one.
    Drag,
    /// Press a key while the node has the focus.
    Key,
    /// Type a value.
    Input,
    /// Choose an option.
    Choose,
    /// Check a box or a radio button.
    Check,
    /// Submit a form without a button.
    Submit,
    /// Scroll to the end.
    Scroll,
    /// Follow a plain link. Each URL is followed once in the whole crawl.
    Link,
    /// Type a value that was given for the field.
    Enter,
    /// Fill in a form, with valid values or with one that was given, and send it.
    Fill,
}

impl Kind {
    /// The name, in output and in files.
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
            Kind::Enter => "enter",
            Kind::Fill => "fill",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn a_kind_has_the_same_name_in_output_and_files() {
        for kind in [Kind::Click, Kind::DoubleClick, Kind::ContextMenu, Kind::Link, Kind::Fill] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
