//! An imitation of a demonstration bank: leaflets behind a menu on every page, and an account area
//! behind a form. Every link of the menu leaves the account area.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "bank-like",
    examples: &["bank-like"],
    summary: "imitates Altoro Mutual: 45 states, 1,210 transitions",
    help: "Known: the size, the reset cost (2), that it is a demonstration bank, and that about 33 \
           actions lead to dead ends. Guessed: a menu of leaflets on every page, an account area \
           behind a form, which the menu leaves, and a link to another site. Greedy needs 2,950 \
           actions and 33 resets for a complete crawl (published: 2,521 and 34).",
};

const LEAFLETS: u8 = 21;
const ACCOUNTS: u8 = 4;
const NEWS: u8 = 3;

struct Bank;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    Home,
    /// Deposits, loans, cards, jobs, press and the like.
    Leaflet(u8),
    SignIn,
    Refused,
    /// The first page of the account area.
    Overview,
    Account(u8),
    Movements(u8),
    Transfer(Transfer),
    Card(Card),
    News(u8),
    Settings,
    Saved,
    /// Another site. It is out of scope, so it is blank.
    Outside,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Transfer {
    Form,
    Check,
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Card {
    Offer,
    Form,
    Done,
}

impl Program for Bank {
    type Page = Page;

    fn start(&self) -> Page {
        Page::Home
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if page == Page::Outside {
            return;
        }
        offers.one("home", Page::Home);
        for leaflet in 0..LEAFLETS {
            offers.nth("leaflet", leaflet.into(), Page::Leaflet(leaflet));
        }
        offers.one("sign in", Page::SignIn);
        offers.one("print", page);
        match page {
            Page::Home | Page::Leaflet(_) => {
                offers.one("search", page);
                offers.one("disclaimer", Page::Outside);
            }
            Page::SignIn | Page::Refused => {
                offers.one("submit with the demo account", Page::Overview);
                offers.one("submit empty", Page::Refused);
                offers.one("disclaimer", Page::Outside);
            }
            _ => account_area(page, offers),
        }
    }
}

/// Offers the controls of the account area beside the menu.
fn account_area(page: Page, offers: &mut Offers<Page>) {
    offers.one("overview", Page::Overview);
    offers.one("transfer", Page::Transfer(Transfer::Form));
    match page {
        Page::Overview => {
            for account in 0..ACCOUNTS {
                offers.nth("account", account.into(), Page::Account(account));
            }
            offers.one("apply for a card", Page::Card(Card::Offer));
            offers.one("settings", Page::Settings);
            for news in 0..NEWS {
                offers.nth("news", news.into(), Page::News(news));
            }
        }
        Page::Account(account) => {
            offers.one("movements", Page::Movements(account));
            offers.one("disclaimer", Page::Outside);
        }
        Page::Movements(account) => {
            offers.one("back to the account", Page::Account(account));
            offers.one("disclaimer", Page::Outside);
        }
        Page::Transfer(Transfer::Form) => offers.one("continue", Page::Transfer(Transfer::Check)),
        Page::Transfer(Transfer::Check) => {
            offers.one("continue", Page::Transfer(Transfer::Done));
            offers.one("change", Page::Transfer(Transfer::Form));
        }
        Page::Card(Card::Offer) => offers.one("continue", Page::Card(Card::Form)),
        Page::Card(Card::Form) => offers.one("continue", Page::Card(Card::Done)),
        Page::Settings => offers.one("save", Page::Saved),
        _ => {}
    }
}

/// The imitation of Altoro Mutual.
pub fn bank_like() -> Model {
    let wanted = Wanted { name: "bank-like", reset_cost: 2.0, states: 45, transitions: 1_210 };
    program::explore(&Bank, &wanted)
}
