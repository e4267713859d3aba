//! A site on which members share clips of what they found elsewhere: lists under tabs, an opened
//! clip, and a dialog that asks visitors to sign in.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// How people choose it.
pub(super) const DESCRIBED: TestbedFamily = TestbedFamily {
    name: "clipmarks-like[:large]",
    examples: &["clipmarks-like", "clipmarks-like:large"],
    summary: "imitates Clipmarks: 129 states, 10,580 transitions (large: 2,663 and 355,201)",
    help: "Known: the size, the reset cost (18), that members share clips of other sites, and that \
           about 54 actions lead to dead ends. Guessed: six tabs of nine clips, a dialog that asks to \
           sign in, a form for new members, and a link to the source of an opened clip that leads out. \
           Greedy needs 13,000 actions and 55 resets for a complete crawl (published: 11,390 and 55) \
           and finds the last state, the end of that form, shortly before the end, as published. Of the \
           large version the size, the reset cost (32) and how near crawlers find something to do are \
           known (90 % where they stand); ten divisions of seven sheets of clips are guessed, with which \
           79 % are found there, and 5 controllers with 100 crawlers spend 461,000 actions (published: \
           414,345).",
};

const TABS: u8 = 6;
const CLIPS_PER_TAB: u8 = 9;
/// The tabs overlap: a clip that is popular is recent as well.
const CLIPS: u8 = 36;
const TAGS: u8 = 20;
const LEAFLETS: u8 = 4;
const LAST_STEP: u8 = 3;

struct Clipmarks;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    List {
        tab: u8,
        open: Option<u8>,
        asking_to_sign_in: bool,
    },
    /// About, help, terms and the like.
    Leaflet(u8),
    /// A page of the form for new members.
    SignUp(u8),
    /// The site that a clip was taken from: outside, so it is blank.
    Source,
}

/// The clips that a tab lists.
fn clips(tab: u8) -> impl Iterator<Item = u8> {
    (0..CLIPS_PER_TAB).map(move |at| (tab * 6 + at) % CLIPS)
}

fn list(tab: u8) -> Page {
    Page::List { tab, open: None, asking_to_sign_in: false }
}

impl Program for Clipmarks {
    type Page = Page;

    fn start(&self) -> Page {
        list(0)
    }

    fn offer(&self, page: &Page, offers: &mut Offers<Page>) {
        if *page == Page::Source {
            return;
        }
        for other in 0..TABS {
            offers.nth("tab", other.into(), list(other));
        }
        for leaflet in 0..LEAFLETS {
            offers.nth("leaflet", leaflet.into(), Page::Leaflet(leaflet));
        }
        if let &Page::SignUp(step) = page {
            sign_up(step, Page::SignUp, offers);
        }
        let &Page::List { tab, open, asking_to_sign_in } = page else {
            return;
        };
        let show = |open, asking_to_sign_in| Page::List { tab, open, asking_to_sign_in };
        for tag in 0..TAGS {
            // A tag is explained in place; its list is for members.
            offers.nth("tag", tag.into(), page.clone());
        }
        for clip in clips(tab) {
            let number = usize::from(clip);
            offers.nth("open clip", number, show(Some(clip), false));
            offers.nth("title of clip", number, show(Some(clip), false));
            offers.nth("pop clip", number, show(open, true));
            offers.nth("comment on clip", number, show(Some(clip), true));
            offers.nth("save clip", number, show(open, true));
            offers.nth("play clip", number, page.clone());
        }
        if open.is_some() {
            offers.one("close clip", show(None, asking_to_sign_in));
        }
        if asking_to_sign_in {
            offers.one("cancel", show(open, false));
            offers.one("sign in", page.clone());
            offers.one("sign up", Page::SignUp(0));
        } else if open.is_some() {
            offers.one("source", Page::Source);
        }
    }
}

/// The form for new members is filled in page by page; nobody becomes one, since the copy of the site
/// refuses. `page` is the page of a step.
pub(super) fn sign_up<P>(step: u8, page: impl Fn(u8) -> P, offers: &mut Offers<P>) {
    offers.one("sign up", page(0));
    if step > 0 {
        offers.one("back", page(step - 1));
    }
    if step < LAST_STEP {
        offers.one("continue", page(step + 1));
    }
    for field in 0..4 {
        offers.nth("field", field, page(step));
    }
}

/// The imitation of Clipmarks.
pub fn clipmarks_like() -> Model {
    let wanted =
        Wanted { name: "clipmarks-like", reset_cost: 18.0, states: 129, transitions: 10_580 };
    program::explore(&Clipmarks, &wanted)
}
