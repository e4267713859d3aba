//! A form of several pages. The last page is a long walk away from the first one.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "wizard:N",
    examples: &["wizard:6"],
    summary: "a form of N pages, each to be filled in before the next one: 3 N + 1 states",
    help: "Generated. A page of the form is empty, shows an error, or is filled in. \"next\" leads to the \
           next page if this one is filled in, and to the error otherwise. \"back\" leads to the page \
           before, which is still filled in; the pages after it are empty again. The last page leads to a \
           confirmation, from which the form begins again. A reset costs 3 actions.",
};

/// The largest number of pages.
pub(super) const MAX_PAGES: u32 = 10_000;

struct Wizard {
    pages: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    Form(u32, Filling),
    Confirmation,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Filling {
    Empty,
    Error,
    Filled,
}

const PROGRESS: u32 = 0;
const CONFIRMATION: u32 = 1;
const FIRST_FORM: u32 = 2;

impl Program for Wizard {
    type Page = Page;

    fn start(&self) -> Page {
        Page::Form(0, Filling::Empty)
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        let Page::Form(at, filling) = page else {
            offers.in_part(CONFIRMATION).one("begin again", self.start());
            return;
        };
        offers.in_part(FIRST_FORM + at);
        let next = match filling {
            Filling::Filled if at + 1 == self.pages => Page::Confirmation,
            Filling::Filled => Page::Form(at + 1, Filling::Empty),
            Filling::Empty | Filling::Error => Page::Form(at, Filling::Error),
        };
        offers.one("next", next);
        if filling == Filling::Filled {
            offers.one("clear", Page::Form(at, Filling::Empty));
        } else {
            offers.nth("fill in page", at as usize, Page::Form(at, Filling::Filled));
        }
        if at > 0 {
            offers.one("back", Page::Form(at - 1, Filling::Filled));
        }
    }

    fn part_names(&self) -> Vec<String> {
        let forms = (0..self.pages).map(|at| format!("form {at}"));
        ["progress", "confirmation"].map(str::to_owned).into_iter().chain(forms).collect()
    }

    fn parts(&self, &page: &Page) -> Vec<(u32, u32)> {
        match page {
            Page::Form(at, filling) => vec![(PROGRESS, at), (FIRST_FORM + at, filling as u32)],
            Page::Confirmation => vec![(PROGRESS, self.pages), (CONFIRMATION, 0)],
        }
    }
}

/// The form with this number of pages.
pub(super) fn wizard(pages: u32) -> Model {
    let n = pages as usize;
    let wanted = Wanted {
        name: &format!("wizard:{pages}"),
        reset_cost: 3.0,
        states: 3 * n + 1,
        transitions: 3 * (3 * n - 1) + 1,
    };
    program::explore(&Wizard { pages }, &wanted)
}
