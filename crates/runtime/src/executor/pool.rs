//! The worker pool of a process: a thread and a browser for each core, or for each tab if there
//! are fewer. What one tab does wakes no thread that works for another tab (decision 22).
//! The pool must not know what tabs do.

use std::convert::Infallible;
use std::num::NonZero;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use argiope_browser::LaunchError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinSet, LocalSet};

use crate::browsers::{BrowserFactory, Browsers};

/// How often the memory of a browser is measured.
const MEMORY_CHECK: Duration = Duration::from_secs(5);

/// The work of one tab: made on any thread, run on the thread that has its browser.
pub type TabTask =
    Box<dyn FnOnce(Rc<Browsers>) -> Pin<Box<dyn Future<Output = ()>>> + Send + 'static>;

/// Called on any thread of the pool.
pub type PoolEvents = Arc<dyn Fn(PoolEvent) + Send + Sync>;

/// What happens to the pool itself.
#[derive(Debug)]
pub enum PoolEvent {
    /// The browser of a thread does not start; the tabs of that thread do not run.
    NotStarted(LaunchError),
    /// A browser has grown past its limit and cannot be replaced; it stays in use.
    NotReplaced(LaunchError),
    /// A tab panicked. Its work is never reported.
    Panicked,
}

/// Threads with browsers, before their tabs run. The first is the thread that made the pool.
pub struct WorkerPool {
    browsers: Rc<Browsers>,
    threads: Vec<BrowserThread>,
    tabs: u32,
}

impl WorkerPool {
    /// This thread has its browser; the other threads start theirs meanwhile.
    pub fn start(browsers: Rc<Browsers>, tabs: u32) -> std::io::Result<Self> {
        let threads =
            std::thread::available_parallelism().map_or(1, NonZero::get).min(tabs as usize);
        let thread = |number| {
            let tabs = share(tabs as usize, threads, number) as u32;
            BrowserThread::start(browsers.factory().clone(), tabs)
        };
        let threads = (1..threads).map(thread).collect::<Result<_, _>>()?;
        Ok(Self { browsers, threads, tabs })
    }

    /// How many tabs run on this thread.
    pub fn tabs_here(&self) -> u32 {
        share(self.tabs as usize, self.threads.len() + 1, 0) as u32
    }

    /// Opens the tabs of this thread but the first, and waits for those of the other threads.
    /// A tab that cannot be opened now is opened when it is needed.
    pub async fn open_ahead(&mut self) {
        self.browsers.clone().open_ahead(self.tabs_here().saturating_sub(1)).await;
        for thread in &mut self.threads {
            let _ = (&mut thread.ready).await;
        }
    }

    /// Runs the tabs, dealt out to the threads in turn; the first runs on this thread.
    pub fn run(mut self, tabs: Vec<TabTask>, events: &PoolEvents) -> RunningPool {
        let threads = self.threads.len() + 1;
        let mut shares: Vec<Vec<TabTask>> = (0..threads).map(|_| Vec::new()).collect();
        for (at, task) in tabs.into_iter().enumerate() {
            shares[at % threads].push(task);
        }
        let (running, stop) = watch::channel(());
        let (idle, all_idle) = mpsc::channel(1);
        let mut shares = shares.into_iter();
        let mut next = || ThreadWork {
            tabs: shares.next().unwrap_or_default(),
            events: events.clone(),
            stop: stop.clone(),
            idle: idle.clone(),
        };
        let here = tokio::task::spawn_local(run_tabs(self.browsers, next()));
        for thread in &mut self.threads {
            if let Some(start) = thread.start.take() {
                // A thread that has ended has panicked, and the panic was printed.
                let _ = start.send(next());
            }
        }
        RunningPool { running: Some(running), all_idle, here, threads: self.threads }
    }
}

/// How many of `all` things one of several takers gets, if they are dealt out in turn.
fn share(all: usize, takers: usize, number: usize) -> usize {
    (all + takers - 1 - number) / takers
}

