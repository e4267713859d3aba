//! Tests on stores whose bytes were changed from outside. Each must end in an error that says so,
//! never in a panic, a huge allocation or wrong facts.

use argiope_controller::journal::Fact;
use argiope_controller::spent::WriterId;
use argiope_explore::chance::Chance;
use redb::backends::InMemoryBackend;
use serde_json::json;

use super::*;

fn store() -> Store {
    let path = PathBuf::from("memory");
    let database = builder().create_with_backend(InMemoryBackend::new()).unwrap();
    let meta = meta::begin(&database, &path, &json!({})).unwrap();
    Store { path, database: Arc::new(database), meta, writable: true }
}

fn found() -> FoundPage {
    FoundPage { source: b"<p>text</p>".repeat(99), title: "t".repeat(300), ..FoundPage::default() }
}

fn reopened(store: Store) -> Result<Store, StoreError> {
    let database = Arc::into_inner(store.database).expect("no transaction uses it");
    let meta = meta::check(&database, &store.path)?;
    Ok(Store { database: Arc::new(database), meta, ..store })
}

fn set_meta(store: &Store, name: &str, value: &str) {
    let transaction = store.database.begin_write().unwrap();
    transaction.open_table(META).unwrap().insert(name.as_bytes(), value.as_bytes()).unwrap();
    transaction.commit().unwrap();
}

fn set<K: redb::Key>(
    store: &Store,
    table: TableDefinition<'_, K, &'static [u8]>,
    key: K::SelfType<'_>,
    value: &[u8],
) {
    let transaction = store.database.begin_write().unwrap();
    transaction.open_table(table).unwrap().insert(key, value).unwrap();
    transaction.commit().unwrap();
}

