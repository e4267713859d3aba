//! A crawl that is killed again and again, and one whose disk is full, go on as if nothing had been.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use argiope_explore::chance::Chance;
use argiope_runtime::crawl::UNWRITTEN;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{Store, StoreError};

use crate::other::{Other, is_the_other_process};
use crate::pages::{Executed, Pages};
use crate::real::{Model, Place, executable, model, records, run};

const KILLS: usize = 20;
const SEED: u64 = 3;
/// A guard against a process that does nothing.
const PATIENCE: Duration = Duration::from_secs(120);

/// The model of a crawl that nothing disturbs.
fn undisturbed(settings: &CrawlSettings) -> Model {
    let place = Place::new();
    assert!(run(settings, &place.path("run")).unwrap().complete);
    model(&records(&place.path("run")))
}

/// What the store has of executed actions, by the names that the pages use.
fn kept(directory: &Path) -> BTreeSet<Executed> {
    let store = match Store::read(directory) {
        Err(StoreError::NoRun(_) | StoreError::Unfinished(_)) => return BTreeSet::new(),
        store => store.unwrap(),
    };
    let records: Vec<_> = store.facts().unwrap().map(Result::unwrap).collect();
    let name = |(from, action)| {
        let state = store.detail(from).unwrap().unwrap();
        let offer = state.offers.into_iter().find(|offer| offer.signature == action).unwrap();
        (state.title, offer.label.split('"').nth(1).unwrap().to_owned())
    };
    model(&records).transitions.into_keys().map(name).collect()
}

#[test]
fn killed_twenty_times_it_finds_the_same_and_does_no_more_again_than_was_in_flight() {
    if is_the_other_process() {
        return;
    }
    let test =
        "killed::killed_twenty_times_it_finds_the_same_and_does_no_more_again_than_was_in_flight";
    let pages = Pages::start(Duration::ZERO);
    let tabs = 2;
    let settings = CrawlSettings { tabs, ..CrawlSettings::new(pages.url("switches?count=7")) };
    let expected = undisturbed(&settings);
    assert_eq!((expected.states.len(), expected.transitions.len()), (128, 896));
    let place = Place::new();
    let directory = place.path("run");
    let mut chance = Chance::new(&[SEED]);
    for round in 0..KILLS {
        pages.take();
        let before = kept(&directory);
        let mut other = Other::start(test, &settings, &directory, r#"exec "$@""#, None);
        if chance.below(4) == 0 {
            // Perhaps before there is a browser, or while there comes to be one.
            std::thread::sleep(Duration::from_millis(chance.below(600) as u64));
        } else {
            let actions = 1 + chance.below(40);
            let started = Instant::now();
            while pages.count() < actions {
                assert!(
                    !other.has_ended() && started.elapsed() < PATIENCE,
                    "seed {SEED}, round {round}"
                );
                std::thread::sleep(Duration::from_micros(chance.below(3000) as u64));
            }
        }
        other.kill_and_check(place.profiles());
        let after = kept(&directory);
        assert!(before.is_subset(&after), "seed {SEED}, round {round}: something was forgotten");
        // What is in neither was executed for the first time, and must be again.
        let lost = pages.take().difference(&after).count();
        assert!(lost <= (UNWRITTEN + 1) * tabs as usize, "seed {SEED}, round {round}: {lost} lost");
    }
    assert!(kept(&directory).len() < 896, "it was complete before the last kill");
    let other = Other::start(test, &settings, &directory, r#"exec "$@""#, None);
    assert_eq!(other.finish().0, "complete=true");
    assert!(model(&records(&directory)) == expected);
    let left: Vec<_> =
        std::fs::read_dir(place.profiles()).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(left.len() == 1, "only the run is left: {left:?}");
}

#[test]
fn with_a_full_disk_it_ends_with_a_sentence_and_goes_on_once_there_is_room() {
    if is_the_other_process() {
        return;
    }
    let test = "killed::with_a_full_disk_it_ends_with_a_sentence_and_goes_on_once_there_is_room";
    let pages = Pages::start(Duration::ZERO);
    let settings = CrawlSettings::new(pages.url("switches?count=6&noise=150000"));
    let expected = undisturbed(&settings);
    let place = Place::new();
    let directory = place.path("run");
    let browser = unlimited_browser(&place);
    // A limit on the size of files, in units of 512 bytes or 1 KB: the only full disk that every machine can
    // offer. The signal that comes with it is ignored, so that the write fails instead.
    let line = r#"trap '' XFSZ; ulimit -S -f 6000; exec "$@""#;
    let (ended, _) = Other::start(test, &settings, &directory, line, Some(&browser)).finish();
    assert!(ended.starts_with("the disk is full: "), "{ended}");
    let there = model(&records(&directory));
    assert!(!there.transitions.is_empty() && there.transitions.len() < expected.transitions.len());
    assert!(run(&settings, &directory).unwrap().complete);
    assert!(model(&records(&directory)) == expected);
}

/// The limit is argiope's alone: a browser that cannot write tells nothing about it.
fn unlimited_browser(place: &Place) -> std::path::PathBuf {
    let real = executable().path;
    let path = place.path(real.file_name().unwrap().to_str().unwrap());
    let script = format!("#!/bin/sh\nulimit -S -f unlimited\nexec '{}' \"$@\"\n", real.display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}
