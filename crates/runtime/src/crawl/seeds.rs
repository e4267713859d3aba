//! Loads the further addresses with which a crawl begins, before any job. One that cannot be loaded
//! is left, and the next run of the crawl tries it again.

use argiope_controller::input::ControllerInput;
use argiope_controller::outcome::Sighting;
use argiope_explore::id::StateKey;

use super::{CrawlError, Driver, FirstTab};
use crate::address::PlainUrl;
use crate::browsers::Browsers;
use crate::crawler::Crawler;
use crate::executor::CrawlContext;
use crate::learned;
use crate::probe::NoPage;
use crate::store::{Batch, FoundPage};

/// Where a load led, and what was found there.
type Loaded = (Sighting, Vec<(StateKey, FoundPage)>);

impl Driver {
    /// Notes which seeds a new crawl has to load.
    pub(super) fn expect_seeds(&mut self, seeds: &[PlainUrl]) {
        let unloaded = |seed: &PlainUrl| (seed.to_string(), format!("{seed} was not loaded yet"));
        self.seeds_left = seeds.iter().map(unloaded).collect();
        if !seeds.is_empty() {
            self.keep_seeds_left();
        }
    }

    /// Loads the seeds that are left, in the order of the command. In a crawl that begins, `first`
    /// is the tab that stands at the URL. Returns a tab for the first job.
    pub(super) async fn load_seeds(
        &mut self,
        browsers: &Browsers,
        context: &CrawlContext,
        (url, seeds): (&PlainUrl, &[PlainUrl]),
        first: Option<FirstTab>,
    ) -> Result<FirstTab, CrawlError> {
        let (mut crawler, mut resets) = (None, 0);
        if let Some(FirstTab { crawler: begun, at, found, resets: spent }) = first {
            (crawler, resets) = (Some(begun), spent);
            // The initial state comes before all others.
            if let Some(at) = at {
                self.enter_seed(at, url, found);
            }
        }
        for seed in seeds {
            if !self.seeds_left.contains_key(seed.as_str()) {
                continue;
            }
            resets += 1;
            match load_seed(browsers, context, &mut crawler, seed).await? {
                Ok((at, found)) => {
                    self.seeds_left.remove(seed.as_str());
                    self.enter_seed(at, seed, found);
                }
                Err(why) => _ = self.seeds_left.insert(seed.to_string(), why.to_string()),
            }
            if let Some(trouble) = context.session.trouble() {
                return Err(CrawlError::Login(trouble));
            }
            self.keep_seeds_left();
        }
        let crawler = match crawler {
            Some(crawler) => crawler,
            None => context.open(browsers).await?,
        };
        Ok(FirstTab { crawler, at: None, found: Vec::new(), resets })
    }

    fn enter_seed(&mut self, at: Sighting, url: &PlainUrl, found: Vec<(StateKey, FoundPage)>) {
        let address = url.to_string();
        let entered = ControllerInput::Entered { at, address, seed: true, cost: None };
        self.handle(entered, found);
    }

    fn keep_seeds_left(&mut self) {
        let named = vec![learned::seeds_left(&self.seeds_left)];
        self.append(Batch { named, ..Batch::default() });
    }
}

/// Loads a seed in the crawler's tab, or in a new one if the page needs another kind of tab.
async fn load_seed(
    browsers: &Browsers,
    context: &CrawlContext,
    crawler: &mut Option<Crawler>,
    seed: &str,
) -> Result<Result<Loaded, NoPage>, CrawlError> {
    loop {
        let mut tab = match crawler.take() {
            Some(tab) => tab,
            None => context.open(browsers).await?,
        };
        let loaded = tab.load_seed(seed).await;
        if loaded.is_ok() {
            *crawler = Some(tab);
        } else if browsers.discard(tab.tab()) {
            continue;
        }
        return Ok(loaded);
    }
}
