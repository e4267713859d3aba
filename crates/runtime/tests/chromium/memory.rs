//! The memory of argiope itself, in a process that does nothing but crawl.

use std::time::Duration;

use argiope_runtime::settings::CrawlSettings;

use crate::other::{Other, is_the_other_process};
use crate::pages::Pages;
use crate::real::{Place, model, records};

/// Set to crawl 5,184 states instead of 1,024.
const LONG: &str = "ARGIOPE_LONG";
const MOST_KILOBYTES: u64 = 200 * 1024;

#[test]
fn a_crawl_of_thousands_of_states_takes_less_than_200_megabytes() {
    if is_the_other_process() {
        return;
    }
    let test = "memory::a_crawl_of_thousands_of_states_takes_less_than_200_megabytes";
    let width: usize = if std::env::var_os(LONG).is_some() { 72 } else { 32 };
    let pages = Pages::start(Duration::ZERO);
    let place = Place::new();
    let url = pages.url(&format!("grid?width={width}"));
    let settings = CrawlSettings { tabs: 2, ..CrawlSettings::new(url) };
    let other = Other::start(test, &settings, &place.path("run"), r#"exec "$@""#, None);
    let (ended, peak) = other.finish();
    assert_eq!(ended, "complete=true");
    let model = model(&records(&place.path("run")));
    // Every place, and the ways between neighbours, there and back.
    assert_eq!(model.states.len(), width * width);
    assert_eq!(model.transitions.len(), 4 * width * (width - 1));
    println!("{} states: {peak} kB", model.states.len());
    assert!(peak < MOST_KILOBYTES, "{peak} kB");
}
