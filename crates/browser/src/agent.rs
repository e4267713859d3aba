//! The page agent: the script that runs first in every document, its settings and its answers. The
//! answers come from a hostile page: they are read into these types and trusted no further.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use argiope_explore::page::{Kind, Page, Withheld};
use serde::{Deserialize, Serialize};

use crate::access::SavedState;
use crate::border::{Border, CrawlBounds};
use crate::login::Login;

pub mod script;

/// The settings of the agent, the same for every document of a tab.
#[derive(Clone, Debug, Serialize)]
pub struct AgentSettings {
    /// The property of the window that holds the agent. argiope draws it at random once
    /// per process, so that no page can guess it.
    pub secret: String,
    /// What the property asks for: a page that finds it does not have the agent.
    pub key: String,
    /// The origin whose pages belong to the application.
    pub origin: String,
    /// Regular expressions of the addresses whose documents belong to the application.
    pub included: Vec<String>,
    /// Regular expressions of those among them that do not.
    pub excluded: Vec<String>,
    /// A page settles only when its requests to this host, or to a subdomain, are answered.
    pub site: String,
    /// The seed of the numbers that pages draw; without one they are random.
    pub seed: Option<u32>,
    /// Whether the crawl has not begun: cryptographic numbers then differ from those of the crawl,
    /// so that two loads show what depends on them.
    pub probing: bool,
    /// How far virtual time runs ahead in one step, in milliseconds.
    pub horizon: u32,
    /// How long a page may take to settle, in real milliseconds.
    pub cap: u32,
    /// The time at which the page's clock stands, in milliseconds since 1970.
    pub freeze: Option<i64>,
    /// A selector of elements that do not belong to the application.
    pub ignore: String,
    /// A selector of elements that are left alone.
    pub avoid: String,
    /// Phrases divided by `|`. A question with one of them is refused.
    pub braked: String,
    /// Phrases divided by `|`. A question with one of them is not refused.
    pub allowed: String,
    /// Regions that change from load to load.
    pub masks: Vec<Blank>,
    /// Addresses whose requests never end: settling does not wait for them.
    pub endless: Vec<String>,
    /// Whether argiope intercepts navigations. Until it does, the agent holds them back.
    pub guarded: bool,
    /// Whether the tab renders animation frames. A page that waits for one needs such a tab.
    pub frames: bool,
    /// The values that are given for fields.
    pub inputs: Vec<GivenValues>,
    /// A selector of what every page shows while its session lasts; empty if none is known.
    pub inside: String,
    /// What the browser answers when the application demands a login. The page never has it.
    #[serde(skip)]
    pub login: Option<Login>,
    /// What belongs to the application and what may leave it. All tabs of a crawl share it.
    #[serde(skip)]
    pub border: Arc<Border>,
    /// Headers of every request to the origin. The page never has them.
    #[serde(skip)]
    pub headers: Arc<[(String, String)]>,
    /// What a reset restores.
    #[serde(skip)]
    pub saved: Arc<SavedState>,
}

/// A region of the page that the raw hash leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blank {
    /// The element, as a selector of tags and positions.
    pub selector: String,
    /// `text`, `tree`, or the name of an attribute.
    pub what: String,
}

/// Values for fields of forms, and which fields they are for: those that meet every condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenValues {
    /// A selector that the field matches.
    pub selector: Option<String>,
    /// The label of the field, in any case.
    pub label: Option<String>,
    /// Its attribute `name`.
    pub name: Option<String>,
    /// Its type, or `textarea`, `select` or `contenteditable`.
    #[serde(rename = "type")]
    pub field_type: Option<String>,
    /// One of the words of its attribute `autocomplete`.
    pub autocomplete: Option<String>,
    /// The values. `{n}` in one stands for a number that the crawl has not used yet.
    pub values: Vec<String>,
}

