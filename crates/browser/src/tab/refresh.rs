//! Pages that refresh themselves, by `<meta http-equiv=refresh>` or the `Refresh` header. A page
//! that does so soon is not a state. The browser would refresh it in real time, in the middle of
//! any step. So the agent refuses that, and the tab refreshes the page as soon as it has settled.
//! Later refreshes do not happen.

use super::{Tab, TabError, TabPosition};
use crate::agent::Raw;

/// The longest delay of a refresh that is followed, in seconds: as far as virtual time runs ahead.
pub(super) const LONGEST_DELAY: f64 = 5.0;
/// How many refreshes in a row are followed.
const MOST_REFRESHES: usize = 8;

impl Tab {
    /// Follows refreshes from a page that has settled. In a loop the page counts as not settled.
    pub(super) async fn follow_refreshes(
        &mut self,
        mut position: TabPosition,
    ) -> Result<TabPosition, TabError> {
        let mut followed: Vec<(String, Raw)> = Vec::new();
        while let Some(url) = self.take_refresh().await {
            let here = (url, position.raw);
            if followed.len() >= MOST_REFRESHES || followed.contains(&here) {
                position.settled = false;
                break;
            }
            let address = serde_json::Value::from(here.0.as_str());
            // The navigation may replace the page before it can answer.
            let _: Option<bool> = self.ask_once(&format!("refresh({address})"), 1).await?;
            followed.push(here);
            let next = self.settle_document().await?;
            position = TabPosition {
                notes: [position.notes, next.notes].concat(),
                settled: position.settled && next.settled,
                ..next
            };
        }
        Ok(position)
    }

    /// The address to which the present page will be refreshed soon.
    async fn take_refresh(&self) -> Option<String> {
        // The browser's event came before the page's answer, but its task may not have run yet.
        tokio::task::yield_now().await;
        self.outside().refresh.take()
    }
}
