//! What a store refuses: in a sentence that says what to do, and without touching anything.

#[path = "store/scratch.rs"]
mod scratch;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use argiope_runtime::store::{Batch, FILE, Store, StoreError};
use scratch::Scratch;
use serde_json::json;

/// Everything in a directory, to be compared.
fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// What creating, opening and reading say, none of which may change the directory.
fn refusals(directory: &Path) -> [String; 3] {
    let before = content(directory);
    let refused = [
        Store::create(directory, &json!({})).unwrap_err(),
        Store::open(directory).unwrap_err(),
        Store::read(directory).unwrap_err(),
    ];
    assert!(content(directory) == before, "{} was changed", directory.display());
    refused.map(|error| error.to_string().replace(&*directory.to_string_lossy(), "DIR"))
}

#[test]
fn a_directory_with_other_things_is_left_alone() {
    let scratch = Scratch::new();
    fs::write(scratch.path("letter.txt"), "dear").unwrap();
    assert_eq!(
        refusals(&scratch.path(".")),
        [
            "DIR exists, is not empty and holds no run; nothing was touched",
            "DIR holds no run",
            "DIR holds no run"
        ]
    );
}

#[test]
fn a_file_of_that_name_that_is_something_else_is_left_alone() {
    let scratch = Scratch::new();
    for text in ["dear", "a longer letter, of more than the first few bytes that are looked at"] {
        fs::write(scratch.path(FILE), text).unwrap();
        let expected = format!("DIR/{FILE} is not a store of argiope");
        assert_eq!(
            refusals(&scratch.path(".")),
            [&expected, &expected, &expected].map(String::as_str)
        );
    }
}

#[test]
fn a_file_of_zeros_beside_other_things_is_left_alone() {
    let scratch = Scratch::new();
    fs::write(scratch.path(FILE), [0; 99]).unwrap();
    fs::write(scratch.path("letter.txt"), "dear").unwrap();
    assert_eq!(refusals(&scratch.path("."))[0], format!("DIR/{FILE} is not a store of argiope"));
}

#[test]
fn a_beginning_that_was_killed_can_begin_again() {
    let scratch = Scratch::new();
    for left in [vec![], vec![0; 5000]] {
        let directory = scratch.path(&left.len().to_string());
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(FILE), left).unwrap();
        assert!(matches!(Store::open(&directory), Err(StoreError::Unfinished(_))));
        assert!(matches!(Store::read(&directory), Err(StoreError::Unfinished(_))));
        drop(Store::create(&directory, &json!(1)).unwrap());
        assert_eq!(Store::open(&directory).unwrap().meta().settings, json!(1));
    }
}

#[test]
fn a_run_is_not_begun_twice() {
    let scratch = Scratch::new();
    let directory = scratch.path("run");
    drop(Store::create(&directory, &json!({ "first": true })).unwrap());
    let error = Store::create(&directory, &json!({ "first": false })).unwrap_err().to_string();
    assert!(
        error.ends_with("holds a run already; use --resume to go on with it, or another directory"),
        "{error}"
    );
    assert_eq!(Store::open(&directory).unwrap().meta().settings, json!({ "first": true }));
}

#[test]
fn no_directory_and_a_file_instead_of_one_are_told_apart() {
    let scratch = Scratch::new();
    let nowhere = scratch.path("nowhere");
    assert!(matches!(Store::open(&nowhere), Err(StoreError::NoRun(_))));
    assert!(matches!(Store::read(&nowhere), Err(StoreError::NoRun(_))));
    assert!(!nowhere.exists());
    let file = scratch.path("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(Store::create(&file, &json!({})), Err(StoreError::NotADirectory(_))));
    assert!(matches!(Store::open(&file), Err(StoreError::NotADirectory(_))));
    assert!(matches!(Store::read(&file), Err(StoreError::NotADirectory(_))));
}

#[test]
fn one_writer_excludes_all_others_and_readers_share() {
    let scratch = Scratch::new();
    let directory = scratch.path("run");
    let writing = Store::create(&directory, &json!({})).unwrap();
    for error in [
        Store::create(&directory, &json!({})).unwrap_err(),
        Store::open(&directory).unwrap_err(),
        Store::read(&directory).unwrap_err(),
    ] {
        assert!(error.to_string().ends_with("is in use by another argiope"), "{error}");
    }
    drop(writing);
    let readers = [Store::read(&directory).unwrap(), Store::read(&directory).unwrap()];
    assert!(matches!(Store::open(&directory), Err(StoreError::InUse(_))));
    assert!(matches!(Store::create(&directory, &json!({})), Err(StoreError::InUse(_))));
    drop(readers);
    Store::open(&directory).unwrap();
}

#[test]
fn a_reader_writes_nothing_and_changes_no_byte() {
    let scratch = Scratch::new();
    let directory = scratch.path("run");
    drop(Store::create(&directory, &json!({})).unwrap());
    let before = content(&directory);
    let reading = Store::read(&directory).unwrap();
    assert!(matches!(reading.commit(&[Batch::default()]), Err(StoreError::ReadOnly)));
    assert!(matches!(reading.put("name", b"value"), Err(StoreError::ReadOnly)));
    assert!(matches!(reading.writer(|_| {}), Err(StoreError::ReadOnly)));
    drop(reading);
    assert!(content(&directory) == before);
}
