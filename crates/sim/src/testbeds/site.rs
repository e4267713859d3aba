//! An imitation of a company's site: a menu on every page, which leads to tours, articles and a
//! form of several pages.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "site-like",
    examples: &["site-like"],
    summary: "imitates TestRIA: 39 states, 305 transitions",
    help: "Known: the size, the reset cost (2), that it looks like a company's site, and that it has \
           no dead ends. Guessed: a menu on every page, which leads to tours, articles and a form of \
           several pages. Greedy needs 950 actions for a complete crawl (published: 1,006), and no \
           reset after the first load.",
};

struct Site;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    Home,
    Products,
    /// A page of the tour through a product family; page 0 is its first.
    Family(u8, u8),
    Services,
    /// A step of "how we work".
    Step(u8),
    /// A news article, the latest being 0.
    News(u8),
    Contact,
    Directions,
    /// A page of the contact form.
    Form(u8),
    About,
    Team,
    /// A chapter of the company's history.
    History(u8),
}

const FAMILIES: u8 = 3;
const LAST_OF_FAMILY: u8 = 3;
const LAST_STEP: u8 = 3;
const LAST_NEWS: u8 = 8;
const LAST_OF_FORM: u8 = 3;
const LAST_OF_HISTORY: u8 = 2;

impl Page {
    /// The targets of "previous" and "next" on a page of a sequence.
    fn beside(self) -> [Option<Self>; 2] {
        match self {
            Self::Family(family, at) => {
                in_sequence(at, LAST_OF_FAMILY, |at| Self::Family(family, at))
            }
            Self::Step(at) => in_sequence(at, LAST_STEP, Self::Step),
            Self::News(at) => in_sequence(at, LAST_NEWS, Self::News),
            Self::Form(at) => in_sequence(at, LAST_OF_FORM, Self::Form),
            Self::History(at) => in_sequence(at, LAST_OF_HISTORY, Self::History),
            _ => [None, None],
        }
    }
}

/// The pages before and after a position in a sequence, if there are any.
fn in_sequence(at: u8, last: u8, page: impl Fn(u8) -> Page) -> [Option<Page>; 2] {
    [(at > 0).then(|| page(at - 1)), (at < last).then(|| page(at + 1))]
}

impl Program for Site {
    type Page = Page;

    fn start(&self) -> Page {
        Page::Home
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        offers.one("home", Page::Home);
        offers.one("products", Page::Products);
        offers.one("services", Page::Services);
        offers.one("news", Page::News(0));
        offers.one("contact", Page::Contact);
        offers.one("about", Page::About);
        let [previous, next] = page.beside();
        if let Some(previous) = previous {
            offers.one("previous", previous);
        }
        if let Some(next) = next {
            offers.one("next", next);
        }
        match page {
            Page::Products => {
                for family in 0..FAMILIES {
                    offers.nth("family", family.into(), Page::Family(family, 0));
                }
            }
            Page::Services => offers.one("how we work", Page::Step(0)),
            Page::Contact => {
                offers.one("directions", Page::Directions);
                offers.one("write to us", Page::Form(0));
            }
            Page::About => {
                offers.one("team", Page::Team);
                offers.one("history", Page::History(0));
            }
            _ => {}
        }
    }
}

/// The imitation of TestRIA.
pub fn site_like() -> Model {
    let wanted = Wanted { name: "site-like", reset_cost: 2.0, states: 39, transitions: 305 };
    program::explore(&Site, &wanted)
}