#[test]
fn another_format_is_refused_with_both_versions_and_left_as_it_is() {
    let directory = std::env::temp_dir().join(format!("argiope-format-{}", std::process::id()));
    let file = directory.join(FILE);
    for format in ["1", "3", "two"] {
        let store = Store::create(&directory, &json!({})).unwrap();
        set_meta(&store, "format", format);
        set_meta(&store, "argiope", "9.8.7");
        drop(store);
        let before = std::fs::read(&file).unwrap();
        for opened in [Store::open(&directory), Store::read(&directory)] {
            assert_eq!(
                opened.unwrap_err().to_string(),
                format!(
                    "{} was written by argiope 9.8.7 in store format {format}, but this argiope \
                     reads format 4: export it with the argiope that wrote it \
                     ('argiope export DIR'), or crawl again",
                    file.display()
                )
            );
            assert!(std::fs::read(&file).unwrap() == before, "format {format} was changed");
        }
        let begun = Store::create(&directory, &json!({})).unwrap_err();
        assert!(matches!(begun, StoreError::OtherVersion { .. }), "{begun}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

#[test]
fn meta_that_cannot_be_read_is_damage() {
    for (name, value) in [("run", "not a number"), ("settings", "{")] {
        let store = store();
        set_meta(&store, name, value);
        assert!(matches!(reopened(store), Err(StoreError::Damaged(_))), "{name}");
    }
}

#[test]
fn a_foreign_database_is_not_a_store() {
    let theirs = TableDefinition::<&str, &str>::new("theirs");
    let database = builder().create_with_backend(InMemoryBackend::new()).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(theirs).unwrap();
    transaction.commit().unwrap();
    let path = Path::new("memory");
    assert!(matches!(meta::begin(&database, path, &json!({})), Err(StoreError::NotAStore(_))));
    assert!(matches!(meta::check(&database, path), Err(StoreError::NotAStore(_))));
}

#[test]
fn a_changed_fact_is_damage_and_ends_the_reading() {
    let store = store();
    let fact = Fact::Spent { writer: WriterId::LONE, actions: 1, resets: 2 };
    store.commit(&[Batch::of_facts(vec![fact.clone(), fact.clone(), fact.clone()])]).unwrap();
    let good = packed::encode(&fact);
    let cases: [&[u8]; 4] =
        [&[], &[200], &good[..good.len() - 1], &[good.as_slice(), &[0]].concat()];
    for bytes in cases {
        set(&store, FACTS, 1, bytes);
        let read: Vec<_> = store.facts().unwrap().collect();
        assert!(matches!(read.as_slice(), [Ok(_), Err(StoreError::Damaged(_))]), "{read:?}");
    }
}

#[test]
fn a_missing_fact_is_damage() {
    let store = store();
    let fact = Fact::Spent { writer: WriterId::LONE, actions: 1, resets: 2 };
    store.commit(&[Batch::of_facts(vec![fact.clone()])]).unwrap();
    set(&store, FACTS, 2, &packed::encode(&fact));
    let read: Vec<_> = store.facts().unwrap().collect();
    assert!(matches!(read.as_slice(), [Ok(_), Err(StoreError::Damaged(_))]), "{read:?}");
}

#[test]
fn a_list_that_claims_to_be_huge_is_damage() {
    let store = store();
    // A state with 2^60 actions, of which none follows.
    let mut bytes = vec![1, 2, 26, 16];
    bytes.extend([0; 16]);
    bytes.extend([0x80; 8]);
    bytes.push(0x10);
    set(&store, FACTS, 0, &bytes);
    assert!(matches!(store.facts().unwrap().next(), Some(Err(StoreError::Damaged(_)))));
}

#[test]
fn bytes_that_claim_to_grow_without_end_are_damage() {
    let hash = ContentHash(5);
    let mut bomb = packed::pack(&vec![0; 1 << 20]);
    let store = store();
    for claimed in [0, 1, (1 << 20) - 1, (1 << 20) + 1, u64::MAX] {
        bomb[1..9].copy_from_slice(&claimed.to_le_bytes());
        set(&store, BLOBS, hash.0, &bomb);
        assert!(matches!(store.blob(hash), Err(StoreError::Damaged(_))), "{claimed}");
    }
}

#[test]
fn a_blob_under_a_wrong_name_is_damage() {
    let store = store();
    set(&store, BLOBS, 5, &packed::pack(b"bytes"));
    assert!(matches!(store.blob(ContentHash(5)), Err(StoreError::Damaged(_))));
}

#[test]
fn any_changed_byte_of_a_detail_or_blob_is_damage_or_harmless() {
    let store = store();
    let key = StateKey(1);
    store.commit(&[Batch { states: vec![(key, found())], ..Batch::default() }]).unwrap();
    let detail = store.detail(key).unwrap().unwrap();
    let mut chance = Chance::new(&[7]);
    let (good, blob) = {
        let transaction = store.begin().unwrap();
        let states = transaction.open_table(STATES).unwrap();
        let blobs = transaction.open_table(BLOBS).unwrap();
        let good = states.get(key.0).unwrap().unwrap().value().to_vec();
        (good, blobs.get(detail.source.0).unwrap().unwrap().value().to_vec())
    };
    for _ in 0..500 {
        let (mut state, mut source) = (good.clone(), blob.clone());
        state[chance.below(good.len())] = chance.below(256) as u8;
        source[chance.below(blob.len())] = chance.below(256) as u8;
        set(&store, STATES, key.0, &state);
        set(&store, BLOBS, detail.source.0, &source);
        // A detail has no checksum of its own: its content may differ, its form must not.
        assert!(matches!(store.detail(key), Ok(_) | Err(StoreError::Damaged(_))));
        match store.blob(detail.source) {
            Ok(bytes) => assert_eq!(bytes.unwrap(), found().source),
            Err(error) => assert!(matches!(error, StoreError::Damaged(_)), "{error}"),
        }
    }
}

#[test]
fn a_fact_of_a_newer_argiope_is_refused_and_not_skipped() {
    let store = store();
    set(&store, FACTS, 0, &[200, 1, 1, 0]);
    let error = store.facts().unwrap().next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "fact 0: this argiope does not know facts of kind 200; use the argiope that wrote it"
    );
    set(&store, KEPT, 0, &[7, 2, 9, 1, 0]);
    let error = store.kept(|_, _| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kept fact 0: this argiope does not know version 9 of a transition; \
         use the argiope that wrote it"
    );
}
