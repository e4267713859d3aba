//! What all tabs of one crawl share, on any thread.

use std::sync::Arc;

use argiope_browser::agent::{AgentSettings, Blank};

use crate::browsers::{Browsers, NoTab};
use crate::crawler::{Crawler, Details};
use crate::login::session::LoginSession;
use crate::page_index::SharedPageIndex;
use crate::seed_links::SeedLinks;
use crate::settings::{CrawlSettings, Scope};

/// What every crawler of a crawl begins with.
#[derive(Clone)]
pub struct CrawlContext {
    /// The session with the application: it loads the address.
    pub session: Arc<LoginSession>,
    /// Settings of the page agent.
    pub agent: AgentSettings,
    /// What the crawlers of this process know of pages.
    pub pages: SharedPageIndex,
    /// What is known of states.
    pub details: Arc<dyn Details + Send + Sync>,
    /// The seeds of a crawl on a cluster.
    pub seeds: Arc<SeedLinks>,
    /// Take a screenshot of every state.
    pub screenshots: bool,
}

impl CrawlContext {
    /// Opens a tab with a crawler in it.
    pub async fn open(&self, browsers: &Browsers) -> Result<Crawler, NoTab> {
        if self.screenshots {
            browsers.factory().make_frames();
        }
        let mut agent = self.agent.clone();
        agent.endless = self.pages.lock().endless.iter().cloned().collect();
        Ok(Crawler::new(browsers.tab(agent).await?, self.clone()))
    }
}

/// The settings of the page agent for a crawl, or a sentence that says what is wrong with those of
/// the crawl.
pub fn agent_settings(
    settings: &CrawlSettings,
    secret: String,
    masks: Vec<Blank>,
) -> Result<AgentSettings, String> {
    let (scope, bounds) = (Scope::of(&settings.url)?, settings.bounds()?);
    let (braked, allowed) = settings.brakes().phrases();
    Ok(AgentSettings {
        seed: (!settings.real_random).then_some(settings.seed as u32),
        cap: settings.settle_ms,
        freeze: settings.freeze_time,
        ignore: settings.ignore.join(","),
        avoid: settings.avoid_selectors.join(","),
        braked: braked.join("|"),
        allowed: allowed.join("|"),
        inputs: settings.inputs.iter().map(|rule| rule.given.clone()).collect(),
        masks,
        inside: settings.login.logged_in.clone().unwrap_or_default(),
        login: settings.access.http.clone(),
        headers: settings.access.headers.as_slice().into(),
        ..AgentSettings::new(secret, scope.origin, scope.site).within(bounds)
    })
}
