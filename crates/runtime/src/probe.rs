//! The probe of an application: it loads the first page twice to find out whether it can be
//! crawled, whether the address leads out of the scope, and what changes from load to load.

use argiope_browser::agent::{AgentSettings, Blank, Look};
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::identity::{MaskedAspect, Masks, NamedIdentity, learn_masks};
use argiope_explore::quoted::Escaped;

use crate::address::without_logins;
use crate::browsers::{Browsers, NoTab};
use crate::crawl::CrawlError;
use crate::login::session::LoginSession;

/// Why an address cannot be crawled: the address, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{url} {wrong}")]
pub struct NoPage {
    url: String,
    wrong: String,
    /// Where the address leads, if that is out of the scope.
    leads_to: Option<String>,
}

/// What is wrong with an address that leads out of the scope; where it leads follows.
pub const LEADS_OUT: &str = "leads out of the scope, to ";

impl NoPage {
    fn new(url: &str, wrong: String) -> Self {
        Self { url: Escaped(url, 200).to_string(), wrong, leads_to: None }
    }

    /// Where the address leads, if that is out of the scope.
    pub fn leads_to(&self) -> Option<&str> {
        self.leads_to.as_deref()
    }

    /// What a failed load says of an address.
    pub fn of(url: &str, error: &TabError) -> Self {
        if let TabError::OutOfScope(there) = error {
            let there = without_logins(there);
            let wrong = format!("{LEADS_OUT}{}", Escaped(&there, 200));
            return Self { leads_to: Some(there.into_owned()), ..Self::new(url, wrong) };
        }
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
pub async fn first_look(session: &LoginSession, tab: &mut Tab, url: &str) -> Result<Look, NoPage> {
    let no_page = |error: TabError| NoPage::of(url, &error);
    session.load(tab).await.map_err(no_page)?;
    let look = tab.look().await.map_err(no_page)?;
    check(&look, url)?;
    Ok(look)
}

/// Says what is wrong with the page at an address, if a crawl cannot begin there.
pub fn check(look: &Look, url: &str) -> Result<(), NoPage> {
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
    Ok(())
}

/// Looks at the first page twice. Sets the addresses that the agent need not wait for. The first
/// time every redirect is seen with its address, so that an error can name it, and the page draws
/// other cryptographic numbers than the crawl's, so that what depends on them is masked.
pub async fn looks(
    browsers: &Browsers,
    agent: &mut AgentSettings,
    session: &LoginSession,
    url: &str,
) -> Result<(Look, Look, Tab), CrawlError> {
    let probing = AgentSettings { guarded: true, probing: true, ..agent.clone() };
    let mut tab = browsers.tab(probing.clone()).await?;
    let first = look_at(browsers, &probing, session, &mut tab, url).await?;
    agent.endless = tab.endless().to_vec();
    tab.end_probe().await.map_err(NoTab::Tab)?;
    let second = look_at(browsers, agent, session, &mut tab, url).await?;
    agent.endless = tab.endless().to_vec();
    Ok((first, second, tab))
}

/// Looks again in a tab that makes frames, if the page needs them and this tab makes none.
async fn look_at(
    browsers: &Browsers,
    agent: &AgentSettings,
    session: &LoginSession,
    tab: &mut Tab,
    url: &str,
) -> Result<Look, CrawlError> {
    let mut looked = first_look(session, tab, url).await;
    if looked.is_err() && browsers.discard(tab) {
        *tab = browsers.tab(agent.clone()).await?;
        looked = first_look(session, tab, url).await;
    }
    match session.trouble() {
        Some(trouble) => Err(CrawlError::Login(trouble)),
        None => Ok(looked?),
    }
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
