//! Replays the corpus of each target, and mutates it for five seconds. With `ARGIOPE_LONG=1` for
//! ten minutes each, with a seed from the clock. `ARGIOPE_SEED=N` chooses the seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use argiope_fuzz::runner::{mutate_for, replay, run_input};
use argiope_fuzz::targets::{FuzzTarget, find};
use argiope_fuzz::{MAX_INPUT, corpus, targets};

/// All corpora together stay below this many bytes.
const MOST_BYTES: usize = 300_000;

fn target(name: &str) -> &'static FuzzTarget {
    find(name).unwrap_or_else(|| panic!("there is no target {name}"))
}

fn inputs(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let corpus = corpus(target.name).expect("there is a corpus");
    corpus.into_iter().map(|(_, input)| input).collect()
}

fn replay_corpus(name: &str) {
    let target = target(name);
    let inputs = inputs(target);
    if let Err(failure) = replay(target, inputs.iter().map(Vec::as_slice)) {
        panic!("{failure}");
    }
}

fn is_long() -> bool {
    std::env::var_os("ARGIOPE_LONG").is_some()
}

/// The same in every run of CI, so that it does not fail by chance.
fn seed() -> u64 {
    let given = std::env::var("ARGIOPE_SEED").ok().and_then(|seed| seed.parse().ok());
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    given.unwrap_or_else(|| if is_long() { clock() } else { 1 })
}

fn mutate_corpus(name: &str) {
    let target = target(name);
    let time = Duration::from_secs(if is_long() { 600 } else { 5 });
    match mutate_for(target, &inputs(target), seed(), time) {
        Ok(summary) => println!("{summary}"),
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn seeds_still_decode() {
    for target in targets::ALL {
        let corpus = corpus(target.name).expect("there is a corpus");
        let seeds = corpus.iter().filter(|(name, _)| name.starts_with("seed-"));
        let mut count = 0;
        for (name, input) in seeds {
            let reached =
                run_input(target, input).unwrap_or_else(|error| panic!("{name}: {error}"));
            let is_readable = reached.refused() == 0 && reached.accepted() > 0;
            assert!(
                is_readable || name == "seed-silent",
                "{}/{name} does not decode any more: {} entries of it do, {} do not. Write the \
                 seeds again: cargo run -p argiope-fuzz --example seeds",
                target.name,
                reached.accepted(),
                reached.refused()
            );
            count += 1;
        }
        assert!(count > 3, "{} has {count} seeds", target.name);
    }
}

#[test]
fn corpora_are_small() {
    let all = targets::ALL.iter().flat_map(inputs).map(|input| {
        assert!(input.len() <= MAX_INPUT);
        input.len()
    });
    let bytes: usize = all.sum();
    assert!(bytes < MOST_BYTES, "the corpora have {bytes} bytes");
}

#[test]
fn corpus_of_frames_replays() {
    replay_corpus("frames");
}

#[test]
fn mutated_frames_do_no_harm_for_5_seconds() {
    mutate_corpus("frames");
}

#[test]
fn corpus_of_machines_replays() {
    replay_corpus("machines");
}

#[test]
fn mutated_machines_do_no_harm_for_5_seconds() {
    mutate_corpus("machines");
}

#[test]
fn corpus_of_facts_replays() {
    replay_corpus("facts");
}

#[test]
fn mutated_facts_do_no_harm_for_5_seconds() {
    mutate_corpus("facts");
}

#[test]
fn corpus_of_models_replays() {
    replay_corpus("models");
}

#[test]
fn mutated_models_do_no_harm_for_5_seconds() {
    mutate_corpus("models");
}

#[test]
fn corpus_of_pages_replays() {
    replay_corpus("pages");
}

#[test]
fn mutated_pages_do_no_harm_for_5_seconds() {
    mutate_corpus("pages");
}

#[test]
fn corpus_of_controllers_replays() {
    replay_corpus("controllers");
}

#[test]
fn mutated_controllers_do_no_harm_for_5_seconds() {
    mutate_corpus("controllers");
}
