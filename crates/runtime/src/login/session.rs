//! The session of a crawl with its application, as all tabs of a process share it. It loads the
//! address logged in: it logs in once, restores what the browser then kept at each reset, and logs
//! in again when the session has ended. It must not know of jobs and states.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_browser::access::{Access, SavedState};
use argiope_browser::agent::Raw;
use argiope_browser::tab::{LogInError, Tab, TabError, TabPosition};
use argiope_explore::quoted::{Escaped, Quoted};

use super::before_reset::BeforeReset;
use crate::address::without_logins;
use crate::settings::CrawlSettings;

/// Logins in a row that do not lead into the application, after which the crawl stops.
const MOST_LOGINS: u32 = 3;
/// Loads in a row for which a tab finds that the session has ended, before it leaves the job to
/// another one: other tabs may use up each new session.
const MOST_LOADS: u32 = 50;
/// The most pages that are known to belong to the application without matching `--logged-in`.
const MOST_PAGES: usize = 10_000;

/// The session of a crawl.
pub struct LoginSession {
    url: Arc<str>,
    access: Access,
    logged_in: Option<String>,
    before_reset: Option<BeforeReset>,
    present: Mutex<PresentSession>,
    /// One tab logs in at a time.
    logging_in: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct PresentSession {
    /// How often the session was begun.
    generation: u64,
    /// What a reset restores; `None` until a login.
    saved: Option<Arc<SavedState>>,
    /// Pages that belong to the application without matching `--logged-in`.
    pages: BTreeSet<Raw>,
    /// Why the crawl cannot go on.
    trouble: Option<String>,
}

impl LoginSession {
    /// The session of a crawl with these settings, before any login.
    pub fn new(settings: &CrawlSettings) -> Result<Self, String> {
        let login = &settings.login;
        let access = settings.access.clone();
        // Without steps the given state is the session.
        let saved = access.script.is_none().then(|| Arc::new(access.saved.clone()));
        Ok(Self {
            url: settings.url.as_str().into(),
            access,
            logged_in: login.logged_in.clone(),
            before_reset: login.before_reset.as_deref().map(BeforeReset::read).transpose()?,
            present: Mutex::new(PresentSession { saved, ..PresentSession::default() }),
            logging_in: tokio::sync::Mutex::default(),
        })
    }

    fn present(&self) -> MutexGuard<'_, PresentSession> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the crawl cannot go on: no login leads into the application, or its data cannot be put
    /// back.
    pub fn trouble(&self) -> Option<String> {
        self.present().trouble.clone()
    }

    /// Whether a page that does not match `--logged-in` belongs to the application all the same.
    pub fn is_inside(&self, raw: Raw) -> bool {
        self.present().pages.contains(&raw)
    }

    /// Loads the address in a tab, logged in. Returns the number of the session, too. If that is
    /// impossible, [`LoginSession::trouble`] says why.
    pub async fn load(&self, tab: &mut Tab) -> Result<(TabPosition, u64), TabError> {
        let mut in_vain = 0;
        for _ in 0..MOST_LOADS {
            let (generation, is_new) = self.enter(tab).await?;
            if let Some(before_reset) = &self.before_reset {
                before_reset.perform().await.map_err(|why| self.fail(why))?;
            }
            let position = tab.load(&self.url).await?;
            if !position.outside {
                return Ok((position, generation));
            }
            in_vain += u32::from(is_new);
            if self.access.script.is_none() || in_vain >= MOST_LOGINS {
                return Err(self.fail(self.outside()));
            }
            self.end(generation);
        }
        Err(TabError::LoggedOut)
    }

    /// Loads another address in a tab, logged in as far as that is known. A page that is outside is
    /// no failure: the address may not lead into the application.
    pub async fn load_at(
        &self,
        tab: &mut Tab,
        address: &str,
    ) -> Result<(TabPosition, u64), TabError> {
        let (generation, _) = self.enter(tab).await?;
        if let Some(before_reset) = &self.before_reset {
            before_reset.perform().await.map_err(|why| self.fail(why))?;
        }
        Ok((tab.load(address).await?, generation))
    }

