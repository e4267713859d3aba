//! A crawler's part in the session that all tabs share: it loads the address in it, and finds out
//! whether it has ended.

use std::time::Instant;

use argiope_browser::agent::Raw;
use argiope_browser::tab::{TabError, TabPosition};

use super::{Crawler, Stop};

impl Crawler {
    /// Loads the address in the present session.
    pub(super) async fn enter(&mut self) -> Result<TabPosition, TabError> {
        let session = self.context.session.clone();
        let (arrival, generation) = session.load(&mut self.tab).await?;
        self.generation = generation;
        Ok(arrival)
    }

    /// The page is not one of a session: says whether the session has ended.
    pub(super) async fn has_session_ended(&mut self, raw: Raw) -> Result<bool, Stop> {
        let began = Instant::now();
        self.cost.spent.resets += 1;
        let session = self.context.session.clone();
        let has_ended = session.has_ended(&mut self.tab, self.generation, raw).await?;
        self.cost.loading += began.elapsed();
        Ok(has_ended)
    }
}
