//! Labels of actions for people: the kind, the role and the accessible name of the element. They
//! are for display only.

use argiope_explore::accessible::AccessiblePage;
use argiope_explore::page::{Kind, Offer};

use crate::address::without_logins;

/// The longest argument in a label.
const LONGEST: usize = 80;

/// The label of an action, for example `click button "Save"`.
pub fn of(page: &AccessiblePage<'_>, offer: &Offer) -> String {
    let kind = offer.kind.name();
    if offer.kind == Kind::Link {
        return format!("{kind} {}", short(&without_logins(&offer.argument)));
    }
    let described = |node: u32| {
        let node = node as usize;
        if node < page.tree().len() { page.describe(node) } else { String::new() }
    };
    let mut label = format!("{kind} {}", described(offer.node));
    if let Some(onto) = offer.onto {
        label += &format!(" onto {}", described(onto));
    }
    if offer.kind == Kind::Fill {
        let with = if offer.argument.is_empty() { "valid values" } else { &offer.argument };
        label += &format!(" with {:?}", short(with));
    }
    if matches!(offer.kind, Kind::Key | Kind::Input | Kind::Enter | Kind::Choose) {
        label += &format!(" {:?}", short(&offer.argument));
    }
    label
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
