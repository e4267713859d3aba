//! The browser that new tabs are opened in. It is replaced when it has died or grown too large; tabs in the
//! old one finish their job first, and it ends with the last of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use argiope_browser::agent::AgentSettings;
use argiope_browser::tab::{Tab, TabError};
use argiope_browser::{Browser, LaunchError, LaunchSettings, OpenedTab};
use tokio::sync::Mutex;

/// The present browser.
pub struct Browsers {
    settings: LaunchSettings,
    current: Mutex<Arc<Browser>>,
    /// More memory than this, in bytes, and it is replaced.
    limit: u64,
    replaced: Cell<u32>,
    /// Whether tabs make frames. A page that nobody draws is faster, so they do not until a page needs one.
    frames: Cell<bool>,
    /// Empty tabs opened ahead of their use.
    spare: RefCell<Vec<(Arc<Browser>, OpenedTab)>>,
}

/// Why there is no tab.
#[derive(Debug, thiserror::Error)]
pub enum NoTab {
    /// The browser does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser starts, but gives no tab.
    #[error("the browser gives no tab: {0}")]
    Tab(#[from] TabError),
}

impl Browsers {
    /// Starts the first one.
    pub async fn launch(settings: LaunchSettings, limit: u64) -> Result<Self, LaunchError> {
        let first = Browser::launch(&settings).await?;
        let frames = Cell::new(!first.can_do_without_frames());
        let (current, replaced) = (Mutex::new(Arc::new(first)), Cell::new(0));
        Ok(Self { settings, current, limit, replaced, frames, spare: RefCell::default() })
    }

    /// Opens empty tabs for later. It takes most of the time that a tab takes, and other things can be done
    /// meanwhile.
    pub async fn open_ahead(self: Rc<Self>, tabs: u32) {
        for _ in 0..tabs {
            let Ok(browser) = self.present().await else { return };
            let frames = self.frames.get();
            let Ok(opened) = browser.new_tab(frames).await else { return };
            // Meanwhile it may have turned out that they are needed.
            if frames == self.frames.get() {
                self.spare.borrow_mut().push((browser, opened));
            } else {
                browser.let_go(&opened.context);
            }
        }
    }

    /// From now on tabs make frames.
    pub fn make_frames(&self) {
        if !self.frames.replace(true) {
            for (browser, opened) in self.spare.take() {
                browser.let_go(&opened.context);
            }
        }
    }

    /// Takes in what a tab has shown that is not used any more; says whether one that makes frames is to take its place.
    pub fn discard(&self, tab: &Tab) -> bool {
        if tab.lacks_frames() {
            self.make_frames();
        }
        tab.lacks_frames()
    }

    /// Opens a tab, in a new browser if the present one has gone.
    pub async fn tab(&self, agent: AgentSettings) -> Result<Tab, NoTab> {
        for attempt in 0.. {
            let browser = self.present().await?;
            let agent = AgentSettings { frames: self.frames.get(), ..agent.clone() };
            let spare = self.spare.borrow_mut().pop();
            let tab = match spare {
                Some((of, opened)) if Arc::ptr_eq(&of, &browser) => Tab::within(browser, opened, agent).await,
                _ => Tab::open(browser, agent).await,
            };
            match tab {
                Err(error) if attempt >= 2 => return Err(error.into()),
                Err(_) => {}
                Ok(tab) => return Ok(tab),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// The browser to open tabs in.
    pub async fn present(&self) -> Result<Arc<Browser>, LaunchError> {
        let mut current = self.current.lock().await;
        if current.connection().closed().is_some() {
            *current = Arc::new(Browser::launch(&self.settings).await?);
            self.replaced.set(self.replaced.get() + 1);
        }
        Ok(current.clone())
    }

    /// Replaces the present browser if it has grown past the limit.
    pub async fn watch_memory(&self) -> Result<(), LaunchError> {
        let mut current = self.current.lock().await;
        if current.memory() > self.limit {
            *current = Arc::new(Browser::launch(&self.settings).await?);
            self.replaced.set(self.replaced.get() + 1);
        }
        Ok(())
    }

    /// Whether this is still the browser to work in. While another one is being started, it is.
    pub fn is_present(&self, browser: &Arc<Browser>) -> bool {
        self.current.try_lock().map_or(true, |current| Arc::ptr_eq(&current, browser))
    }

    /// How often a browser was replaced.
    pub fn replaced(&self) -> u32 {
        self.replaced.get()
    }

    /// Ends the present browser at once.
    pub async fn close(self) {
        self.spare.take();
        if let Ok(browser) = Arc::try_unwrap(self.current.into_inner()) {
            browser.close().await;
        }
    }
}