impl AgentSettings {
    /// The default settings for an application at an origin and a host.
    pub fn new(
        secret: impl Into<String>,
        origin: impl Into<String>,
        site: impl Into<String>,
    ) -> Self {
        let origin = origin.into();
        let border = Arc::new(Border::new(CrawlBounds::of_origin(&origin)));
        Self {
            secret: secret.into(),
            key: random_key(),
            included: border.bounds.included_expressions(),
            excluded: Vec::new(),
            origin,
            site: site.into(),
            seed: Some(1),
            probing: false,
            horizon: 5_000,
            cap: 10_000,
            freeze: None,
            ignore: String::new(),
            avoid: String::new(),
            braked: String::new(),
            allowed: String::new(),
            masks: Vec::new(),
            endless: Vec::new(),
            guarded: false,
            frames: true,
            inputs: Vec::new(),
            inside: String::new(),
            login: None,
            headers: Arc::default(),
            saved: Arc::default(),
            border,
        }
    }

    /// The same within other bounds.
    pub fn within(self, bounds: CrawlBounds) -> Self {
        Self {
            included: bounds.included_expressions(),
            excluded: bounds.excluded_expressions(),
            border: Arc::new(Border::new(bounds)),
            ..self
        }
    }

    /// An expression that calls a method of the agent; it throws where there is no agent.
    pub(crate) fn call(&self, method: &str) -> String {
        format!("window[{:?}]({:?}).{method}", self.secret, self.key)
    }

    /// The same, but without an effect where there is no agent.
    pub(crate) fn call_if_there(&self, method: &str) -> String {
        format!("window[{:?}]?.({:?}).{method}", self.secret, self.key)
    }

    /// The script of the agent with these settings.
    pub fn script(&self) -> String {
        script::assemble(script::MODULES.iter().map(|module| module.text), self)
    }
}

/// A key that no page can guess: the standard library seeds its hashers at random.
fn random_key() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// One action of a path, as the agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// Its kind.
    pub kind: Kind,
    /// The place of its element, in the agent's notation.
    pub place: String,
    /// Its argument, for example the text to type.
    pub argument: String,
    /// What `{n}` in a typed value stands for: eight digits, different in every step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Whether the browser's own input performs it instead of the agent's events.
    #[serde(skip)]
    pub trusted: bool,
    /// The page that it must lead to before the next step is performed; the last step has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Raw>,
    /// Whether it is performed for the first time: its notes are reported apart from other steps'.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

/// The raw hash of a page. Equal pages of an application have equal hashes, so a known page is
/// recognised without a look.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Raw(pub u128);

impl Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self(0));
        }
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// How a call of the agent ended.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RunAnswer {
    /// The number of steps that were performed.
    pub done: usize,
    /// The element of the next step is not on the page.
    pub missing: bool,
    pub raw: Raw,
    pub settled: bool,
    /// Each note is its kind and its texts.
    pub notes: Vec<Vec<String>>,
    /// The notes of each step marked `first`, except the last one.
    pub passed: Vec<Vec<Vec<String>>>,
    /// The address of the link that the last step followed, if no script handled the click.
    pub link: Option<String>,
    /// The page is about to navigate.
    pub leaving: bool,
    /// The agent holds a navigation until argiope intercepts it.
    pub held: bool,
    /// The page waits for an animation frame, and the tab renders none.
    pub unframed: bool,
    /// Addresses of requests that do not end.
    pub endless: Vec<String>,
    /// Built-in functions that the page has replaced and that may have deceived the agent.
    pub tampered: Vec<String>,
    /// The page does not show what every page shows while its session lasts.
    #[serde(default)]
    pub outside: bool,
}

/// A look at the page.
#[derive(Debug, Deserialize)]
pub struct Look {
    /// Its raw hash.
    pub raw: Raw,
    /// What it shows and offers.
    pub page: Page,
    /// The present source of its document.
    pub source: String,
    /// The HTTP status of its document, 0 where there is none.
    pub status: u16,
    /// The content type of its document.
    #[serde(rename = "type")]
    pub content_type: String,
    /// Whether the page has more nodes than a look holds.
    pub truncated: bool,
    /// Actions that the page has and does not offer.
    pub withheld: Vec<Withheld>,
    /// How many more it withholds.
    pub unlisted: u32,
    /// How many actions are beyond the limits of one page.
    pub beyond: u32,
    /// Nodes that a selector of the crawl leaves alone.
    pub avoided: Vec<u32>,
}

/// The middle of an element, in pixels of the viewport.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}
