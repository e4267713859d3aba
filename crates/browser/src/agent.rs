//! The page agent: the script that runs first in every document, its settings and its answers. The
//! answers come from a hostile page: they are read into these types and trusted no further.

use argiope_explore::page::{Kind, Page};
use serde::{Deserialize, Serialize};

use crate::login::Login;

pub mod script;

/// The settings of the agent, the same for every document of a tab.
#[derive(Clone, Debug, Serialize)]
pub struct AgentSettings {
    /// The property of the window that holds the agent. argiope draws it at random once
    /// per process, so that no page can guess it.
    pub secret: String,
    /// The origin whose pages belong to the application.
    pub origin: String,
    /// A page settles only when its requests to this host, or to a subdomain, are answered.
    pub site: String,
    /// The seed of `Math.random`.
    pub seed: u32,
    /// How far virtual time runs ahead in one step, in milliseconds.
    pub horizon: u32,
    /// How long a page may take to settle, in real milliseconds.
    pub cap: u32,
    /// The time at which the page's clock stands, in milliseconds since 1970.
    pub freeze: Option<i64>,
    /// A selector of elements that do not belong to the application.
    pub ignore: String,
    /// Regions that change from load to load.
    pub masks: Vec<Blank>,
    /// Addresses whose requests never end: settling does not wait for them.
    pub endless: Vec<String>,
    /// Whether argiope intercepts navigations. Until it does, the agent holds them back.
    pub guarded: bool,
    /// Whether the tab renders animation frames. A page that waits for one needs such a tab.
    pub frames: bool,
    /// What the browser answers when the application demands a login. The page never has it.
    #[serde(skip)]
    pub login: Option<Login>,
}

/// A region of the page that the raw hash leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blank {
    /// The element, as a selector of tags and positions.
    pub selector: String,
    /// `text`, `tree`, or the name of an attribute.
    pub what: String,
}

impl AgentSettings {
    /// The default settings for an application at an origin and a host.
    pub fn new(
        secret: impl Into<String>,
        origin: impl Into<String>,
        site: impl Into<String>,
    ) -> Self {
        Self {
            secret: secret.into(),
            origin: origin.into(),
            site: site.into(),
            seed: 1,
            horizon: 5_000,
            cap: 10_000,
            freeze: None,
            ignore: String::new(),
            masks: Vec::new(),
            endless: Vec::new(),
            guarded: false,
            frames: true,
            login: None,
        }
    }

    /// The script of the agent with these settings.
    pub fn script(&self) -> String {
        script::assemble(script::MODULES.iter().map(|module| module.text), self)
    }
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
}

/// The middle of an element, in pixels of the viewport.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}
