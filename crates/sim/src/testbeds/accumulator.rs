//! A list that grows: each new item is one more state in which the old items can be tried again.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "accumulator:N",
    examples: &["accumulator:20"],
    summary: "\"new item\" adds one of at most N items: (N + 1)(N + 2) / 2 states",
    help: "Generated. The page begins without items. A form adds one item after the other, and nothing \
           takes one away but a reset. Each item opens a dialog with its details, which has to be closed \
           again. What \"new item\" adds depends on the number of items, although its form looks the \
           same. A reset costs 3 actions.",
};

/// The largest number of items.
pub(super) const MAX_ITEMS: u32 = 500;

struct Accumulator {
    items: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    items: u32,
    /// The item whose dialog is open.
    open: Option<u32>,
}

const FORM: u32 = 0;
const DIALOG: u32 = 1;
const FIRST_ITEM: u32 = 2;

impl Program for Accumulator {
    type Page = Page;

    fn start(&self) -> Page {
        Page { items: 0, open: None }
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if page.open.is_some() {
            offers.in_part(DIALOG).one("close", Page { open: None, ..page });
            return;
        }
        if page.items < self.items {
            offers.in_part(FORM).one("new item", Page { items: page.items + 1, open: None });
        }
        for item in 0..page.items {
            let to = Page { open: Some(item), ..page };
            offers.in_part(FIRST_ITEM + item).nth("open item", item as usize, to);
        }
    }

    fn part_names(&self) -> Vec<String> {
        let items = (0..self.items).map(|item| format!("item {item}"));
        ["form", "dialog"].map(str::to_owned).into_iter().chain(items).collect()
    }

    fn parts(&self, page: &Page) -> Vec<(u32, u32)> {
        let dialog = page.open.map(|item| (DIALOG, item));
        let items = (0..page.items).map(|item| (FIRST_ITEM + item, 0));
        [(FORM, 0)].into_iter().chain(dialog).chain(items).collect()
    }
}

/// The accumulator of at most this number of items.
pub(super) fn accumulator(items: u32) -> Model {
    let n = items as usize;
    let wanted = Wanted {
        name: &format!("accumulator:{items}"),
        reset_cost: 3.0,
        states: (n + 1) * (n + 2) / 2,
        transitions: n + n * (n + 1),
    };
    program::explore(&Accumulator { items }, &wanted)
}
