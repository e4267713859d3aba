//! The probe of an application: it loads the first page twice to find out whether it can be
//! crawled, to which origin the address leads, and what changes from load to load.

use argiope_browser::agent::{AgentSettings, Blank, Look};
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::identity::{MaskedAspect, Masks, NamedIdentity, learn_masks};
use argiope_explore::quoted::Escaped;

use crate::browsers::Browsers;
use crate::crawl::CrawlError;
use crate::settings::Scope;

/// Why an address cannot be crawled: the address, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{url} {wrong}")]
pub struct NoPage {
    url: String,
    wrong: String,
}

impl NoPage {
    fn new(url: &str, wrong: String) -> Self {
        Self { url: Escaped(url, 200).to_string(), wrong }
    }

    fn of(url: &str, error: &TabError) -> Self {
        let why = match error {
            TabError::NotLoaded(reason) => in_words(reason),
            TabError::Disturbed => "there is no network".to_owned(),
            other => other.to_string(),
        };
        if why == "ERR_ABORTED" {
            return Self::new(url, "is not a web page but a file to download".to_owned());
        }
        Self::new(url, format!("cannot be loaded: {why}"))
    }
}

/// The browser's most frequent reasons, in words.
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
    if look.status == 401 {
        let wrong = "demands a login, or another one: write USER:PASSWORD@ before the host, \
                     or set ARGIOPE_LOGIN=USER:PASSWORD";
        return Err(NoPage::new(url, wrong.to_owned()));
    }
    if look.status >= 400 {
        return Err(NoPage::new(url, format!("answered with status {}", look.status)));
    }
    if !look.content_type.contains("html") {
        let kind = Escaped(&look.content_type, 80);
        return Err(NoPage::new(url, format!("is not a web page but {kind}")));
    }
    let bare = |tag: &str| ["html", "body", "head", "#text"].contains(&tag);
    let nothing = look.page.nodes.iter().all(|node| bare(&node.tag) && node.text.trim().is_empty());
    if nothing && look.page.offers.is_empty() {
        let empty = "is an empty page: there is nothing to crawl".to_owned();
        return Err(NoPage::new(url, empty));
    }
    Ok(look)
}

/// Looks at the first page twice. Sets the agent's origin to where the address leads, and the
/// addresses that it need not wait for.
pub async fn looks(
    browsers: &Browsers,
    agent: &mut AgentSettings,
    url: &str,
) -> Result<(Look, Look, Tab), CrawlError> {
    let mut tab = browsers.tab(agent.clone()).await?;
    let mut first = look_at(browsers, agent, &mut tab, url).await?;
    agent.endless = tab.endless().to_vec();
    // A redirect of the first load names the origin of the application.
    if let Ok(there) = Scope::of(&first.page.url)
        && there.origin != agent.origin
    {
        *agent = AgentSettings { origin: there.origin, site: there.site, ..agent.clone() };
        tab = browsers.tab(agent.clone()).await?;
        first = look_at(browsers, agent, &mut tab, url).await?;
    }
    let second = look_at(browsers, agent, &mut tab, url).await?;
    agent.endless = tab.endless().to_vec();
    Ok((first, second, tab))
}

/// Looks again in a tab that makes frames, if the page needs them and this tab makes none.
async fn look_at(
    browsers: &Browsers,
    agent: &AgentSettings,
    tab: &mut Tab,
    url: &str,
) -> Result<Look, CrawlError> {
    let looked = first_look(tab, url).await;
    if looked.is_err() && browsers.discard(tab) {
        *tab = browsers.tab(agent.clone()).await?;
        return Ok(first_look(tab, url).await?);
    }
    Ok(looked?)
}

/// Masks of what changed between two loads.
pub fn volatile(identity: &NamedIdentity, first: &Look, second: &Look) -> Masks {
    if first.raw == second.raw {
        Masks::default()
    } else {
        learn_masks(identity, &first.page, &second.page)
    }
}

/// The masks that the agent itself can leave out of the raw hash: those of elements with an id. The
/// others cost a look each time.
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
