//! Runs a target: replays inputs, or changes them for a while and keeps those that reach something
//! new. A panic is caught and reported with the input that caused it, made as small as possible.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::frames;
use crate::mutator::Mutator;
use crate::reached::Reached;
use crate::targets::FuzzTarget;

/// How many bytes of inputs are kept in memory.
const MOST_KEPT_BYTES: usize = 64 << 20;
/// How many smaller inputs are tried for an input that fails.
const MOST_SHRINKS: usize = 2_000;
/// An input that takes this long hangs. Far more than a loaded machine needs.
const HANGS: Duration = Duration::from_secs(60);
/// A longer input is printed only in part; its file has all of it.
const MOST_SHOWN: usize = 4 << 10;

/// What a run has done.
#[derive(Clone, Debug)]
pub struct FuzzSummary {
    /// The name of the target.
    pub target: &'static str,
    /// The seed of the mutations.
    pub seed: u64,
    /// How many inputs were executed.
    pub executed: u64,
    /// How many of them reached something new.
    pub kept: usize,
    /// The time of the slowest one.
    pub slowest: Duration,
    /// How long the run took.
    pub took: Duration,
}

impl fmt::Display for FuzzSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, seed, executed, kept, slowest, took } = self;
        write!(
            f,
            "fuzz {target}: {executed} inputs in {took:.1?}, {kept} kept, slowest {slowest:.1?}, \
             seed {seed}"
        )
    }
}

/// An input that a target does not survive.
#[derive(Clone, Debug)]
pub struct FuzzFailure {
    /// The name of the target.
    pub target: &'static str,
    /// What the panic says, and where it is.
    pub message: String,
    /// The input.
    pub input: Vec<u8>,
    /// Where the input was written to.
    pub file: Option<PathBuf>,
}

impl FuzzFailure {
    fn new(target: &FuzzTarget, input: &[u8], message: String) -> Self {
        let name = format!("argiope-fuzz-{}-{:016x}", target.name, hash(input));
        let path = std::env::temp_dir().join(name);
        let file = std::fs::write(&path, input).is_ok().then_some(path);
        Self { target: target.name, message, input: input.to_vec(), file }
    }
}

impl fmt::Display for FuzzFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, message, input, file } = self;
        writeln!(f, "the target {target} fails: {message}")?;
        writeln!(f, "input of {} bytes: {}", input.len(), hex(input))?;
        let replay = format!("cargo run -p argiope-fuzz --example replay -- {target}");
        match file {
            Some(path) => write!(f, "replay it: {replay} {}", path.display()),
            None => write!(f, "replay it: {replay} {}", hex(input)),
        }
    }
}

/// Bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().take(MOST_SHOWN) {
        _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > MOST_SHOWN {
        text.push('…');
    }
    text
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

thread_local! {
    /// The last panic of this thread while a target runs in it.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static RUNS: RefCell<bool> = const { RefCell::new(false) };
}

/// Keeps panics of targets off the screen: mutated inputs may cause thousands while one shrinks.
fn catch_panics_quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if RUNS.with_borrow(|runs| *runs) {
                // The first one: a second one may only say that a task has panicked.
                PANIC.with_borrow_mut(|panic| _ = panic.get_or_insert_with(|| info.to_string()));
            } else {
                before(info);
            }
        }));
    });
}

/// Runs one input. An error is what a panic says, and where it is.
pub fn run_input(target: &FuzzTarget, input: &[u8]) -> Result<Reached, String> {
    catch_panics_quietly();
    PANIC.set(None);
    RUNS.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    RUNS.set(false);
    ended.map_err(|payload| PANIC.take().unwrap_or_else(|| said(payload.as_ref())))
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_owned()
}

/// Runs inputs as they are.
pub fn replay<'a>(
    target: &FuzzTarget,
    inputs: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(), Box<FuzzFailure>> {
    for input in inputs {
        run_input(target, input)
            .map_err(|message| Box::new(FuzzFailure::new(target, input, message)))?;
    }
    Ok(())
}

/// Changes the inputs of a corpus for a while, and keeps in memory what reaches something new.
pub fn mutate_for(
    target: &'static FuzzTarget,
    corpus: &[Vec<u8>],
    seed: u64,
    time: Duration,
) -> Result<FuzzSummary, Box<FuzzFailure>> {
    let began = Instant::now();
    let watchdog = Watchdog::start(target);
    let mut mutator = Mutator::new(seed, target.framed, target.tokens);
    let mut run = Run { target, watchdog, corpus: Vec::new(), bytes: 0, seen: BTreeSet::new() };
    let (mut executed, mut kept, mut slowest) = (0, 0, Duration::ZERO);
    for input in corpus {
        run.take(input.clone())?;
        // A seed belongs to the corpus even if it reaches nothing new.
        if run.corpus.last() != Some(input) {
            run.keep(input.clone());
        }
    }
    if run.corpus.is_empty() {
        run.keep(Vec::new());
    }
    while began.elapsed() < time {
        let input = mutator.choose(&run.corpus);
        let other = mutator.choose(&run.corpus);
        let mutated = mutator.mutate(input, other);
        let since = Instant::now();
        kept += usize::from(run.take(mutated)?);
        slowest = slowest.max(since.elapsed());
        executed += 1;
    }
    Ok(FuzzSummary { target: target.name, seed, executed, kept, slowest, took: began.elapsed() })
}

