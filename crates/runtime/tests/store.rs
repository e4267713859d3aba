//! The store from outside: what is written is read back, beside the writer and after reopening.

#[path = "store/scratch.rs"]
mod scratch;

use std::fs;
use std::sync::mpsc;

use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note, Offered};
use argiope_controller::spent::WriterId;
use argiope_explore::brakes::Danger;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::page::{Kind, Page, PageNode};
use argiope_runtime::store::{
    Batch, ContentHash, FILE, FoundPage, OfferDetail, Store, StoreError, UnperformedAction,
    UnperformedActions, WhyUnperformed, WriterEvent,
};
use scratch::Scratch;
use serde_json::json;

fn facts() -> Vec<Fact> {
    let (a, b) = (StateKey(u128::MAX - 7), StateKey(11));
    let (go, stay) = (ActionSignature(u64::MAX), ActionSignature(5));
    vec![
        Fact::State {
            key: a,
            offers: vec![Offered { action: stay, once: true }, Offered { action: go, once: false }],
            route: Some([].into()),
            content: None,
        },
        Fact::Transition {
            from: a,
            action: go,
            to: b,
            notes: vec![Note::Dialog("alert".into(), "\u{1b}[2J\0 boo".into()), Note::Unsettled],
        },
        Fact::GivenUp { from: a, action: stay, reason: JobFailure::Crashed },
        Fact::Stray { from: a, action: go, to: a },
        Fact::Spent { writer: WriterId::LONE, actions: 3, resets: 1 },
    ]
}

fn found(title: &str) -> FoundPage {
    let page = Page {
        url: "http://localhost/#/\u{202e}".into(),
        title: title.into(),
        nodes: vec![PageNode {
            depth: 0,
            tag: "html".into(),
            text: String::new(),
            attributes: vec![("lang".into(), "en".into())],
            visible: true,
        }],
        offers: Vec::new(),
    };
    let offer = OfferDetail {
        signature: ActionSignature(5),
        kind: Kind::Input,
        argument: "x".repeat(1000),
        label: "a \0 label".into(),
        place: "3".into(),
        allowed: true,
    };
    let unperformed = UnperformedAction {
        signature: ActionSignature(6),
        label: "click button \"Log out\"".into(),
        why: WhyUnperformed::Avoided(Danger::LogOut),
    };
    FoundPage {
        url: page.url.clone(),
        title: title.into(),
        found_at: 7,
        raw: 1 << 100,
        source: format!("<title>{title}</title>{}", "<p>text</p>".repeat(500)).into_bytes(),
        page,
        screenshot: Some(vec![0x89, b'P']),
        offers: vec![offer; 3],
        unperformed: UnperformedActions { listed: vec![unperformed], unlisted: 7, beyond: 9 },
        parts: None,
    }
}

fn read_back(store: &Store) -> Vec<Fact> {
    store.facts().unwrap().map(Result::unwrap).collect()
}

#[test]
fn facts_are_read_back_after_reopening() {
    let scratch = Scratch::new();
    let directory = scratch.path("deep/run");
    let settings = json!({ "url": "http://localhost/", "tabs": 2 });
    let (key, seen) = (StateKey(11), found("one"));
    let store = Store::create(&directory, &settings).unwrap();
    let run = store.meta().run;
    store
        .commit(&[Batch {
            facts: facts(),
            states: vec![(key, seen.clone())],
            blobs: vec![b"other".to_vec()],
            kept: Vec::new(),
            named: vec![("masks".into(), vec![1, 2])],
        }])
        .unwrap();
    store.put("masks", &[3]).unwrap();
    drop(store);

    let check = |store: &Store| {
        assert_eq!(store.meta().settings, settings);
        assert_eq!(store.meta().run, run);
        assert_eq!(read_back(store), facts());
        assert_eq!(store.length().unwrap(), 5);
        let detail = store.detail(key).unwrap().unwrap();
        assert_eq!((&detail.url, &detail.title, detail.raw), (&seen.url, &seen.title, seen.raw));
        assert_eq!(detail.offers, seen.offers);
        assert_eq!(store.blob(detail.source).unwrap().unwrap(), seen.source);
        assert_eq!(store.page(detail.page).unwrap().unwrap(), seen.page);
        assert_eq!(store.blob(detail.screenshot.unwrap()).unwrap(), seen.screenshot);
        assert_eq!(store.blob(ContentHash::of(b"other")).unwrap().unwrap(), b"other");
        assert_eq!(store.named("masks").unwrap().unwrap(), [3]);
        let states: Vec<_> = store.states().unwrap().map(Result::unwrap).collect();
        assert_eq!(states, [(key, detail)]);
        assert_eq!(store.detail(StateKey(12)).unwrap(), None);
        assert_eq!(store.blob(ContentHash(12)).unwrap(), None);
        assert_eq!(store.named("mask").unwrap(), None);
    };
    check(&Store::read(&directory).unwrap());
    check(&Store::open(&directory).unwrap());
}

