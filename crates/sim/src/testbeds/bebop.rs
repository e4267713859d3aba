//! An imitation of a bibliography: filters at the side, lists of publications in sheets, and the
//! details of one publication within its list.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "bebop-like[:large]",
    examples: &["bebop-like", "bebop-like:large"],
    summary: "imitates Bebop: 1,800 states, 145,811 transitions (large: 5,082 and 468,971)",
    help: "Known: the sizes, the reset costs (2, large 3), that it is a bibliography with filters by \
           category and details of each publication, that 26 actions lead to dead ends, and that \
           walks to the next action are long: 4.7 actions on average, in the large version 5.5 and at \
           most 13. Guessed: lists of several sheets, and details that stay within their list. Lists \
           that grow by a button would cost greedy about the same; menu would then need ten times the \
           published cost to find all states. Greedy needs 746,000 actions and 27 resets for a \
           complete crawl (published: 827,830 and 27). In the large version it needs 2,839,000 \
           actions, 6.1 per transition (the published depths give 6.5).",
};

/// The figures of a bibliography.
struct Size {
    publications: u16,
    /// The number of values of each category: authors, years, venues, topics, kinds.
    categories: &'static [u16],
    /// The publications on a sheet of a list.
    per_sheet: u16,
    /// The publications with a full text.
    full_texts: u16,
}

struct Bebop {
    size: Size,
    /// The publications under each filter.
    lists: Vec<Vec<u16>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    Home,
    /// A sheet of the list of publications under a filter.
    List {
        filter: u16,
        sheet: u16,
    },
    /// A publication within a list.
    Details {
        filter: u16,
        place: u16,
    },
    /// A document that fills the window, without controls.
    FullText,
}

impl Bebop {
    /// Gives each publication one value of each category, then adds co-authors until there are
    /// `pages` pages.
    fn new(size: Size, pages: usize) -> Self {
        let mut chance = Chance::new(&[0xBEB0]);
        let filters: u16 = size.categories.iter().sum();
        let mut lists = vec![Vec::new(); filters.into()];
        for publication in 0..size.publications {
            let mut first = 0;
            for &values in size.categories {
                let value = chance.below(values.into()) as u16;
                lists[usize::from(first + value)].push(publication);
                first += values;
            }
        }
        let mut bebop = Self { size, lists };
        while bebop.pages() < pages {
            bebop.add_co_author(&mut chance, pages - bebop.pages());
        }
        bebop
    }

    fn pages(&self) -> usize {
        let lists = self.lists.iter();
        2 + lists
            .map(|list| list.len() + list.len().div_ceil(self.size.per_sheet.into()))
            .sum::<usize>()
    }

    /// Adds a publication to a list. This adds one page, or two if the list needs another sheet.
    fn add_co_author(&mut self, chance: &mut Chance, room: usize) {
        let author = chance.below(self.size.categories[0].into());
        // A publication with a full text keeps one author, so that the links to full texts do not
        // change.
        let others = self.size.publications - self.size.full_texts;
        let publication = self.size.full_texts + chance.below(others.into()) as u16;
        let list = &mut self.lists[author];
        let full = list.len().is_multiple_of(self.size.per_sheet.into());
        if let Err(place) = list.binary_search(&publication)
            && (room > 1 || !full)
        {
            list.insert(place, publication);
        }
    }
}

impl Program for Bebop {
    type Page = Page;

    fn start(&self) -> Page {
        Page::Home
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if page == Page::FullText {
            return;
        }
        for (filter, list) in (0..).zip(&self.lists) {
            if !list.is_empty() {
                offers.nth("filter", filter.into(), Page::List { filter, sheet: 0 });
            }
        }
        offers.one("home", Page::Home);
        match page {
            Page::List { filter, sheet } => {
                let list = &self.lists[usize::from(filter)];
                let first = sheet * self.size.per_sheet;
                let after = (first + self.size.per_sheet).min(list.len() as u16);
                for place in first..after {
                    let publication = list[usize::from(place)];
                    offers.nth("publication", publication.into(), Page::Details { filter, place });
                }
                if usize::from(after) < list.len() {
                    offers.one("next", Page::List { filter, sheet: sheet + 1 });
                }
                if sheet > 0 {
                    offers.one("previous", Page::List { filter, sheet: sheet - 1 });
                }
            }
            Page::Details { filter, place } => {
                let list = &self.lists[usize::from(filter)];
                offers.one("close", Page::List { filter, sheet: 0 });
                offers.one("abstract", page);
                if list[usize::from(place)] < self.size.full_texts {
                    offers.one("full text", Page::FullText);
                }
            }
            Page::Home => offers.one("full text", Page::FullText),
            Page::FullText => {}
        }
    }
}

/// The imitation of Bebop.
pub fn bebop_like() -> Model {
    let wanted =
        Wanted { name: "bebop-like", reset_cost: 2.0, states: 1_800, transitions: 145_811 };
    let size =
        Size { publications: 280, categories: &[31, 21, 12, 8, 5], per_sheet: 4, full_texts: 5 };
    program::explore(&Bebop::new(size, wanted.states), &wanted)
}

/// The imitation of the larger version of Bebop.
pub fn bebop_like_large() -> Model {
    let wanted =
        Wanted { name: "bebop-like:large", reset_cost: 3.0, states: 5_082, transitions: 468_971 };
    let size =
        Size { publications: 875, categories: &[36, 23, 13, 9, 7], per_sheet: 8, full_texts: 5 };
    program::explore(&Bebop::new(size, wanted.states), &wanted)
}
