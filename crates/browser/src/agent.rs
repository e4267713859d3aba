//! The page agent: the script that runs in every document, what it is told, and what it answers. The
//! answers come out of a hostile page; they are read into these types and believed no further.

use argiope_explore::page::{Kind, Page};
use serde::{Deserialize, Serialize};

pub mod script;

/// What the agent is told once per document.
#[derive(Clone, Debug, Serialize)]
pub struct AgentSettings {
    /// The name under which the agent is found; drawn anew for every browser, so that no page knows it.
    pub secret: String,
    /// The origin whose pages belong to the application.
    pub origin: String,
    /// The host whose requests (and those of its subdomains) hold a page.
    pub site: String,
    /// Seeds `Math.random`.
    pub seed: u32,
    /// How far virtual time runs ahead in one step, in milliseconds.
    pub horizon: u32,
    /// How long a page may take to settle, in real milliseconds.
    pub cap: u32,
    /// The clock's fixed time in milliseconds since 1970, if time is frozen.
    pub freeze: Option<i64>,
    /// A selector of what is not part of the application.
    pub ignore: String,
    /// What was found to change from load to load.
    pub masks: Vec<Blank>,
    /// Addresses that never stop being busy.
    pub endless: Vec<String>,
    /// Somebody outside sees where navigations lead; until then the agent holds them.
    pub guarded: bool,
    /// Frames are made. Without them a page that waits for one says so, and a tab with frames must take its place.
    pub frames: bool,
}

/// A part of the page that the raw hash leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blank {
    /// Where, as a selector made of tags and positions.
    pub selector: String,
    /// `text`, `tree`, or the name of an attribute.
    pub what: String,
}

impl AgentSettings {
    /// The usual, for an application at an origin and a host.
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
        }
    }

    /// The script for `Page.addScriptToEvaluateOnNewDocument`.
    pub fn script(&self) -> String {
        script::assemble(script::MODULES.iter().map(|module| module.text), self)
    }
}

/// One thing to do on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// What.
    pub kind: Kind,
    /// Where, as the agent said it.
    pub place: String,
    /// With what.
    pub argument: String,
    /// By the browser's own input instead of the agent's events.
    pub trusted: bool,
    /// The page that must be there afterwards for the next step to be right; the last step has none.
    pub expect: Option<Raw>,
    /// It is done for the first time: what happens then is told apart from what happens in other steps.
    pub first: bool,
}

/// A page as recognised without looking at it: equal pages of one application have equal raw hashes.
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

/// A step as the agent reads it.
#[derive(Serialize)]
pub(crate) struct Asked<'a> {
    pub kind: Kind,
    pub place: &'a str,
    pub argument: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Raw>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

/// How the agent's call ended.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Answered {
    pub done: usize,
    pub missing: bool,
    pub raw: Raw,
    pub settled: bool,
    pub notes: Vec<Vec<String>>,
    pub passed: Vec<Vec<Vec<String>>>,
    pub link: Option<String>,
    pub leaving: bool,
    /// The page is to be left, and nobody watches over that yet.
    pub held: bool,
    /// The page waits for a frame, and none are made.
    pub unframed: bool,
    pub endless: Vec<String>,
}

/// A look at the page.
#[derive(Debug, Deserialize)]
pub struct Look {
    /// The page it was.
    pub raw: Raw,
    /// What it shows and offers.
    pub page: Page,
    /// Its source as it is now.
    pub source: String,
    /// The answer's status, 0 where there is none.
    pub status: u16,
    /// The document's type.
    #[serde(rename = "type")]
    pub content_type: String,
    /// The page was too large to be seen in full.
    pub truncated: bool,
}

/// Where an element is in the window.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}
