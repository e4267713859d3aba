//! The tables of dangerous words, made ready for look-ups: a page may have thousands of names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Danger, words as texts};

/// The longest name, in words, in which a dangerous phrase counts: a longer one is running text.
const LONGEST_NAME: usize = 7;
/// The same for languages without spaces, in characters.
const LONGEST_UNSPACED: usize = 14;
/// How many words a star may stand for.
const LONGEST_GAP: usize = 3;

/// A phrase of a table, and what it means.
type Phrase = (Vec<String>, Danger);

/// Phrases that are looked for in names.
#[derive(Debug, Default)]
struct Phrases {
    /// By their first word.
    spaced: BTreeMap<String, Vec<Phrase>>,
    /// Of languages that write no spaces.
    unspaced: Vec<(String, Danger)>,
}

impl Phrases {
    fn new(table: &[(Danger, &'static str)]) -> Self {
        let mut phrases = Self::default();
        for (danger, texts) in table {
            for text in listed(texts) {
                if text.chars().any(is_unspaced) {
                    phrases.unspaced.push((text, *danger));
                    continue;
                }
                let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                phrases.spaced.entry(words[0].clone()).or_default().push((words, *danger));
            }
        }
        phrases
    }

    /// The first phrase that a name has among its words.
    fn find(&self, name: &[String]) -> Option<Danger> {
        let at = |at: usize| {
            let mut phrases = self.spaced.get(&name[at])?.iter();
            phrases.find(|(phrase, _)| begins_with(&name[at..], phrase)).map(|(_, danger)| *danger)
        };
        (0..name.len()).find_map(at).or_else(|| {
            let has_unspaced = name.iter().any(|word| word.chars().any(is_unspaced));
            let joined = has_unspaced.then(|| name.concat())?;
            let mut phrases = self.unspaced.iter();
            phrases.find(|(phrase, _)| joined.contains(phrase)).map(|(_, danger)| *danger)
        })
    }

    /// What a name means that is one of these phrases and nothing else.
    fn is_whole(&self, name: &[String]) -> Option<Danger> {
        let spaced = self.spaced.get(name.first()?).into_iter().flatten();
        let spaced = spaced.filter(|(phrase, _)| phrase == name).map(|(_, danger)| *danger);
        let joined = name.concat();
        let unspaced = self.unspaced.iter().filter(|(phrase, _)| *phrase == joined);
        spaced.chain(unspaced.map(|(_, danger)| *danger)).next()
    }
}

/// All tables.
#[derive(Debug)]
pub(super) struct Tables {
    within: Phrases,
    whole: Phrases,
    with_object: Phrases,
    objects: BTreeSet<String>,
    about: BTreeSet<String>,
    confirming: BTreeSet<String>,
    addresses: BTreeMap<String, Danger>,
    form_addresses: BTreeMap<String, Danger>,
    content_keys: BTreeSet<String>,
}

impl Tables {
    pub(super) fn new() -> Self {
        let parts = |table: &[(Danger, &'static str)]| {
            let rows = table.iter().copied();
            rows.flat_map(|(danger, texts)| listed(texts).map(move |part| (part, danger))).collect()
        };
        Self {
            within: Phrases::new(texts::WITHIN),
            whole: Phrases::new(texts::WHOLE),
            with_object: Phrases::new(texts::WITH_OBJECT),
            objects: listed(texts::OBJECTS).collect(),
            about: listed(texts::ABOUT).collect(),
            confirming: listed(texts::CONFIRMING).collect(),
            addresses: parts(texts::ADDRESSES),
            form_addresses: parts(texts::FORM_ADDRESSES),
            content_keys: listed(texts::CONTENT_KEYS).collect(),
        }
    }

    /// The phrases that are dangerous within a text, without those that have a gap.
    pub(super) fn phrases(&self) -> impl Iterator<Item = String> {
        let spaced = self.within.spaced.values().flatten().map(|(phrase, _)| phrase.join(" "));
        let unspaced = self.within.unspaced.iter().map(|(phrase, _)| phrase.clone());
        spaced.filter(|phrase| !phrase.contains('*')).chain(unspaced)
    }

    /// The dangerous phrase in a text of any length.
    pub(super) fn within(&self, text: &[String]) -> Option<Danger> {
        self.within.find(text)
    }

    /// Whether a button with this name confirms a question.
    pub(super) fn confirms(&self, name: &[String]) -> bool {
        self.confirming.contains(&name.join(" "))
    }

    /// What an action with this name does, if it is dangerous.
    pub(super) fn danger_of_name(&self, name: &[String]) -> Option<Danger> {
        let is_running_text = if name.iter().any(|word| word.chars().any(is_unspaced)) {
            name.iter().map(|word| word.chars().count()).sum::<usize>() > LONGEST_UNSPACED
        } else {
            name.len() > LONGEST_NAME
        };
        if name.is_empty() || is_running_text || name.iter().any(|word| self.about.contains(word)) {
            return None;
        }
        // A count or an amount does not change what a button does: "Pay 12.50", "Restart (2)".
        let bare: Vec<String> = name.iter().filter(|word| !is_amount(word)).cloned().collect();
        let beside_object = || {
            let has_object = bare.iter().any(|word| self.objects.contains(word));
            has_object.then(|| self.with_object.find(&bare)).flatten()
        };
        self.within.find(name).or_else(|| self.whole.is_whole(&bare)).or_else(beside_object)
    }

    /// What an address does, if it is dangerous to load it.
    pub(super) fn danger_of_address(&self, address: &str) -> Option<Danger> {
        if address.trim_start().to_ascii_lowercase().starts_with("javascript:") {
            return None;
        }
        let parts: Vec<(Option<String>, String)> = address_parts(address).collect();
        let is_content =
            |key: &Option<String>| key.as_ref().is_some_and(|key| self.content_keys.contains(key));
        let commands = parts.iter().filter(|(key, _)| !is_content(key));
        let by_part = commands.filter_map(|(_, part)| self.addresses.get(part)).copied().next();
        let deletes_account = || {
            let is_account = |part: &str| matches!(part, "account" | "konto" | "compte" | "cuenta");
            let is_end = |part: &str| matches!(part, "delete" | "close" | "remove" | "destroy");
            parts.windows(2).any(|pair| is_account(&pair[0].1) && is_end(&pair[1].1))
        };
        by_part.or_else(|| deletes_account().then_some(Danger::DeleteAccount))
    }

    /// What sending a form to an address does, if it is dangerous.
    pub(super) fn danger_of_form(&self, address: &str) -> Option<Danger> {
        let last = address_parts(address).filter(|(key, _)| key.is_none()).last()?.1;
        self.form_addresses.get(&last).copied()
    }
}

/// The entries of a table.
fn listed(texts: &'static str) -> impl Iterator<Item = String> {
    texts.split(", ").map(folded)
}

/// The words of a text in lower case, without punctuation. What divides words in icons and in code
/// (`power_off`) divides them here.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = folded(text);
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text in lower case, with one form for a letter that people write in two.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ё' { 'е' } else { c }).collect()
}

/// Whether a letter belongs to a language that writes no spaces.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Whether the words of a name have a phrase among them, in order and side by side.
pub(super) fn contains(name: &[String], phrase: &[String]) -> bool {
    if phrase.iter().any(|word| word.chars().any(is_unspaced)) {
        return name.concat().contains(&phrase.concat());
    }
    name.windows(phrase.len().max(1)).any(|part| part == phrase)
}

/// Whether a text begins with a phrase, whose star stands for a few words or none.
fn begins_with(text: &[String], phrase: &[String]) -> bool {
    let Some(star) = phrase.iter().position(|word| word == "*") else {
        return text.starts_with(phrase);
    };
    let (before, after) = (&phrase[..star], &phrase[star + 1..]);
    let rest = text.strip_prefix(before);
    rest.is_some_and(|rest| {
        (0..=LONGEST_GAP.min(rest.len())).any(|gap| rest[gap..].starts_with(after))
    })
}

fn is_amount(word: &str) -> bool {
    const CURRENCIES: &[&str] = &["eur", "usd", "gbp", "chf", "rub", "pln", "cny", "jpy", "zł"];
    word.chars().any(|letter| letter.is_ascii_digit()) || CURRENCIES.contains(&word)
}

/// The parts of an address that may be commands: segments of the path and of the fragment, keys
/// and values of the query. A value comes with its key.
pub(super) fn address_parts(address: &str) -> impl Iterator<Item = (Option<String>, String)> {
    let rest = address
        .split_once("://")
        .map_or(address, |(_, rest)| rest.find(['/', '?', '#']).map_or("", |end| &rest[end..]));
    rest.split(['?', '#', '&', ';']).flat_map(|piece| {
        let pair = piece.split_once('=').map(|(key, value)| (bare(key), bare(value)));
        let segments = if pair.is_none() { piece } else { "" };
        let segments = segments.split('/').map(|segment| (None, bare(segment)));
        let pair =
            pair.into_iter().flat_map(|(key, value)| [(None, key.clone()), (Some(key), value)]);
        segments.chain(pair).filter(|(_, part)| !part.is_empty()).collect::<Vec<_>>()
    })
}

/// A part of an address without hyphens, underscores and the ending of a file.
fn bare(part: &str) -> String {
    let is_ending = |ending: &&str| {
        (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let name = match part.rsplit_once('.') {
        Some((name, ending)) if is_ending(&ending) => name,
        _ => part,
    };
    folded(name).chars().filter(|letter| letter.is_alphanumeric()).collect()
}