#[test]
fn the_writer_acknowledges_every_ticket_in_order() {
    let scratch = Scratch::new();
    let store = Store::create(&scratch.path("run"), &json!(null)).unwrap();
    let (tell, told) = mpsc::channel();
    let writer = store.writer(move |progress| tell.send(progress).unwrap()).unwrap();
    for expected in 1..=500 {
        let record = Fact::Spent { writer: WriterId::LONE, actions: expected, resets: 0 };
        assert_eq!(writer.append(Batch::of_facts(vec![record])).unwrap(), expected);
    }
    writer.close().unwrap();
    let mut last = 0;
    for progress in told {
        let WriterEvent::Durable(ticket) = progress else { panic!("{progress:?}") };
        assert!(ticket > last);
        last = ticket;
    }
    assert_eq!(last, 500);
    assert_eq!(read_back(&store).len(), 500);
}

#[test]
fn one_who_reads_beside_the_writer_sees_what_was_acknowledged() {
    let scratch = Scratch::new();
    let store = Store::create(&scratch.path("run"), &json!(null)).unwrap();
    let (tell, told) = mpsc::channel();
    let writer = store.writer(move |progress| tell.send(progress).unwrap()).unwrap();
    for count in 1..=20 {
        writer
            .append(Batch::of_facts(vec![Fact::Spent {
                writer: WriterId::LONE,
                actions: count,
                resets: 0,
            }]))
            .unwrap();
        let WriterEvent::Durable(ticket) = told.recv().unwrap() else { panic!() };
        assert_eq!(ticket, count);
        assert_eq!(read_back(&store).len() as u64, count);
    }
    drop(writer);
}

#[test]
fn changed_bytes_in_a_closed_store_are_an_error_or_harmless() {
    let scratch = Scratch::new();
    let directory = scratch.path("run");
    let store = Store::create(&directory, &json!({})).unwrap();
    for number in 0..20 {
        let states = vec![(StateKey(number), found(&number.to_string()))];
        store.commit(&[Batch { facts: facts(), states, ..Batch::default() }]).unwrap();
    }
    let whole = read_back(&store);
    drop(store);
    let good = fs::read(directory.join(FILE)).unwrap();
    let written: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
    let mut chance = Chance::new(&[4]);
    let mut damaged = 0;
    for round in 0..300 {
        let mut bytes = good.clone();
        for _ in 0..=chance.below(3) {
            bytes[written[chance.below(written.len())]] = chance.below(256) as u8;
        }
        fs::write(directory.join(FILE), bytes).unwrap();
        let read = || -> Result<Vec<Fact>, StoreError> {
            let store = Store::read(&directory)?;
            for state in store.states()? {
                let detail = state?.1;
                store.blob(detail.source)?;
                store.page(detail.page)?;
            }
            store.facts()?.collect()
        };
        match read() {
            Ok(records) => assert!(whole.starts_with(&records), "round {round}"),
            Err(StoreError::Damaged(_) | StoreError::NotAStore(_)) => damaged += 1,
            Err(error) => panic!("round {round}: {error}"),
        }
    }
    assert!(damaged > 100, "only {damaged} of 300 were noticed");
}
