//! An imitation of a small shop: categories, sorting, sheets, products, a cart and a check-out.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::program::{self, Offers, Program, Wanted};

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "shop-like",
    examples: &["shop-like"],
    summary: "imitates a small shop with a cart: 206 states, 1,852 transitions",
    help: "Everything is guessed: no original was published. Four categories with 24 products, shown in \
           sheets of three and in one of three orders; details of each product; a cart of at most three \
           articles, of which only the number shows; a check-out of three pages that ends with an empty \
           cart. Menu, cart sign, sorting, sheets and product cards are parts. They depend on each other: \
           which cards the next sheet shows depends on category and order. A reset costs 3 actions.",
};

/// The number of sheets of each category.
const SHEETS: [u8; 4] = [3, 2, 2, 1];
const PER_SHEET: u8 = 3;
const ORDERS: u8 = 3;
const MOST_ARTICLES: u8 = 3;
const LAST_STEP: u8 = 2;

struct Shop;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    List {
        category: u8,
        order: u8,
        sheet: u8,
    },
    Product {
        category: u8,
        product: u8,
    },
    Cart,
    /// A page of the check-out.
    Step(u8),
    Thanks,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    shown: Shown,
    /// The number of articles in the cart.
    articles: u8,
}

const MENU: u32 = 0;
const SIGN: u32 = 1;
const SORTING: u32 = 2;
const SHEET: u32 = 3;
const PRODUCT: u32 = 4;
const CART: u32 = 5;
const STEP: u32 = 6;
const THANKS: u32 = 7;
const FIRST_CARD: u32 = 8;

/// The number of the first product of a category.
fn first_of(category: u8) -> u8 {
    SHEETS[..usize::from(category)].iter().sum::<u8>() * PER_SHEET
}

/// The products on a sheet.
fn products(category: u8, order: u8, sheet: u8) -> impl Iterator<Item = u8> {
    let count = SHEETS[usize::from(category)] * PER_SHEET;
    let places = sheet * PER_SHEET..(sheet + 1) * PER_SHEET;
    places.map(move |place| first_of(category) + (place + 2 * order) % count)
}

impl Page {
    fn with(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// The first sheet of a category.
    fn list(self, category: u8) -> Self {
        self.with(Shown::List { category, order: 0, sheet: 0 })
    }

    fn add_shopping(self, offers: &mut Offers<Self>) {
        offers.in_part(MENU);
        for category in 0..SHEETS.len() as u8 {
            offers.nth("category", category.into(), self.list(category));
        }
        offers.in_part(SIGN).one("cart", self.with(Shown::Cart));
    }

    fn add_list(self, (category, order, sheet): (u8, u8, u8), offers: &mut Offers<Self>) {
        offers.in_part(SORTING);
        for order in 0..ORDERS {
            let to = self.with(Shown::List { category, order, sheet: 0 });
            offers.nth("order", order.into(), to);
        }
        offers.in_part(SHEET);
        if sheet > 0 {
            offers.one("previous", self.with(Shown::List { category, order, sheet: sheet - 1 }));
        }
        if sheet + 1 < SHEETS[usize::from(category)] {
            offers.one("next", self.with(Shown::List { category, order, sheet: sheet + 1 }));
        }
        for product in products(category, order, sheet) {
            let to = self.with(Shown::Product { category, product });
            offers.in_part(FIRST_CARD + u32::from(product)).nth("product", product.into(), to);
        }
    }
}

impl Program for Shop {
    type Page = Page;

    fn start(&self) -> Page {
        Page { shown: Shown::Thanks, articles: 0 }.list(0)
    }

    fn offer(&self, &page: &Page, offers: &mut Offers<Page>) {
        if !matches!(page.shown, Shown::Step(_)) {
            page.add_shopping(offers);
        }
        match page.shown {
            Shown::List { category, order, sheet } => {
                page.add_list((category, order, sheet), offers);
            }
            Shown::Product { category, .. } => {
                offers.in_part(PRODUCT).one("back", page.list(category));
                if page.articles < MOST_ARTICLES {
                    offers.one("add to cart", Page { articles: page.articles + 1, ..page });
                }
            }
            Shown::Cart if page.articles > 0 => {
                offers.in_part(CART).one("remove", Page { articles: page.articles - 1, ..page });
                offers.one("empty", Page { articles: 0, ..page });
                offers.one("check out", page.with(Shown::Step(0)));
            }
            Shown::Step(step) => {
                let before = if step == 0 { Shown::Cart } else { Shown::Step(step - 1) };
                offers.in_part(STEP).one("back", page.with(before));
                if step < LAST_STEP {
                    offers.one("next", page.with(Shown::Step(step + 1)));
                } else {
                    offers.one("order", Page { shown: Shown::Thanks, articles: 0 });
                }
            }
            Shown::Cart | Shown::Thanks => {}
        }
    }

    fn part_names(&self) -> Vec<String> {
        let named =
            ["menu", "cart sign", "sorting", "sheets", "product", "cart", "check-out", "thanks"];
        let cards = (0..first_of(SHEETS.len() as u8)).map(|product| format!("card {product}"));
        named.map(str::to_owned).into_iter().chain(cards).collect()
    }

    fn parts(&self, page: &Page) -> Vec<(u32, u32)> {
        let mut parts = Vec::new();
        if !matches!(page.shown, Shown::Step(_)) {
            let chosen = match page.shown {
                Shown::List { category, .. } | Shown::Product { category, .. } => 1 + category,
                Shown::Cart | Shown::Step(_) | Shown::Thanks => 0,
            };
            parts.extend([(MENU, chosen.into()), (SIGN, page.articles.into())]);
        }
        match page.shown {
            Shown::List { category, order, sheet } => {
                parts.extend([(SORTING, order.into()), (SHEET, sheet.into())]);
                let cards = products(category, order, sheet);
                parts.extend(cards.map(|product| (FIRST_CARD + u32::from(product), 0)));
            }
            Shown::Product { product, .. } => parts.push((PRODUCT, product.into())),
            Shown::Cart => parts.push((CART, page.articles.into())),
            Shown::Step(step) => {
                parts.extend([(CART, page.articles.into()), (STEP, step.into())]);
            }
            Shown::Thanks => parts.push((THANKS, 0)),
        }
        parts.sort_unstable();
        parts
    }
}

/// The imitation of a shop.
pub(super) fn shop_like() -> Model {
    let wanted = Wanted { name: "shop-like", reset_cost: 3.0, states: 206, transitions: 1_852 };
    program::explore(&Shop, &wanted)
}
