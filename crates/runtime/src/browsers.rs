//! The browser of one thread. It is replaced when it has died or grown too large. Tabs in the old
//! browser finish their job first; it ends with the last of them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use argiope_browser::agent::AgentSettings;
use argiope_browser::tab::{Tab, TabError};
use argiope_browser::{Border, Browser, LaunchError, LaunchSettings, OpenedTab};
use tokio::sync::Mutex;

/// Starts the browsers of one process, and keeps what holds for all of them on any thread.
pub struct BrowserFactory {
    settings: LaunchSettings,
    /// A browser that takes more memory than this, in bytes, is replaced.
    limit: u64,
    replaced: AtomicU32,
    /// Whether tabs make frames. Pages run faster without, so that tabs make none until a page
    /// needs one.
    frames: AtomicBool,
    /// The border of the only crawl of the process, if there is only one.
    border: OnceLock<Arc<Border>>,
}

impl BrowserFactory {
    /// A factory that has started no browser.
    pub fn new(settings: LaunchSettings, limit: u64) -> Self {
        Self {
            settings,
            limit,
            replaced: AtomicU32::new(0),
            frames: AtomicBool::new(false),
            border: OnceLock::new(),
        }
    }

    /// All tabs of the process are for one crawl, so that they can be opened ahead of their use.
    pub fn serve(&self, border: Arc<Border>) {
        // A second crawl gets tabs that are opened when it needs them.
        let _ = self.border.set(border);
    }

    /// How often a browser was replaced.
    pub fn replaced(&self) -> u32 {
        self.replaced.load(Ordering::Relaxed)
    }

    /// From now on tabs make frames.
    pub fn make_frames(&self) {
        self.frames.store(true, Ordering::Relaxed);
    }

    fn makes_frames(&self) -> bool {
        self.frames.load(Ordering::Relaxed)
    }
}

/// The present browser of one thread.
pub struct Browsers {
    factory: Arc<BrowserFactory>,
    current: Mutex<Arc<Browser>>,
    /// Empty tabs opened ahead of their use.
    spare: RefCell<Vec<Spare>>,
}

struct Spare {
    browser: Arc<Browser>,
    opened: OpenedTab,
    frames: bool,
}

/// Why there is no tab.
#[derive(Debug, thiserror::Error)]
pub enum NoTab {
    /// The browser does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser starts, but opens no tab.
    #[error("the browser opens no tab: {0}")]
    Tab(#[from] TabError),
}

impl Browsers {
    /// Starts the first browser.
    pub async fn launch(factory: Arc<BrowserFactory>) -> Result<Self, LaunchError> {
        let first = Browser::launch(&factory.settings).await?;
        if !first.can_do_without_frames {
            factory.make_frames();
        }
        Ok(Self { factory, current: Mutex::new(Arc::new(first)), spare: RefCell::default() })
    }

    /// The factory of all browsers of the process.
    pub fn factory(&self) -> &Arc<BrowserFactory> {
        &self.factory
    }

    /// Opens empty tabs ahead of their use: it is the slowest step of a new tab.
    pub async fn open_ahead(self: Rc<Self>, tabs: u32) {
        // A tab opened ahead keeps its border.
        let Some(border) = self.factory.border.get() else { return };
        for _ in 0..tabs {
            let Ok(browser) = self.present().await else { return };
            let frames = self.factory.makes_frames();
            let Ok(opened) = browser.new_bounded_tab(frames, border).await else { return };
            self.spare.borrow_mut().push(Spare { browser, opened, frames });
        }
    }

    /// Notes why a tab is given up. Returns whether a tab that can do more must replace it.
    pub fn discard(&self, tab: &Tab) -> bool {
        if tab.lacks_frames() {
            self.factory.make_frames();
        }
        tab.must_be_exchanged()
    }

    /// Opens a tab, in a new browser if the present one has gone.
    pub async fn tab(&self, agent: AgentSettings) -> Result<Tab, NoTab> {
        for attempt in 0.. {
            let browser = self.present().await?;
            let agent = AgentSettings { frames: self.factory.makes_frames(), ..agent.clone() };
            let is_only =
                self.factory.border.get().is_some_and(|only| Arc::ptr_eq(only, &agent.border));
            let spare = is_only.then(|| self.take_spare(&browser, agent.frames)).flatten();
            let tab = match spare {
                Some(opened) => Tab::within(browser, opened, agent).await,
                None => Tab::open(browser, agent).await,
            };
            match tab {
                Err(error) if attempt >= 2 => return Err(error.into()),
                Err(_) => {}
                Ok(tab) => return Ok(tab),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// A tab that was opened ahead in this browser. Closes those of other browsers.
    fn take_spare(&self, browser: &Arc<Browser>, frames: bool) -> Option<OpenedTab> {
        loop {
            let spare = self.spare.borrow_mut().pop()?;
            if Arc::ptr_eq(&spare.browser, browser) && spare.frames == frames {
                return Some(spare.opened);
            }
            drop(spare.browser.close_context(&spare.opened.context));
        }
    }

    /// The browser to open tabs in.
    pub async fn present(&self) -> Result<Arc<Browser>, LaunchError> {
        let mut current = self.current.lock().await;
        if current.connection.closed().is_some() {
            *current = self.replacement().await?;
        }
        Ok(current.clone())
    }

    /// Replaces the present browser if it has grown past the limit.
    pub async fn watch_memory(&self) -> Result<(), LaunchError> {
        let mut current = self.current.lock().await;
        if current.memory() > self.factory.limit {
            *current = self.replacement().await?;
        }
        Ok(())
    }

    async fn replacement(&self) -> Result<Arc<Browser>, LaunchError> {
        let browser = Browser::launch(&self.factory.settings).await?;
        self.factory.replaced.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(browser))
    }

    /// Whether this is the present browser. It stays so until its replacement has started.
    pub fn is_present(&self, browser: &Arc<Browser>) -> bool {
        self.current.try_lock().map_or(true, |current| Arc::ptr_eq(&current, browser))
    }

    /// Ends the present browser at once.
    pub async fn close(self) {
        self.spare.take();
        if let Ok(browser) = Arc::try_unwrap(self.current.into_inner()) {
            browser.close().await;
        }
    }
}