/// A pool whose tabs run. Dropping it ends the tabs and the threads too.
pub struct RunningPool {
    running: Option<watch::Sender<()>>,
    all_idle: mpsc::Receiver<Infallible>,
    here: tokio::task::JoinHandle<()>,
    threads: Vec<BrowserThread>,
}

impl RunningPool {
    /// Ends all tabs at once. Afterwards no tab reports anything.
    pub async fn stop_tabs(&mut self) {
        drop(self.running.take());
        self.all_idle.recv().await;
    }

    /// Ends all tabs, then closes all browsers.
    pub async fn close(mut self) {
        self.stop_tabs().await;
        let _ = self.here.await;
        drop(self.threads);
    }
}

/// What one thread runs.
struct ThreadWork {
    tabs: Vec<TabTask>,
    events: PoolEvents,
    /// Closed when the tabs must end.
    stop: watch::Receiver<()>,
    /// Dropped when they have ended.
    idle: mpsc::Sender<Infallible>,
}

/// Runs the tabs of one browser until the pool stops; then nothing of them is left.
async fn run_tabs(browsers: Rc<Browsers>, work: ThreadWork) {
    let ThreadWork { tabs, events, mut stop, idle } = work;
    let mut tasks = JoinSet::new();
    for tab in tabs {
        tasks.spawn_local(tab(browsers.clone()));
    }
    let first = tokio::time::Instant::now() + MEMORY_CHECK;
    let mut memory_check = tokio::time::interval_at(first, MEMORY_CHECK);
    loop {
        tokio::select! {
            changed = stop.changed() => if changed.is_err() { break },
            Some(Err(_)) = tasks.join_next() => events(PoolEvent::Panicked),
            _ = memory_check.tick() => if let Err(error) = browsers.watch_memory().await {
                events(PoolEvent::NotReplaced(error));
            },
        }
    }
    // Tabs close with their tasks.
    tasks.shutdown().await;
    drop((events, idle));
    if let Some(browsers) = Rc::into_inner(browsers) {
        browsers.close().await;
    }
}

/// A thread with a browser. Dropping it ends the thread and everything that it has started.
struct BrowserThread {
    ready: oneshot::Receiver<()>,
    start: Option<oneshot::Sender<ThreadWork>>,
    thread: Option<JoinHandle<()>>,
}

impl BrowserThread {
    /// Starts the browser and opens its tabs ahead of their use.
    fn start(factory: Arc<BrowserFactory>, tabs: u32) -> std::io::Result<Self> {
        let (announce, ready) = oneshot::channel();
        let (start, started) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("tabs".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, run_thread(factory, tabs, announce, started));
        })?;
        Ok(Self { ready, start: Some(start), thread: Some(thread) })
    }
}

impl Drop for BrowserThread {
    fn drop(&mut self) {
        self.start = None;
        if let Some(thread) = self.thread.take() {
            // A panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

async fn run_thread(
    factory: Arc<BrowserFactory>,
    tabs: u32,
    ready: oneshot::Sender<()>,
    started: oneshot::Receiver<ThreadWork>,
) {
    let browsers = Browsers::launch(factory).await.map(Rc::new);
    if let Ok(browsers) = &browsers {
        browsers.clone().open_ahead(tabs).await;
    }
    let _ = ready.send(());
    match (started.await, browsers) {
        (Ok(work), Ok(browsers)) => run_tabs(browsers, work).await,
        (Ok(work), Err(error)) => (work.events)(PoolEvent::NotStarted(error)),
        (Err(_), browsers) => {
            if let Some(browsers) = browsers.ok().and_then(Rc::into_inner) {
                browsers.close().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tab_is_on_one_thread() {
        for (tabs, threads) in [(1, 1), (2, 2), (8, 2), (7, 3), (5, 4)] {
            let shares: Vec<usize> =
                (0..threads).map(|number| share(tabs, threads, number)).collect();
            let taken = |number: usize| (0..tabs).filter(|tab| tab % threads == number).count();
            assert_eq!(shares, (0..threads).map(taken).collect::<Vec<_>>());
        }
    }
}
