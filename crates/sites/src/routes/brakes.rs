//! The routes of the fixture whose server can be stopped, emptied and left, for all clients.

use serde_json::json;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};

/// What the memory keeps.
const EMPTIED: u64 = 1;
const LEFT: u64 = 2;

/// `/session`: who is in, and the notes. `/logout`, `/delete-all` and `/shutdown` do what they say.
pub(super) fn answer(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    match request.path.as_str() {
        "/session" => {
            let past = memory.visited(None);
            let notes: &[&str] =
                if past.contains(&EMPTIED) { &[] } else { &["Milk", "Bread", "Apples"] };
            Some(SiteReply::json(&json!({ "in": !past.contains(&LEFT), "notes": notes })))
        }
        "/logout" => {
            memory.visited(Some(LEFT));
            Some(SiteReply::redirect("/"))
        }
        "/delete-all" => {
            memory.visited(Some(EMPTIED));
            Some(SiteReply::redirect("/"))
        }
        "/shutdown" => Some(SiteReply::text("good night").stopping()),
        _ => None,
    }
}