    /// Why a load does not lead into the application.
    fn outside(&self) -> String {
        let selector = Quoted(self.logged_in.as_deref().unwrap_or_default()).to_string();
        if self.access.script.is_some() {
            format!(
                "{MOST_LOGINS} logins in a row did not last until {} was loaded: nothing there \
                 matches --logged-in {selector}",
                self.url
            )
        } else {
            format!(
                "nothing on {} matches --logged-in {selector}: the selector is wrong, or the \
                 session has ended and there is no --login to begin another",
                self.url
            )
        }
    }

    /// Gives the tab the present session, after a login if there is none. Returns its number, and
    /// whether this tab has logged in.
    async fn enter(&self, tab: &mut Tab) -> Result<(u64, bool), TabError> {
        if let Some(generation) = self.restore(tab) {
            return Ok((generation, false));
        }
        let _one = self.logging_in.lock().await;
        if let Some(generation) = self.restore(tab) {
            return Ok((generation, false));
        }
        let Some(script) = &self.access.script else { return Ok((0, false)) };
        let mut last = String::new();
        for _ in 0..MOST_LOGINS {
            if let Some(trouble) = self.trouble() {
                return Err(TabError::NotLoaded(trouble));
            }
            tab.restore(Arc::new(self.access.saved.clone()));
            match tab.log_in(&self.url, script).await {
                Ok(saved) => {
                    let mut present = self.present();
                    present.generation += 1;
                    present.saved = Some(Arc::new(saved));
                    let generation = present.generation;
                    drop(present);
                    tracing::info!(logins = generation, "logged in");
                    self.restore(tab);
                    return Ok((generation, true));
                }
                Err(LogInError::Tab(TabError::Disturbed)) => last = TabError::Disturbed.to_string(),
                Err(LogInError::Tab(TabError::OutOfScope(there))) => {
                    return Err(self.fail(leads_out(&there)));
                }
                // As a load that fails: the controller decides how often to try.
                Err(LogInError::Tab(error)) => return Err(error),
                Err(LogInError::Step(why)) => last = why,
            }
        }
        Err(self.fail(format!("the login failed {MOST_LOGINS} times: {last}")))
    }

    /// Gives the tab what the session saved. Returns the session's number; `None` if there is none.
    fn restore(&self, tab: &mut Tab) -> Option<u64> {
        let present = self.present();
        let saved = present.saved.clone()?;
        tab.restore(saved);
        Some(present.generation)
    }

    /// A session has ended; the next load logs in.
    fn end(&self, generation: u64) {
        let mut present = self.present();
        if present.generation == generation && self.access.script.is_some() {
            present.saved = None;
        }
    }

    /// A page does not match `--logged-in`: finds out by a load whether the tab's session, which
    /// has this number, has ended. If not, the page belongs to the application.
    pub async fn has_ended(
        &self,
        tab: &mut Tab,
        generation: u64,
        raw: Raw,
    ) -> Result<bool, TabError> {
        // The tab restores what it restored before, also if another tab has logged in meanwhile.
        let has_ended = tab.load(&self.url).await?.outside;
        if has_ended {
            self.end(generation);
        } else {
            let mut present = self.present();
            if present.pages.len() < MOST_PAGES {
                present.pages.insert(raw);
            }
        }
        Ok(has_ended)
    }

    fn fail(&self, why: String) -> TabError {
        self.present().trouble.get_or_insert(why.clone());
        TabError::NotLoaded(why)
    }
}

/// Why a login cannot leave the scope. A query may hold a secret.
fn leads_out(there: &str) -> String {
    let there = without_logins(there);
    let plain = there.split(['?', '#']).next().unwrap_or_default();
    let shown = Escaped(plain, 200);
    format!("the login leads out of the scope, to {shown}: --include adds pages to the scope")
}
