//! The large version of the imitation of Clipmarks: ten divisions of several sheets, clips that
//! open within their sheet, and a dialog that asks visitors to sign in.

use argiope_explore::model::Model;

use super::clipmarks::sign_up;
use super::program::{self, Offers, Program, Wanted};

const DIVISIONS: u16 = 10;
const SHEETS: u16 = 7;
const CLIPS_PER_SHEET: u16 = 18;
/// The last sheet of the last division is not full.
const CLIPS_ON_LAST_SHEET: u16 = 15;
/// Neighbouring sheets overlap: a popular clip is also recent.
const NEW_CLIPS_PER_SHEET: u16 = 12;
const TAGS: u16 = 6;
const LEAFLETS: u8 = 4;

struct Clipmarks;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    /// A sheet of a division. An open clip is given by its position on the sheet.
    Sheet { division: u16, sheet: u16, open: Option<u16>, asking_to_sign_in: bool },
    /// About, help, terms and the like.
    Leaflet(u8),
    /// A page of the form for new members.
    SignUp(u8),
    /// The site that a clip comes from. It is out of scope, so it is blank.
    Source,
}

fn sheet(division: u16, sheet: u16) -> Page {
    Page::Sheet { division, sheet, open: None, asking_to_sign_in: false }
}

fn clips_on(division: u16, sheet: u16) -> u16 {
    let last = (division, sheet) == (DIVISIONS - 1, SHEETS - 1);
    if last { CLIPS_ON_LAST_SHEET } else { CLIPS_PER_SHEET }
}

impl Program for Clipmarks {
    type Page = Page;

    fn start(&self) -> Page {
        sheet(0, 0)
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if page == Page::Source {
            return;
        }
        for division in 0..DIVISIONS {
            offers.nth("division", division.into(), sheet(division, 0));
        }
        match page {
            Page::Sheet { division, sheet, open, asking_to_sign_in } => {
                clips(division, sheet, open, asking_to_sign_in, offers);
            }
            Page::Leaflet(_) => {
                for leaflet in 0..LEAFLETS {
                    offers.nth("leaflet", leaflet.into(), Page::Leaflet(leaflet));
                }
            }
            Page::SignUp(step) => sign_up(step, Page::SignUp, offers),
            Page::Source => {}
        }
    }
}

fn clips(
    division: u16,
    at: u16,
    open: Option<u16>,
    asking_to_sign_in: bool,
    offers: &mut Offers<Page>,
) {
    let show =
        |open, asking_to_sign_in| Page::Sheet { division, sheet: at, open, asking_to_sign_in };
    let same = show(open, asking_to_sign_in);
    for other in 0..SHEETS {
        offers.nth("sheet", other.into(), sheet(division, other));
    }
    for tag in 0..TAGS {
        // A tag shows its explanation on the same page; its list is for members only.
        offers.nth("tag", tag.into(), same);
    }
    let first = (division * SHEETS + at) * NEW_CLIPS_PER_SHEET;
    for place in 0..clips_on(division, at) {
        let number = usize::from((first + place) % (DIVISIONS * SHEETS * NEW_CLIPS_PER_SHEET));
        offers.nth("open clip", number, show(Some(place), false));
        offers.nth("title of clip", number, show(Some(place), false));
        offers.nth("pop clip", number, show(open, true));
        offers.nth("comment on clip", number, show(Some(place), true));
        offers.nth("save clip", number, show(open, true));
        offers.nth("play clip", number, same);
    }
    if open.is_some() {
        offers.one("close clip", show(None, asking_to_sign_in));
    }
    if asking_to_sign_in {
        offers.one("cancel", show(open, false));
        offers.one("sign in", same);
    }
    match (open, asking_to_sign_in) {
        (None, true) => offers.one("sign up", Page::SignUp(0)),
        (None, false) => offers.one("about", Page::Leaflet(0)),
        (Some(0), false) => offers.one("source", Page::Source),
        (Some(_), _) => {}
    }
}

/// The imitation of the larger version of Clipmarks.
pub fn clipmarks_like_large() -> Model {
    let wanted = Wanted {
        name: "clipmarks-like:large",
        reset_cost: 32.0,
        states: 2_663,
        transitions: 355_201,
    };
    program::explore(&Clipmarks, &wanted)
}
