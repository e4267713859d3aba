//! The store in a process of its own that is killed, or that runs out of room, in the midst of
//! writing. The test starts itself again as that process: `ARGIOPE_TEST_STORE` then names the
//! directory.

#[path = "store/scratch.rs"]
mod scratch;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;

use argiope_controller::journal::Fact;
use argiope_controller::spent::WriterId;
use argiope_explore::chance::Chance;
use argiope_explore::id::StateKey;
use argiope_runtime::store::{Batch, FoundPage, Store, StoreError, WriterEvent};
use scratch::Scratch;
use serde_json::json;

const STORE: &str = "ARGIOPE_TEST_STORE";

/// What the process writes as its nth record; every third brings a state and its page along.
fn batch(number: u64) -> Batch {
    let mut batch = Batch::of_facts(vec![Fact::Spent {
        writer: WriterId::LONE,
        actions: number,
        resets: number / 3,
    }]);
    if number.is_multiple_of(3) {
        let found =
            FoundPage { source: source(number), title: number.to_string(), ..FoundPage::default() };
        batch.states.push((StateKey(number.into()), found));
    }
    batch
}

fn source(number: u64) -> Vec<u8> {
    let mut chance = Chance::new(&[number]);
    (0..chance.below(20_000)).map(|_| chance.below(256) as u8).collect()
}

/// The other process: appends without end, and says on standard output how many records are on
/// disk.
fn write_without_end(directory: &Path) {
    let store = if directory.exists() {
        Store::open(directory)
    } else {
        Store::create(directory, &json!({}))
    };
    let store = store.unwrap();
    let before = store.length().unwrap();
    let (tell, told) = mpsc::channel();
    let report = move |progress| {
        if let WriterEvent::Durable(ticket) = progress {
            // The test may be over and read no more.
            let _ = writeln!(std::io::stdout(), "durable {}", before + ticket);
        }
        tell.send(progress).unwrap();
    };
    let writer = store.writer(report).unwrap();
    let mut durable = before;
    for number in before.. {
        // As a crawl does, with a few jobs under way: else the disk would get megabytes at a time.
        while number >= durable + 8 {
            match told.recv().unwrap() {
                WriterEvent::Durable(ticket) => durable = before + ticket,
                WriterEvent::Failed(error) => {
                    println!("failed {error}");
                    return;
                }
            }
        }
        // A refusal has its reason in the report that comes next.
        let _ = writer.append(batch(number));
    }
}

/// The process that this one is to be, if it was started by a test.
fn is_the_other_process() -> bool {
    let Some(directory) = std::env::var_os(STORE) else { return false };
    write_without_end(Path::new(&directory));
    true
}

/// The other process; it does not outlive the test, however that ends.
struct Other(Child);

impl Other {
    fn kill(&mut self) {
        // There is nothing to kill if it has ended by itself.
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts the other process out of the named test, by way of a shell line that ends in `exec "$@"`.
fn start(test: &str, directory: &Path, line: &str) -> (Other, BufReader<ChildStdout>) {
    let mut child = Command::new("sh")
        .args(["-c", line, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(STORE, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (Other(child), output)
}

/// How many records a line of the other process acknowledges, if it is one of these. The name of
/// the test stands before the first one.
fn acknowledged(line: &str) -> Option<u64> {
    line.split_once("durable ")?.1.parse().ok()
}

/// Checks that the store holds the first records and what belongs to them; gives how many.
fn check(store: &Store) -> u64 {
    let mut count = 0;
    for record in store.facts().unwrap() {
        let expected = batch(count);
        assert_eq!(record.unwrap(), expected.facts[0]);
        for (key, found) in &expected.states {
            let detail = store.detail(*key).unwrap().expect("a state is there with its record");
            assert_eq!(detail.title, found.title);
            assert_eq!(store.blob(detail.source).unwrap().as_ref(), Some(&found.source));
        }
        count += 1;
    }
    assert_eq!(store.states().unwrap().count() as u64, count.div_ceil(3));
    count
}

#[test]
fn killed_at_any_moment_it_goes_on_from_what_was_acknowledged() {
    if is_the_other_process() {
        return;
    }
    let test = "killed_at_any_moment_it_goes_on_from_what_was_acknowledged";
    let scratch = Scratch::new();
    let directory = scratch.path("run");
    let mut chance = Chance::new(&[20]);
    let mut there = 0;
    for round in 0..20 {
        let (mut other, output) = start(test, &directory, r#"exec "$@""#);
        let mut lines = output.lines().map(Result::unwrap);
        let patience = 1 + chance.below(60);
        let seen = lines.by_ref().filter_map(|line| acknowledged(&line)).take(patience).last();
        assert!(seen > Some(there), "round {round}: {seen:?} after {there}");
        assert!(matches!(Store::open(&directory), Err(StoreError::InUse(_))), "round {round}");
        assert!(matches!(Store::read(&directory), Err(StoreError::InUse(_))), "round {round}");
        other.kill();
        let last = lines.filter_map(|line| acknowledged(&line)).last().max(seen).unwrap();
        there = check(&Store::read(&directory).unwrap());
        assert!(there >= last, "round {round}: {there} of {last}");
    }
    assert_eq!(check(&Store::open(&directory).unwrap()), there);
}

#[test]
fn out_of_room_it_ends_with_a_sentence_and_goes_on_once_there_is_room() {
    if is_the_other_process() {
        return;
    }
    let test = "out_of_room_it_ends_with_a_sentence_and_goes_on_once_there_is_room";
    let scratch = Scratch::new();
    let directory: PathBuf = scratch.path("run");
    // A limit on the size of files, in units of 512 bytes or 1 KB: the only full disk that every
    // machine can offer. The signal that comes with it is ignored, so that the write fails instead.
    let (_other, output) = start(test, &directory, r#"trap '' XFSZ; ulimit -f 6000; exec "$@""#);
    let lines: Vec<String> = output.lines().map(Result::unwrap).collect();
    let last = lines.iter().rev().find_map(|line| acknowledged(line)).unwrap();
    let failure = lines.iter().find_map(|line| line.strip_prefix("failed ")).unwrap();
    assert!(failure.starts_with("the disk is full: "), "{failure}");
    let there = check(&Store::read(&directory).unwrap());
    assert!(there >= last && there > 0, "{there} of {last}");

    let (mut other, output) = start(test, &directory, r#"exec "$@""#);
    let mut lines = output.lines().map(Result::unwrap);
    let more = lines.find_map(|line| acknowledged(&line));
    other.kill();
    assert!(more > Some(there));
    assert!(Some(check(&Store::open(&directory).unwrap())) >= more);
}
