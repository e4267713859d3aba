//! The first looks at an application: is there a page to crawl, where did the address lead, and what of the
//! page changes from load to load.

use argiope_browser::agent::{AgentSettings, Blank, Look};
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::identity::{MaskedAspect, Masks, NamedIdentity, learn_masks};
use argiope_explore::quoted::Escaped;

use crate::browsers::{Browsers, NoTab};
use crate::settings::Scope;

/// Why an address cannot be crawled.
#[derive(Debug, thiserror::Error)]
pub enum NoPage {
    /// The browser could not load it.
    #[error("{url} cannot be loaded: {why}")]
    NotLoaded {
        /// The address.
        url: String,
        /// In words.
        why: String,
    },
    /// The server answered with an error.
    #[error("{url} answered with status {status}")]
    Status {
        /// The address.
        url: String,
        /// The status.
        status: u16,
    },
    /// It is no page.
    #[error("{url} is not a web page but {kind}")]
    NotAPage {
        /// The address.
        url: String,
        /// What it is.
        kind: String,
    },
    /// There is nothing on it.
    #[error("{url} is an empty page: nothing to see and nothing to do")]
    Empty {
        /// The address.
        url: String,
    },
}

/// Why there was no look.
#[derive(Debug, thiserror::Error)]
pub enum NoLook {
    /// The address cannot be crawled.
    #[error(transparent)]
    NoPage(#[from] NoPage),
    /// There is no tab.
    #[error(transparent)]
    NoTab(#[from] NoTab),
}

impl NoPage {
    fn of(url: &str, error: &TabError) -> Self {
        let why = match error {
            TabError::NotLoaded(reason) => in_words(reason),
            TabError::Disturbed => "there is no network".to_owned(),
            other => other.to_string(),
        };
        let url = Escaped(url, 200).to_string();
        if why == "ERR_ABORTED" {
            return Self::NotAPage { url, kind: "a file to download".to_owned() };
        }
        Self::NotLoaded { url, why }
    }
}

/// The browser's reasons that people meet most, in words.
fn in_words(reason: &str) -> String {
    let code = reason.strip_prefix("net::").unwrap_or(reason);
    let words = match code {
        "ERR_NAME_NOT_RESOLVED" => "there is no such host",
        "ERR_CONNECTION_REFUSED" => "the connection was refused: is the server running?",
        "ERR_CONNECTION_TIMED_OUT" | "ERR_TIMED_OUT" => "the server did not answer in time",
        "ERR_TOO_MANY_REDIRECTS" => "it redirects in a loop",
        "ERR_EMPTY_RESPONSE" => "the server closed the connection without an answer",
        "ERR_CERT_AUTHORITY_INVALID" => "its certificate is not from a known authority",
        "ERR_CERT_DATE_INVALID" => "its certificate has expired or is not valid yet",
        "ERR_CERT_COMMON_NAME_INVALID" => "its certificate is for another host",
        "ERR_SSL_PROTOCOL_ERROR" => "it does not speak https",
        "ERR_UNSAFE_PORT" => "browsers refuse this port",
        "ERR_ABORTED" => return code.to_owned(),
        _ if code.starts_with("ERR_CERT") => {
            return format!("its certificate is not valid ({code})");
        }
        _ => return Escaped(code, 80).to_string(),
    };
    words.to_owned()
}

/// Loads the address and looks at the page.
pub async fn first_look(tab: &mut Tab, url: &str) -> Result<Look, NoPage> {
    let no_page = |error: TabError| NoPage::of(url, &error);
    tab.load(url).await.map_err(no_page)?;
    let look = tab.look().await.map_err(no_page)?;
    let shown = || Escaped(url, 200).to_string();
    if look.status >= 400 {
        return Err(NoPage::Status { url: shown(), status: look.status });
    }
    if !look.content_type.contains("html") {
        return Err(NoPage::NotAPage {
            url: shown(),
            kind: Escaped(&look.content_type, 80).to_string(),
        });
    }
    let bare = |tag: &str| ["html", "body", "head", "#text"].contains(&tag);
    let nothing = look.page.nodes.iter().all(|node| bare(&node.tag) && node.text.trim().is_empty());
    if nothing && look.page.offers.is_empty() {
        return Err(NoPage::Empty { url: shown() });
    }
    Ok(look)
}

/// Looks at the first page twice, where the address leads in the end, and says so to the agent.
pub async fn looks(
    browsers: &Browsers,
    agent: &mut AgentSettings,
    url: &str,
) -> Result<(Look, Look, Tab), NoLook> {
    let mut tab = browsers.tab(agent.clone()).await?;
    let mut first = look_at(browsers, agent, &mut tab, url).await?;
    // A redirect of the first load says where the application really is.
    if let Ok(there) = Scope::of(&first.page.url)
        && there.origin != agent.origin
    {
        *agent = AgentSettings { origin: there.origin, site: there.site, ..agent.clone() };
        tab = browsers.tab(agent.clone()).await?;
        first = look_at(browsers, agent, &mut tab, url).await?;
    }
    let second = look_at(browsers, agent, &mut tab, url).await?;
    Ok((first, second, tab))
}

/// In a tab that makes frames, if this one does not and the page needs them.
async fn look_at(
    browsers: &Browsers,
    agent: &AgentSettings,
    tab: &mut Tab,
    url: &str,
) -> Result<Look, NoLook> {
    let looked = first_look(tab, url).await;
    if looked.is_err() && browsers.discard(tab) {
        *tab = browsers.tab(agent.clone()).await?;
        return Ok(first_look(tab, url).await?);
    }
    Ok(looked?)
}

/// What changed between two loads.
pub fn volatile(identity: &NamedIdentity, first: &Look, second: &Look) -> Masks {
    if first.raw == second.raw {
        Masks::default()
    } else {
        learn_masks(identity, &first.page, &second.page)
    }
}

/// The masks that the agent can leave out of the raw hash by itself: those of elements with an id. The others
/// cost a look each time.
pub fn blanks(masks: &Masks) -> Vec<Blank> {
    let plain = |text: &str| {
        text.chars().all(|one| one.is_ascii_alphanumeric() || one == '-' || one == '_')
    };
    let blank = |mask: &argiope_explore::identity::Mask| {
        let steps = &mask.place.steps;
        let what = match &mask.aspect {
            MaskedAspect::Text => "text".to_owned(),
            MaskedAspect::Attribute(name) if plain(name) => name.clone(),
            MaskedAspect::Attribute(_) | MaskedAspect::Children { .. } => return None,
        };
        // A text is a child of its element.
        let element = match &mask.aspect {
            MaskedAspect::Text => steps.iter().rev().nth(1)?,
            _ => steps.last()?,
        };
        let id = element.id.as_deref().filter(|id| plain(id) && !id.is_empty())?;
        Some(Blank { selector: format!("[id=\"{id}\"]"), what })
    };
    masks.masks.iter().filter_map(blank).collect()
}
