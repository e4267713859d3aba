//! An imitation of a site where members share clips of other sites: lists under tabs, an open clip,
//! and a dialog that asks visitors to sign in.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "clipmarks-like[:large]",
    examples: &["clipmarks-like", "clipmarks-like:large"],
    summary: "imitates Clipmarks: 129 states, 10,580 transitions (large: 2,663 and 355,201)",
    help: "Known: the size, the reset cost (18), that members share clips of other sites, and that \
           about 54 actions lead to dead ends. Guessed: six tabs of nine clips, a dialog that asks to \
           sign in, a form for new members, and a link from an open clip to its source on another \
           site. Greedy needs 13,000 actions and 55 resets for a complete crawl (published: 11,390 \
           and 55). It finds the last state, the end of the form, shortly before the end, as \
           published. Of the large version three figures are known: the size, the reset cost (32), \
           and that 90 % of the tasks begin where the crawler is. Guessed: ten divisions of seven \
           sheets of clips, which give 79 %. There 5 controllers with 100 crawlers spend 461,000 \
           actions (published: 414,345).",
};

const TABS: u8 = 6;
const CLIPS_PER_TAB: u8 = 9;
/// Tabs overlap: a popular clip is also recent.
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
    /// The site that a clip comes from. It is out of scope, so it is blank.
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
            // A tag shows its explanation on the same page; its list is for members only.
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

/// Offers the controls of a page of the form for new members. The last page refuses every visitor.
/// `page` gives the page of a step.
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
