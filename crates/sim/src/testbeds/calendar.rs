//! A calendar: months one after the other, and days that open.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "calendar:N",
    examples: &["calendar:24"],
    summary: "N months with next and previous, whose days open: 24 months have 754 states",
    help: "Generated. The first month is January 2025. The table of a month is a part; its days are \
           actions with the same name in every month. A day opens in a dialog, which has to be closed \
           again. The days of one month say nothing about where those of another one lead. A reset costs \
           3 actions.",
};

/// The largest number of months. Until 2074 every fourth year is a leap year.
pub(super) const MAX_MONTHS: u32 = 600;

const FIRST_YEAR: u32 = 2025;

fn days_in(month: u32) -> u32 {
    let year = FIRST_YEAR + month / 12;
    match month % 12 {
        1 if year.is_multiple_of(4) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

struct Calendar {
    months: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    month: u32,
    /// The day whose dialog is open, from 1.
    day: Option<u32>,
}

const MONTH: u32 = 0;
const DAY: u32 = 1;

impl Program for Calendar {
    type Page = Page;

    fn start(&self) -> Page {
        Page { month: 0, day: None }
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if page.day.is_some() {
            offers.in_part(DAY).one("close", Page { day: None, ..page });
            return;
        }
        offers.in_part(MONTH);
        if page.month > 0 {
            offers.one("previous month", Page { month: page.month - 1, day: None });
        }
        if page.month + 1 < self.months {
            offers.one("next month", Page { month: page.month + 1, day: None });
        }
        for day in 1..=days_in(page.month) {
            offers.nth("day", day as usize, Page { day: Some(day), ..page });
        }
    }

    fn part_names(&self) -> Vec<String> {
        ["month", "day"].map(str::to_owned).to_vec()
    }

    fn parts(&self, page: &Page) -> Vec<(u32, u32)> {
        [(MONTH, page.month)].into_iter().chain(page.day.map(|day| (DAY, day))).collect()
    }
}

/// The calendar of this number of months.
pub(super) fn calendar(months: u32) -> Model {
    let days: u32 = (0..months).map(days_in).sum();
    let wanted = Wanted {
        name: &format!("calendar:{months}"),
        reset_cost: 3.0,
        states: (months + days) as usize,
        transitions: (2 * (months - 1) + 2 * days) as usize,
    };
    program::explore(&Calendar { months }, &wanted)
}
