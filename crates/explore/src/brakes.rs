//! Brakes: which actions a crawl leaves alone unless it is told otherwise. They log out, shut down,
//! restart, delete everything or an account, or pay. A name or an address says so; the tables are
//! in `words`. Must not know of browsers or settings of a command.

mod on_page;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

pub use on_page::BrakedOffers;
use serde::{Deserialize, Serialize};
use tables::{Tables, address_parts, contains, words};

/// What a dangerous action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Danger {
    /// It ends the session.
    LogOut,
    /// It stops the application or its machine.
    ShutDown,
    /// It restarts the application or its machine, or sets it back to its first settings.
    Restart,
    /// It deletes more than one thing.
    DeleteAll,
    /// It deletes an account.
    DeleteAccount,
    /// It pays or orders.
    Pay,
    /// The crawl was told to leave it alone.
    Asked,
}

impl Danger {
    /// What the action does, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::LogOut => "logs out",
            Self::ShutDown => "shuts down",
            Self::Restart => "restarts",
            Self::DeleteAll => "deletes everything",
            Self::DeleteAccount => "deletes an account",
            Self::Pay => "pays",
            Self::Asked => "--avoid",
        }
    }
}

/// The rule of one crawl: the tables, and what the crawl was told.
#[derive(Clone, Debug)]
pub struct Brakes {
    tables: Arc<Tables>,
    allow: Vec<TextPattern>,
    avoid: Vec<TextPattern>,
}

impl Default for Brakes {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}

/// A text that names actions: whole words of a name, or a piece of an address.
#[derive(Clone, Debug)]
struct TextPattern {
    words: Vec<String>,
    /// In lower case, if the text can be a piece of an address.
    address: Option<String>,
}

impl TextPattern {
    fn new(text: &str) -> Self {
        let address = text.contains('/').then(|| text.trim().to_lowercase());
        Self { words: words(text), address }
    }

    fn is_in_name(&self, name: &[String]) -> bool {
        !self.words.is_empty() && self.address.is_none() && contains(name, &self.words)
    }

    fn is_in_address(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        match &self.address {
            Some(text) => address.contains(text),
            None => address_parts(&address).any(|(_, part)| part == self.words.concat()),
        }
    }
}

impl Brakes {
    /// The rule with texts of actions to allow and of further ones to leave alone. What is in both
    /// is left alone.
    pub fn new(allow: &[String], avoid: &[String]) -> Self {
        let patterns = |texts: &[String]| texts.iter().map(|text| TextPattern::new(text)).collect();
        Self { tables: Arc::new(Tables::new()), allow: patterns(allow), avoid: patterns(avoid) }
    }

    /// Whether an action with these names and addresses is left alone, and why.
    pub fn danger<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
        links: impl IntoIterator<Item = &'a str>,
        forms: impl IntoIterator<Item = &'a str>,
    ) -> Option<Danger> {
        let names: Vec<Vec<String>> = names.into_iter().map(words).collect();
        let links: Vec<&str> = links.into_iter().collect();
        let forms: Vec<&str> = forms.into_iter().collect();
        let is_told = |patterns: &[TextPattern]| {
            patterns.iter().any(|pattern| {
                names.iter().any(|name| pattern.is_in_name(name))
                    || links.iter().chain(&forms).any(|address| pattern.is_in_address(address))
            })
        };
        if is_told(&self.avoid) {
            return Some(Danger::Asked);
        }
        let by_name = || names.iter().find_map(|name| self.tables.danger_of_name(name));
        let mut addresses = links.iter().chain(&forms);
        let by_link = || addresses.find_map(|address| self.tables.danger_of_address(address));
        let by_form = || forms.iter().find_map(|address| self.tables.danger_of_form(address));
        let danger = by_name().or_else(by_link).or_else(by_form)?;
        (!is_told(&self.allow)).then_some(danger)
    }

    /// Whether the dangerous phrases of a question count: those of `--allow` do not.
    pub fn danger_of_question(&self, question: &str) -> Option<Danger> {
        let said = words(question);
        if self.avoid.iter().any(|pattern| pattern.is_in_name(&said)) {
            return Some(Danger::Asked);
        }
        if self.allow.iter().any(|pattern| pattern.is_in_name(&said)) {
            return None;
        }
        self.tables.within(&said)
    }

    /// The phrases for a page agent, which must answer a question at once: a question with one of
    /// them is refused, unless it has one of the second list. Each is in lower case, its words
    /// divided by single spaces.
    pub fn phrases(&self) -> (Vec<String>, Vec<String>) {
        let told = |patterns: &[TextPattern]| {
            let texts = patterns.iter().filter(|pattern| pattern.address.is_none());
            let texts = texts.map(|pattern| pattern.words.join(" "));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        let tables = self.tables.phrases();
        (tables.chain(told(&self.avoid)).collect(), told(&self.allow))
    }
}
