//! What the store costs: per commit, per step of a crawl, on disk, to open and in memory. Prints
//! the figures of `docs/decisions/0007-store.md`. Takes the directory to write into (about 300 MB),
//! which must not exist. Reads its own processor time and memory from `/proc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use argiope_controller::journal::Fact;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::page::{Kind, Offer, Page, PageNode};
use argiope_runtime::store::{Batch, FILE, FoundPage, OfferDetail, Store, WriterEvent};
use serde_json::json;

const STATES: u64 = 5_000;
const TRANSITIONS: u64 = 500_000;

fn main() {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("store-cost: takes the directory to write into");
        std::process::exit(2);
    };
    fs::create_dir(&directory).expect("the directory must not exist");
    commits(&directory);
    for step in [500, 1000, 4000] {
        steps(&directory, Duration::from_micros(step));
    }
    whole(&directory);
}

/// A transition between random states, as long as any.
fn transition(chance: &mut Chance) -> Fact {
    let mut key = || StateKey(u128::from(chance.word()) << 64 | u128::from(chance.word()));
    let (from, to) = (key(), key());
    Fact::Transition { from, action: ActionSignature(chance.word()), to, notes: vec![] }
}

/// A state as a middling application has it: 400 nodes, 60 actions, all pages alike but for a list.
fn found(number: u64) -> (StateKey, FoundPage) {
    let mut chance = Chance::new(&[number]);
    let mut source =
        String::from("<!doctype html><html><head><title>App</title></head><body><div id=app>");
    let (mut nodes, mut offers, mut details) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..200_u32 {
        let word = if index < 150 {
            u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        } else {
            chance.word()
        };
        let text = format!("entry {word:x} of the list");
        let class = format!("item item--{} js-{:x}", index % 7, word >> 40);
        source +=
            &format!("<li class=\"{class}\"><button data-id=\"{word}\">{text}</button></li>\n");
        let attributes = vec![("class".into(), class), ("data-id".into(), word.to_string())];
        nodes.push(PageNode {
            depth: 4,
            tag: "li".into(),
            text: String::new(),
            attributes,
            visible: true,
        });
        nodes.push(PageNode {
            depth: 5,
            tag: "#text".into(),
            text: text.clone(),
            attributes: vec![],
            visible: true,
        });
        if index % 3 == 0 {
            let place = format!("0/1/{index}/0");
            let (argument, kind) = (String::new(), Kind::Click);
            offers.push(Offer {
                kind,
                node: index,
                onto: None,
                argument: argument.clone(),
                place: place.clone(),
            });
            details.push(OfferDetail {
                signature: ActionSignature(word),
                kind,
                argument,
                label: text,
                place,
                allowed: false,
            });
        }
    }
    let url = format!("http://localhost/app#/{number}");
    let page = Page { url: url.clone(), title: "App".into(), nodes, offers };
    let (title, source) = (page.title.clone(), source.into_bytes());
    let raw = chance.word().into();
    let key = StateKey(u128::from(chance.word()) << 64 | u128::from(number));
    (
        key,
        FoundPage {
            url,
            title,
            found_at: 1,
            raw,
            source,
            page,
            offers: details,
            ..FoundPage::default()
        },
    )
}

/// Durable commits of some transitions each.
fn commits(directory: &Path) {
    let store = Store::create(&directory.join("commits"), &json!({})).unwrap();
    let mut chance = Chance::new(&[1]);
    for size in [1, 10, 100] {
        let rounds = 500;
        let (start, cpu) = (Instant::now(), processor());
        for _ in 0..rounds {
            let records = (0..size).map(|_| transition(&mut chance)).collect();
            store.commit(&[Batch::of_facts(records)]).unwrap();
        }
        let commit = start.elapsed() / rounds;
        println!(
            "commits of {size:3}: {commit:8.1?} each, {:8.1?} a transition; processor {:.1?} each",
            commit / size,
            (processor() - cpu) / rounds
        );
    }
}

