//! An imitation of a periodic table with two display modes. A click on an element shows its
//! details.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "periodic-table-like",
    examples: &["periodic-table-like"],
    summary: "imitates Periodic Table: 240 states, 29,034 transitions",
    help: "Known: the size, the reset cost (8), what the application shows, and that a complete crawl \
           needs 236 resets. Guessed: two display modes of a table of 118 elements, a page for each \
           element, and a link from it to an article, a page without actions (one for each mode). \
           Greedy needs 29,900 actions and 237 resets for a complete crawl (published: 29,923 and \
           236). It finds the last state after about 1,500 actions (published: 29,574): the published \
           crawls seem to execute the actions of a page in a fixed order, argiope shuffles them.",
};

const ELEMENTS: u8 = 118;

struct PeriodicTable;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    by_block: bool,
    shown: Shown,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Table,
    Element(u8),
    /// The article on an element. The published copy lacks articles, so the page is empty.
    Article,
}

impl Program for PeriodicTable {
    type Page = Page;

    fn start(&self) -> Page {
        Page { by_block: false, shown: Shown::Table }
    }

    fn offer(&self, page: &Page, offers: &mut Offers<Page>) {
        let show = |shown| Page { shown, ..page.clone() };
        if page.shown == Shown::Article {
            return;
        }
        for element in 1..=ELEMENTS {
            offers.nth("element", element.into(), show(Shown::Element(element)));
        }
        let by_block = !page.by_block;
        offers.one("colour by block", Page { by_block, ..page.clone() });
        offers.one("clear", show(Shown::Table));
        offers.one("legend", page.clone());
        if page.shown != Shown::Table {
            offers.one("article", show(Shown::Article));
        }
    }
}

/// The imitation of Periodic Table.
pub fn periodic_table_like() -> Model {
    let wanted =
        Wanted { name: "periodic-table-like", reset_cost: 8.0, states: 240, transitions: 29_034 };
    program::explore(&PeriodicTable, &wanted)
}
