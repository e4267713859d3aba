//! Turns a store of format 1 into one of the present format, when it is opened. All of it is one
//! transaction: a store that is killed meanwhile is still one of format 1. A store that is only
//! read is turned in memory, and its file stays as it is.
//!
//! Format 1 kept two kinds of journals: the records of a crawl on one machine, and the pieces of
//! replicas of a ring. The types here are those of that format and never change.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{Route, Transition};
use argiope_controller::journal::{ContentId, Fact, distinct_offers};
use argiope_controller::outcome::{JobFailure, Note, Offered};
use argiope_controller::spent::WriterId;
use argiope_explore::id::{ActionSignature, StateKey};
use redb::{Database, ReadableTable, TableDefinition, TableHandle, WriteTransaction};
use serde::Deserialize;

use super::error::StoreError;
use super::packed::{decode, encode, unpack};
use super::{BLOBS, FACTS, FORMAT, KEPT, META};

/// The format that this turns into the present one.
pub(super) const FROM: u32 = 1;

const OLD_JOURNAL: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("journal");
const OLD_KEPT: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("kept");

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
enum OldRecord {
    State {
        key: StateKey,
        actions: Vec<ActionSignature>,
        links: Vec<ActionSignature>,
    },
    Transition {
        from: StateKey,
        action: ActionSignature,
        to: StateKey,
        notes: Vec<Note>,
        once: bool,
    },
    Failed {
        from: StateKey,
        action: ActionSignature,
        reason: JobFailure,
    },
    Strayed {
        from: StateKey,
        action: ActionSignature,
        to: StateKey,
    },
    Appeared {
        at: StateKey,
        loaded: bool,
    },
    Spent {
        actions: u64,
        resets: u64,
    },
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
enum OldPiece {
    State(OldState),
    Step(Transition, Option<ContentId>),
    Closed(StateKey, ActionSignature, JobFailure),
    Strayed(Transition),
    Plain(ActionSignature),
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct OldState {
    key: StateKey,
    actions: Vec<ActionSignature>,
    route: Route,
    executed: Vec<(ActionSignature, StateKey)>,
    remarks: OldRemarks,
    content: Option<ContentId>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct OldRemarks {
    links: BTreeSet<ActionSignature>,
    strays: BTreeSet<(ActionSignature, StateKey)>,
    notes: BTreeMap<ActionSignature, ContentId>,
    reasons: BTreeMap<ActionSignature, JobFailure>,
}

/// Turns a database of format 1 into one of the present format.
pub(super) fn migrate(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    migrate_journal(&transaction)?;
    migrate_kept(&transaction)?;
    transaction.open_table(META)?.insert(b"format".as_slice(), FORMAT.to_string().as_bytes())?;
    Ok(transaction.commit()?)
}

/// A value of format 1.
fn read<T: for<'a> Deserialize<'a>>(bytes: &[u8], what: &str) -> Result<T, redb::Error> {
    decode(bytes, &what).map_err(|error| damaged(&error))
}

fn damaged(error: &StoreError) -> redb::Error {
    redb::Error::Corrupted(error.to_string())
}

fn migrate_journal(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    {
        let old = transaction.open_table(OLD_JOURNAL)?;
        let mut links: BTreeSet<ActionSignature> = BTreeSet::new();
        for entry in old.iter()? {
            if let OldRecord::State { links: its, .. } = read(entry?.1.value(), "a record")? {
                links.extend(its);
            }
        }
        let mut facts = transaction.open_table(FACTS)?;
        let mut next = 0;
        for entry in old.iter()? {
            let record = read(entry?.1.value(), "a record")?;
            for fact in of_record(record, next == 0, &links) {
                facts.insert(next, encode(&fact).as_slice())?;
                next += 1;
            }
        }
    }
    transaction.delete_table(OLD_JOURNAL)?;
    Ok(())
}

/// The facts that a record of format 1 stands for. It left links out of a state that other states
/// follow, so the state is a follower of all links that it lists.
fn of_record(record: OldRecord, first: bool, links: &BTreeSet<ActionSignature>) -> Vec<Fact> {
    match record {
        OldRecord::State { key, actions, links: its } => {
            let followed = actions.iter().filter(|action| links.contains(action));
            let followers: Vec<Fact> =
                followed.map(|&link| Fact::LinkFollower { link, state: key }).collect();
            let its: BTreeSet<_> = its.into_iter().collect();
            let route = first.then(Route::default);
            let state = Fact::State { key, offers: offers(&actions, &its), route, content: None };
            std::iter::once(state).chain(followers).collect()
        }
        OldRecord::Transition { from, action, to, notes, once } => {
            let plain = once.then_some(Fact::PlainLink { action });
            let transition = Fact::Transition { from, action, to, notes };
            std::iter::once(transition).chain(plain).collect()
        }
        OldRecord::Failed { from, action, reason } => vec![Fact::GivenUp { from, action, reason }],
        OldRecord::Strayed { from, action, to } => vec![Fact::Stray { from, action, to }],
        OldRecord::Appeared { at, loaded } => vec![Fact::Appeared { at, loaded }],
        OldRecord::Spent { actions, resets } => {
            vec![Fact::Spent { writer: WriterId::LONE, actions, resets }]
        }
    }
}

fn offers(actions: &[ActionSignature], links: &BTreeSet<ActionSignature>) -> Vec<Offered> {
    let offered = |&action: &ActionSignature| Offered { action, once: links.contains(&action) };
    distinct_offers(actions.iter().map(offered))
}

fn migrate_kept(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    if !transaction.list_tables()?.any(|table| table.name() == OLD_KEPT.name()) {
        return Ok(());
    }
    {
        let old = transaction.open_table(OLD_KEPT)?;
        let blobs = transaction.open_table(BLOBS)?;
        let mut kept = transaction.open_table(KEPT)?;
        let mut next = 0;
        for entry in old.iter()? {
            let (crawl, piece): (u64, OldPiece) = read(entry?.1.value(), "a piece of a replica")?;
            for fact in of_piece(piece, &blobs)? {
                kept.insert(next, encode(&(crawl, fact)).as_slice())?;
                next += 1;
            }
        }
    }
    transaction.delete_table(OLD_KEPT)?;
    Ok(())
}

/// The facts that a piece of format 1 stands for.
fn of_piece(
    piece: OldPiece,
    blobs: &impl ReadableTable<u128, &'static [u8]>,
) -> Result<Vec<Fact>, redb::Error> {
    Ok(match piece {
        OldPiece::State(state) => of_state(state, blobs)?,
        OldPiece::Step(Transition { from, action, to }, notes) => {
            vec![Fact::Transition { from, action, to, notes: read_notes(notes, blobs)? }]
        }
        OldPiece::Closed(from, action, reason) => vec![Fact::GivenUp { from, action, reason }],
        OldPiece::Strayed(Transition { from, action, to }) => {
            vec![Fact::Stray { from, action, to }]
        }
        OldPiece::Plain(action) => vec![Fact::PlainLink { action }],
    })
}

fn of_state(
    state: OldState,
    blobs: &impl ReadableTable<u128, &'static [u8]>,
) -> Result<Vec<Fact>, redb::Error> {
    let OldState { key: from, actions, route, executed, remarks, content } = state;
    let offers = offers(&actions, &remarks.links);
    let mut facts = vec![Fact::State { key: from, offers, route: Some(route), content }];
    for (action, to) in executed {
        let notes = read_notes(remarks.notes.get(&action).copied(), blobs)?;
        facts.push(Fact::Transition { from, action, to, notes });
    }
    let strays = remarks.strays.into_iter();
    facts.extend(strays.map(|(action, to)| Fact::Stray { from, action, to }));
    let reasons = remarks.reasons.into_iter();
    facts.extend(reasons.map(|(action, reason)| Fact::GivenUp { from, action, reason }));
    Ok(facts)
}

/// Format 1 kept the notes of a ring's transitions as bytes of their own.
fn read_notes(
    content: Option<ContentId>,
    blobs: &impl ReadableTable<u128, &'static [u8]>,
) -> Result<Vec<Note>, redb::Error> {
    let Some(content) = content else { return Ok(Vec::new()) };
    let Some(packed) = blobs.get(content.0)? else { return Ok(Vec::new()) };
    let notes = unpack(packed.value(), &"notes").and_then(|bytes| unpack(&bytes, &"notes"));
    read(&notes.map_err(|error| damaged(&error))?, "notes")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use serde_json::json;

    use super::super::crash::{Backend, Cut};
    use super::super::packed::pack;
    use super::super::{ContentHash, NAMED, STATES, Store};
    use super::*;

    const A: StateKey = StateKey(1);
    const B: StateKey = StateKey(2);
    const GO: ActionSignature = ActionSignature(300);
    const LINK: ActionSignature = ActionSignature(5);

    fn records() -> Vec<OldRecord> {
        let state = |key, actions: &[_], links: &[_]| OldRecord::State {
            key,
            actions: actions.to_vec(),
            links: links.to_vec(),
        };
        vec![
            state(A, &[LINK, GO], &[]),
            state(B, &[LINK], &[LINK]),
            OldRecord::Transition {
                from: A,
                action: GO,
                to: B,
                notes: vec![Note::Unsettled],
                once: true,
            },
            OldRecord::Failed { from: A, action: LINK, reason: JobFailure::Lost },
            OldRecord::Strayed { from: A, action: GO, to: A },
            OldRecord::Appeared { at: B, loaded: true },
            OldRecord::Spent { actions: 1, resets: 2 },
        ]
    }

    fn notes() -> Vec<u8> {
        pack(&encode(&vec![Note::Route("http://a/".to_owned())]))
    }

    fn pieces() -> Vec<OldPiece> {
        let step = Transition { from: A, action: GO, to: B };
        let notes = ContentId(ContentHash::of(&notes()).0);
        let remarks = OldRemarks {
            links: [LINK].into(),
            strays: [(GO, A)].into(),
            notes: [(GO, notes)].into(),
            reasons: [(LINK, JobFailure::Hung)].into(),
        };
        let state = OldState {
            key: A,
            actions: vec![LINK, GO],
            route: [].into(),
            executed: vec![(GO, B)],
            remarks,
            content: Some(ContentId(9)),
        };
        vec![
            OldPiece::State(state),
            OldPiece::Step(step, Some(notes)),
            OldPiece::Closed(B, LINK, JobFailure::Crashed),
            OldPiece::Strayed(step),
            OldPiece::Plain(GO),
        ]
    }

    /// The bytes that argiope wrote in format 1.
    #[test]
    fn the_old_types_are_those_of_format_1() {
        let bytes: Vec<Vec<u8>> = records().iter().map(encode).collect();
        let expected: [&[u8]; 7] = [
            &[0, 1, 2, 5, 172, 2, 0],
            &[0, 2, 1, 5, 1, 5],
            &[1, 1, 172, 2, 2, 1, 5, 1],
            &[2, 1, 5, 4],
            &[3, 1, 172, 2, 1],
            &[4, 2, 1],
            &[5, 1, 2],
        ];
        assert_eq!(bytes, expected);
        assert_eq!(encode(&pieces()[2]), [2, 2, 5, 1]);
        assert_eq!(encode(&pieces()[4]), [4, 172, 2]);
    }

    /// A database as an argiope of format 1 leaves it.
    fn begin(database: &Database) -> Result<(), redb::Error> {
        let transaction = database.begin_write()?;
        {
            let mut meta = transaction.open_table(META)?;
            let settings = json!({}).to_string();
            for (name, value) in
                [("format", "1"), ("argiope", "0.1.0"), ("run", "7"), ("settings", &settings)]
            {
                meta.insert(name.as_bytes(), value.as_bytes())?;
            }
            let mut journal = transaction.open_table(OLD_JOURNAL)?;
            for (sequence, record) in (0..).zip(records()) {
                journal.insert(sequence, encode(&record).as_slice())?;
            }
            let mut kept = transaction.open_table(OLD_KEPT)?;
            for (sequence, piece) in (0..).zip(pieces()) {
                kept.insert(sequence, encode(&(77_u64, piece)).as_slice())?;
            }
            let mut blobs = transaction.open_table(BLOBS)?;
            blobs.insert(ContentHash::of(&notes()).0, pack(&notes()).as_slice())?;
            transaction.open_table(STATES)?;
            transaction.open_table(NAMED)?;
        }
        Ok(transaction.commit()?)
    }

    fn offered(action: ActionSignature, once: bool) -> Offered {
        Offered { action, once }
    }

    fn check(store: &Store) {
        let facts: Vec<Fact> = store.facts().unwrap().map(Result::unwrap).collect();
        let (from, content) = (A, Some(ContentId(9)));
        let offers = vec![offered(LINK, false), offered(GO, false)];
        assert_eq!(
            facts,
            [
                Fact::State { key: A, offers, route: Some([].into()), content: None },
                Fact::LinkFollower { link: LINK, state: A },
                Fact::State {
                    key: B,
                    offers: vec![offered(LINK, true)],
                    route: None,
                    content: None
                },
                Fact::LinkFollower { link: LINK, state: B },
                Fact::Transition { from, action: GO, to: B, notes: vec![Note::Unsettled] },
                Fact::PlainLink { action: GO },
                Fact::GivenUp { from, action: LINK, reason: JobFailure::Lost },
                Fact::Stray { from, action: GO, to: A },
                Fact::Appeared { at: B, loaded: true },
                Fact::Spent { writer: WriterId::LONE, actions: 1, resets: 2 },
            ]
        );
        let mut kept = Vec::new();
        store.kept(|crawl, fact| kept.push((crawl, fact))).unwrap();
        let notes = vec![Note::Route("http://a/".to_owned())];
        let offers = vec![offered(LINK, true), offered(GO, false)];
        let expected = [
            Fact::State { key: A, offers, route: Some([].into()), content },
            Fact::Transition { from, action: GO, to: B, notes: notes.clone() },
            Fact::Stray { from, action: GO, to: A },
            Fact::GivenUp { from, action: LINK, reason: JobFailure::Hung },
            Fact::Transition { from, action: GO, to: B, notes },
            Fact::GivenUp { from: B, action: LINK, reason: JobFailure::Crashed },
            Fact::Stray { from, action: GO, to: B },
            Fact::PlainLink { action: GO },
        ];
        assert_eq!(kept, expected.map(|fact| (77, fact)));
    }

    #[test]
    fn a_store_of_format_1_is_migrated_when_it_is_opened() {
        let disk = Backend::default();
        begin(&disk.database().unwrap()).unwrap();
        check(&disk.open().unwrap());
        check(&disk.open().unwrap());
    }

    #[test]
    fn a_store_of_format_1_that_is_only_read_stays_as_it_is() {
        let directory =
            std::env::temp_dir().join(format!("argiope-format-1-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join(super::super::FILE);
        begin(&Database::create(&file).unwrap()).unwrap();
        let before = std::fs::read(&file).unwrap();
        check(&Store::read(&directory).unwrap());
        assert!(std::fs::read(&file).unwrap() == before, "a reader changes no byte");
        check(&Store::open(&directory).unwrap());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_migration_that_is_cut_off_anywhere_loses_nothing() {
        let whole = Backend::default();
        begin(&whole.database().unwrap()).unwrap();
        let old = whole.image(1);
        let mut cuts = 0;
        loop {
            let disk = Backend::holding_until(old.clone(), cuts, Cut::Power);
            let open = disk.open().is_ok();
            for survivor in 0..5 {
                check(&Backend::holding(disk.image(survivor)).open().unwrap());
            }
            if open {
                break;
            }
            cuts += 1;
        }
        assert!(cuts > 5, "{cuts} operations are too few to mean anything");
    }

    #[test]
    fn damaged_records_of_format_1_are_refused() {
        let disk = Backend::default();
        let database = disk.database().unwrap();
        begin(&database).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(OLD_JOURNAL).unwrap().insert(3, [9, 9].as_slice()).unwrap();
        transaction.commit().unwrap();
        drop(database);
        let refused = disk.open().unwrap_err();
        assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
    }

    #[test]
    fn a_new_run_does_not_begin_over_one_of_format_1() {
        let database = Backend::default().database().unwrap();
        begin(&database).unwrap();
        let begun = super::super::meta::begin(&database, Path::new("disk"), &json!({}));
        assert!(matches!(begun, Err(StoreError::HoldsRun(path)) if path == PathBuf::new()));
    }
}
