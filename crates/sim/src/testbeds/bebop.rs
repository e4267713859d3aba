//! A bibliography: filters at the side, a list that shows a few publications on a sheet, and the
//! details of one publication within the list it was found in.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// How people choose it.
pub(super) const DESCRIBED: TestbedFamily = TestbedFamily {
    name: "bebop-like[:large]",
    examples: &["bebop-like", "bebop-like:large"],
    summary: "imitates Bebop: 1,800 states, 145,811 transitions (large: 5,082 and 468,971)",
    help: "Known: the sizes, the reset costs (2, large 3), that it is a bibliography with filters by \
           category and details of each publication, that 26 actions lead to dead ends, and that \
           transfers are long: 4.7 actions on average, in the large version 5.5 and at most 13. \
           Guessed: lists of several sheets, and details that stay within their list. (Lists that grow \
           by a button would cost greedy about the same, but menu would then take ten times what was \
           published to find all states.) Greedy needs 746,000 actions and 27 resets for a complete \
           crawl (published: 827,830 and 27), and 2,839,000 for the large version, 6.1 per transition \
           (6.5 follow from the published depths).",
};

/// What a bibliography is made from.
struct Size {
    publications: u16,
    /// How many values each category has: authors, years, venues, topics, kinds.
    categories: &'static [u16],
    /// How many publications a sheet of a list shows.
    per_sheet: u16,
    /// Publications whose full text is at hand.
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
    /// A document in the window: no controls.
    FullText,
}

impl Bebop {
    /// Gives each publication one value of each category, and then co-authors until there are as many
    /// pages as wanted.
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

    /// A publication more in a list is a page more, and another one where the list needs a sheet more.
    fn add_co_author(&mut self, chance: &mut Chance, room: usize) {
        let author = chance.below(self.size.categories[0].into());
        // Those with a full text keep one author, so that the number of links to full texts is known.
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
