//! Browsers that die or grow too large during a crawl: the crawl continues with a new one.

use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use argiope_browser::LaunchSettings;
use argiope_browser::agent::Raw;
use argiope_controller::job::Job;
use argiope_explore::id::StateKey;
use argiope_explore::identity;
use argiope_explore::page::Page;
use argiope_runtime::browsers::{BrowserFactory, Browsers};
use argiope_runtime::crawl::CrawlSummary;
use argiope_runtime::crawler::{Crawler, Details};
use argiope_runtime::executor::{
    CrawlContext, JobSource, NotBegun, PoolEvent, PoolEvents, TabTask, TabWork, WorkResult,
    WorkerPool, agent_settings, drive_tab,
};
use argiope_runtime::learned::TRUSTED;
use argiope_runtime::login::session::LoginSession;
use argiope_runtime::page_index::{PageIndex, SharedPageIndex};
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{OfferDetail, Store};
use argiope_sites::Server;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::other::{browsers_in, kill, processes_with};
use crate::pages::Pages;
use crate::real::{Model, Place, executable, model, records, run};

/// A guard against a crawl that does nothing.
const PATIENCE: Duration = Duration::from_secs(120);

fn crawled(settings: &CrawlSettings, place: &Place) -> (CrawlSummary, Model) {
    let summary = run(settings, &place.path("run")).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert!(processes_with(place.profiles()).is_empty(), "browsers are left");
    (summary, model(&records(&place.path("run"))))
}

#[test]
fn killed_browsers_are_replaced_and_the_model_is_the_same() {
    let pages = Pages::start(Duration::ZERO);
    let settings = CrawlSettings { tabs: 2, ..CrawlSettings::new(pages.url("switches?count=6")) };
    let (_, expected) = crawled(&settings, &Place::new());
    assert_eq!((expected.states.len(), expected.transitions.len()), (64, 384));
    pages.take();
    let place = Place::new();
    let killer = || {
        for moment in [30, 150] {
            let started = Instant::now();
            while pages.count() < moment || browsers_in(place.profiles()).is_empty() {
                assert!(started.elapsed() < PATIENCE, "nothing happens");
                thread::sleep(Duration::from_millis(1));
            }
            // A browser that a script starts has two processes; the script may have ended first.
            let killed = browsers_in(place.profiles()).into_iter().filter(|browser| kill(*browser));
            assert!(killed.count() > 0);
        }
    };
    let (summary, found) = thread::scope(|scope| {
        scope.spawn(killer);
        crawled(&settings, &place)
    });
    let browsers = thread::available_parallelism().unwrap().get().min(2);
    assert_eq!(summary.browsers_replaced as usize, 2 * browsers);
    assert_eq!(summary.failed(), 0);
    assert!(found == expected);
}

#[test]
fn a_browser_that_grew_past_its_limit_is_replaced_and_the_model_is_the_same() {
    // Slow enough that its memory is looked at more than once.
    let pages = Pages::start(Duration::from_millis(30));
    let settings = CrawlSettings::new(pages.url("switches?count=6"));
    let small = CrawlSettings { browser_mb: 1, ..settings.clone() };
    let place = Place::new();
    let (summary, found) = crawled(&small, &place);
    assert!(summary.browsers_replaced > 0, "{summary:?}");
    assert_eq!(summary.failed(), 0);
    let (_, expected) = crawled(&settings, &Place::new());
    assert!(found == expected);
}

/// Opens a tab and then panics.
struct PanickingJobs;

impl JobSource for PanickingJobs {
    async fn next_work(&mut self, _: bool) -> Option<TabWork> {
        Some(TabWork::Open)
    }

    async fn prepare(&mut self, _: &Job, _: &Crawler) -> Result<(), NotBegun> {
        Ok(())
    }

    fn report(&mut self, result: WorkResult, _: Option<&Crawler>) {
        panic!("as this test wants: {result:?}");
    }
}

/// No state is known.
struct NoDetails;

impl Details for NoDetails {
    fn offers(&self, _: StateKey) -> Option<(Raw, Vec<OfferDetail>)> {
        None
    }

    fn page(&self, _: StateKey) -> Option<Page> {
        None
    }
}

#[test]
fn the_pool_reports_tabs_that_panic_on_every_thread() {
    let pages = Pages::start(Duration::ZERO);
    let settings = CrawlSettings { tabs: 2, ..CrawlSettings::new(pages.url("switches?count=2")) };
    let place = Place::new();
    let context = CrawlContext {
        session: Arc::new(LoginSession::new(&settings).unwrap()),
        agent: agent_settings(&settings, "secret".to_owned(), Vec::new()).unwrap(),
        pages: SharedPageIndex::new(PageIndex::new(
            identity::find("content").unwrap(),
            settings.brakes(),
        )),
        details: Arc::new(NoDetails),
        seeds: Arc::default(),
        screenshots: false,
    };
    let launch = LaunchSettings::new(executable(), place.profiles().to_owned());
    let (panicked, mut panics) = mpsc::unbounded_channel();
    let events: PoolEvents = Arc::new(move |event| match event {
        PoolEvent::Panicked => panicked.send(()).unwrap(),
        PoolEvent::NotStarted(error) | PoolEvent::NotReplaced(error) => panic!("{error}"),
    });
    let task = |_| -> TabTask {
        let context = context.clone();
        Box::new(|browsers| {
            Box::pin(async move {
                drive_tab(&browsers, &context, &mut None, &mut PanickingJobs).await;
            })
        })
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let browsers =
            Browsers::launch(Arc::new(BrowserFactory::new(launch, u64::MAX))).await.unwrap();
        let pool = WorkerPool::start(Rc::new(browsers), settings.tabs).unwrap();
        let running = pool.run((0..2).map(task).collect(), &events);
        for _ in 0..2 {
            panics.recv().await.unwrap();
        }
        running.close().await;
    });
    assert!(processes_with(place.profiles()).is_empty(), "browsers are left");
}

/// In a ring another crawler may have found out that only the browser's own input opens a menu.
#[test]
fn a_crawler_sent_through_a_menu_that_only_a_pointer_opens_learns_how() {
    let server = Server::start("hover").unwrap();
    let place = Place::new();
    let settings = CrawlSettings::new(server.url());
    let first = CrawlSettings { max_actions: Some(1), ..settings.clone() };
    let summary = run(&first, &place.path("run")).unwrap();
    assert_eq!(
        (summary.progress.states, summary.progress.transitions),
        (2, 1),
        "the menu was opened"
    );
    Store::open(&place.path("run")).unwrap().put(TRUSTED, b"[]").unwrap();
    let (summary, found) = crawled(&settings, &place);
    assert_eq!((summary.failed(), summary.nondeterministic), (0, 0));
    assert_eq!((found.states.len(), found.transitions.len()), (4, 4));
}