/// A run in progress.
struct Run {
    target: &'static FuzzTarget,
    watchdog: Watchdog,
    corpus: Vec<Vec<u8>>,
    bytes: usize,
    seen: BTreeSet<u64>,
}

impl Run {
    /// Runs an input. Returns whether it is kept.
    fn take(&mut self, input: Vec<u8>) -> Result<bool, Box<FuzzFailure>> {
        self.watchdog.begin(&input);
        let ended = run_input(self.target, &input);
        self.watchdog.end();
        let reached = match ended {
            Ok(reached) => reached,
            Err(message) => {
                let input = shrink(self.target, input, &message);
                return Err(Box::new(FuzzFailure::new(self.target, &input, message)));
            }
        };
        let before = self.seen.len();
        self.seen.extend(reached.outcomes());
        let is_new = self.seen.len() > before;
        if is_new {
            self.keep(input);
        }
        Ok(is_new)
    }

    fn keep(&mut self, input: Vec<u8>) {
        if self.bytes + input.len() <= MOST_KEPT_BYTES {
            self.bytes += input.len();
            self.corpus.push(input);
        }
    }
}

/// Removes pieces of an input as long as the same place panics.
fn shrink(target: &FuzzTarget, mut input: Vec<u8>, message: &str) -> Vec<u8> {
    let place = |message: &str| message.lines().next().unwrap_or_default().to_owned();
    let expected = place(message);
    let mut tries = 0;
    let mut fails = |smaller: &[u8]| {
        tries += 1;
        tries <= MOST_SHRINKS
            && run_input(target, smaller).is_err_and(|message| place(&message) == expected)
    };
    if target.framed {
        let mut list = frames::split(&input);
        let mut at = list.len();
        while at > 0 {
            at -= 1;
            let removed = list.remove(at);
            if fails(&frames::join(&list)) {
                input = frames::join(&list);
            } else {
                list.insert(at, removed);
            }
        }
    }
    let mut size = input.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < input.len() {
            let upto = (at + size).min(input.len());
            let smaller = [&input[..at], &input[upto..]].concat();
            if fails(&smaller) {
                input = smaller;
            } else {
                at = upto;
            }
        }
        size /= 2;
    }
    input
}

/// The input that is running, and since when.
type RunningInput = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// Ends the process if an input hangs: no other way leads out of an endless loop.
struct Watchdog {
    running: RunningInput,
    /// Dropping it ends the thread.
    _alive: mpsc::Sender<()>,
}

impl Watchdog {
    fn start(target: &'static FuzzTarget) -> Self {
        let running = RunningInput::default();
        let (alive, ended) = mpsc::channel();
        let watched = Arc::clone(&running);
        std::thread::spawn(move || {
            while ended.recv_timeout(HANGS / 10) == Err(RecvTimeoutError::Timeout) {
                let running = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((since, input)) = &*running
                    && since.elapsed() > HANGS
                {
                    let message = format!("it takes more than {HANGS:?}");
                    eprintln!("{}", FuzzFailure::new(target, input, message));
                    std::process::exit(101);
                }
            }
        });
        Self { running, _alive: alive }
    }

    fn begin(&self, input: &[u8]) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, copy) = running.get_or_insert_with(|| (Instant::now(), Vec::new()));
        *since = Instant::now();
        copy.clear();
        copy.extend_from_slice(input);
    }

    fn end(&self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_INPUT;

    fn fails_at_a_number(input: &[u8]) -> Reached {
        let mut reached = Reached::default();
        reached.note(input.first());
        assert!(!input.windows(2).any(|pair| pair == [0xff, 0xff]), "two bytes of 255");
        reached
    }

    fn survives(input: &[u8]) -> Reached {
        let mut reached = Reached::default();
        reached.accept(input.len() / 8);
        reached
    }

    const FAILS: FuzzTarget = FuzzTarget {
        name: "fails",
        about: "",
        framed: false,
        tokens: &[],
        run: fails_at_a_number,
        seeds: Vec::new,
    };
    const SURVIVES: FuzzTarget = FuzzTarget { name: "survives", run: survives, ..FAILS };

    #[test]
    fn a_fault_is_found_made_small_and_can_be_replayed() {
        let corpus = vec![vec![1; 100]];
        let failure = mutate_for(&FAILS, &corpus, 1, HANGS).expect_err("it finds the fault");
        assert_eq!(failure.input, [0xff, 0xff]);
        let text = failure.to_string();
        assert!(text.contains("two bytes of 255") && text.contains("input of 2 bytes: ffff"));
        let file = failure.file.expect("it was written");
        assert!(text.contains(&format!("--example replay -- fails {}", file.display())));
        let read = std::fs::read(&file).expect("it is there");
        assert!(replay(&FAILS, [read.as_slice()]).is_err());
        std::fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn inputs_that_reach_something_new_are_kept() {
        let corpus = vec![vec![1; 10]];
        let summary =
            mutate_for(&SURVIVES, &corpus, 1, Duration::from_millis(50)).expect("it survives");
        assert!(summary.executed > 0 && summary.kept > 2, "{summary}");
        assert!(summary.kept <= MAX_INPUT / 8 + 1);
    }
}