/// A crawl's thread that appends a transition per step, each twentieth with a new state.
fn steps(directory: &Path, step: Duration) {
    let name = format!("steps-{}", step.as_micros());
    let store = Store::create(&directory.join(name), &json!({})).unwrap();
    let commits = Arc::new(AtomicU64::new(0));
    let counted = commits.clone();
    let writer = store.writer(move |progress| match progress {
        WriterEvent::Durable(_) => drop(counted.fetch_add(1, Ordering::Relaxed)),
        WriterEvent::Failed(error) => panic!("{error}"),
    });
    let writer = writer.unwrap();
    let mut chance = Chance::new(&[2]);
    let mut costs = Vec::new();
    let mut batches: Vec<Batch> = (0..2000)
        .map(|number| Batch {
            facts: vec![transition(&mut chance)],
            states: if number % 20 == 0 { vec![found(number)] } else { vec![] },
            ..Batch::default()
        })
        .rev()
        .collect();
    let (start, cpu) = (Instant::now(), processor());
    while let Some(batch) = batches.pop() {
        let before = Instant::now();
        writer.append(batch).unwrap();
        costs.push(before.elapsed());
        std::thread::sleep(step.saturating_sub(before.elapsed()));
    }
    writer.close().unwrap();
    let (wall, used) = (start.elapsed(), processor() - cpu);
    costs.sort();
    let mean = costs.iter().sum::<Duration>() / costs.len() as u32;
    println!(
        "steps of {step:?}: append {mean:.1?} on average, {:.1?} median, {:.1?} at most; {} commits for {} appends in \
         {wall:.2?}; processor {:.1} % of one core",
        costs[costs.len() / 2],
        costs.last().unwrap(),
        commits.load(Ordering::Relaxed),
        costs.len(),
        100.0 * used.as_secs_f64() / wall.as_secs_f64()
    );
}

/// A whole crawl's worth, and what it is to open and read that.
fn whole(directory: &Path) {
    let run = directory.join("whole");
    let file = run.join(FILE);
    let store = Store::create(&run, &json!({})).unwrap();
    let mut chance = Chance::new(&[3]);
    let write = |batches: &mut dyn Iterator<Item = Batch>| {
        let (start, cpu) = (Instant::now(), processor());
        let writer =
            store.writer(|progress| assert!(matches!(progress, WriterEvent::Durable(_)))).unwrap();
        for batch in batches {
            writer.append(batch).unwrap();
        }
        writer.close().unwrap();
        (start.elapsed(), processor() - cpu)
    };
    let empty = size(&file);
    let mut transitions = (0..TRANSITIONS).map(|_| Batch::of_facts(vec![transition(&mut chance)]));
    let (wall, cpu) = write(&mut transitions);
    let with_transitions = size(&file);
    println!("{TRANSITIONS} transitions as fast as they go: {wall:.2?}, processor {cpu:.2?}");
    let plain: usize = (0..100).map(|number| found(number).1.source.len()).sum::<usize>() / 100;
    let mut states =
        (0..STATES).map(|number| Batch { states: vec![found(number)], ..Batch::default() });
    let (wall, cpu) = write(&mut states);
    let with_states = size(&file);
    println!("{STATES} states with sources of {plain} bytes: {wall:.2?}, processor {cpu:.2?}");
    println!(
        "on disk: {} bytes a transition, {} bytes a state, {} MB in all ({} KB when empty)",
        (with_transitions - empty) / TRANSITIONS,
        (with_states - with_transitions) / STATES,
        with_states >> 20,
        empty >> 10
    );
    println!("memory so far: {}", memory());
    let killed = directory.join("killed");
    fs::create_dir(&killed).unwrap();
    fs::copy(&file, killed.join(FILE)).unwrap();
    drop(store);
    println!("closed: {} MB", size(&file) >> 20);
    for (what, run) in [("closed", &run), ("killed", &killed)] {
        let start = Instant::now();
        let store = Store::read(run).unwrap();
        let opened = start.elapsed();
        let count = store.facts().unwrap().map(Result::unwrap).count();
        println!(
            "to read, {what}: {opened:.1?} to open, {count} records in {:.1?}",
            start.elapsed() - opened
        );
        drop(store);
        let start = Instant::now();
        drop(Store::open(run).unwrap());
        println!("to go on, {what}: {:.1?} to open and close", start.elapsed());
    }
    println!("memory at most: {}", memory());
}

/// The bytes that a file takes, without its holes.
fn size(file: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).unwrap().blocks() * 512
}

/// The processor time of this process so far, in the hundredths of a second that the system counts
/// in.
fn processor() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap();
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// The most memory that this process has used so far.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim().to_owned()
}
