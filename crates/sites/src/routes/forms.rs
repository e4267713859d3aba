//! The routes of fixtures with forms.

use crate::reply::{ServerMemory, SiteReply, SiteRequest};

/// `/create?user=ADA`: creates an account, unless there is one. `/users/ADA`: its page.
pub(super) fn accounts(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    if request.path == "/create" {
        let is_new = memory.add_name(request.parameter("user")?);
        return Some(SiteReply::text(if is_new { "created" } else { "taken" }));
    }
    let user = request.path.strip_prefix("/users/")?;
    let is_plain = |one: char| one.is_ascii_alphanumeric();
    user.chars().all(is_plain).then(|| {
        SiteReply::html(format!(
            "<!doctype html><meta charset=\"utf-8\"><title>{user}</title><h1>Profile of {user}</h1>"
        ))
    })
}

/// `/seen/FIELD/VALUE`: the server counts what was typed, by path.
pub(super) fn form(request: &SiteRequest) -> Option<SiteReply> {
    request.path.starts_with("/seen/").then(|| SiteReply::text("seen"))
}
