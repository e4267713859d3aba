//! An imitation of a file manager: a tree of folders at the side, the content of one folder, and a
//! preview of the selected item.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "elfinder-like",
    examples: &["elfinder-like"],
    summary: "imitates Elfinder: 1,360 states, 43,816 transitions",
    help: "Known: the size, the reset cost (10), that it is a file manager with previews, that about \
           208 actions lead to dead ends, and that the last states are found late. Guessed: two views \
           of a folder, a tree that shows the path to the open folder, and that some files open on a \
           page of their own. Greedy needs 75,300 actions and 209 resets for a complete crawl \
           (published: 68,534 and 209). It finds the last state after 71,600 actions (published: \
           66,806).",
};

const FOLDERS: u16 = 36;
const FILES: u16 = 608;
/// The files that a browser shows on a page of their own.
const VIEWABLE: u16 = 104;

struct Elfinder {
    /// The parent of each folder, then of each file. The root is its own parent.
    parents: Vec<u16>,
    /// The content of each folder.
    content: Vec<Vec<u16>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Page {
    Browser {
        folder: u16,
        selected: Option<u16>,
        as_list: bool,
    },
    /// A file that fills the window, without controls. All files give the same state.
    Viewer {
        as_list: bool,
    },
}

impl Elfinder {
    fn new() -> Self {
        let mut chance = Chance::new(&[0xE1F]);
        let mut parents = vec![0];
        for folder in 1..FOLDERS {
            parents.push(chance.below(folder.into()) as u16);
        }
        for _ in 0..FILES {
            parents.push(chance.below(FOLDERS.into()) as u16);
        }
        let mut content = vec![Vec::new(); FOLDERS.into()];
        for (item, &parent) in parents.iter().enumerate().skip(1) {
            content[usize::from(parent)].push(item as u16);
        }
        Self { parents, content }
    }

    /// The folders that the tree shows: the path to the open folder, and its children.
    fn tree(&self, folder: u16) -> Vec<u16> {
        let inside = &self.content[usize::from(folder)];
        let mut shown: Vec<u16> = inside.iter().copied().filter(|&item| item < FOLDERS).collect();
        let mut at = folder;
        while at != 0 {
            shown.push(at);
            at = self.parents[usize::from(at)];
        }
        shown.push(0);
        shown
    }
}

impl Program for Elfinder {
    type Page = Page;

    fn start(&self) -> Page {
        Page::Browser { folder: 0, selected: None, as_list: false }
    }

    fn offer(&self, page: &Page, offers: &mut Offers<Page>) {
        let &Page::Browser { folder, selected, as_list } = page else {
            return;
        };
        let browse = |folder, selected| Page::Browser { folder, selected, as_list };
        for shown in self.tree(folder) {
            offers.nth("tree", shown.into(), browse(shown, None));
        }
        for &item in &self.content[usize::from(folder)] {
            offers.nth("item", item.into(), browse(folder, Some(item)));
        }
        offers.one("up", browse(self.parents[usize::from(folder)], None));
        offers.one("home", browse(0, None));
        offers.one("reload", browse(folder, None));
        offers.one("select none", browse(folder, None));
        offers.one("sort", page.clone());
        offers.one("help", page.clone());
        offers.one("view", Page::Browser { folder, selected, as_list: !as_list });
        if let Some(item) = selected {
            offers.one("info", page.clone());
            if item < FOLDERS {
                offers.one("open", browse(item, None));
            } else if item - FOLDERS < VIEWABLE {
                offers.one("open", Page::Viewer { as_list });
            }
        }
    }
}

/// The imitation of Elfinder.
pub fn elfinder_like() -> Model {
    let wanted =
        Wanted { name: "elfinder-like", reset_cost: 10.0, states: 1_360, transitions: 43_816 };
    program::explore(&Elfinder::new(), &wanted)
}
