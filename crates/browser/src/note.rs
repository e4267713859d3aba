//! What a page wanted of the world outside, and was answered or refused.

/// Something that happened during a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// A dialog was answered: its type and what it said.
    Dialog(String, String),
    /// A new window was wanted.
    Window(String),
    /// A download was refused.
    Download(String),
    /// A navigation out of scope was stopped.
    OutOfScope(String),
    /// The address changed.
    Route(String),
}

impl Noted {
    /// As the agent tells it; what it does not know is not a note.
    pub(crate) fn read(words: &[String]) -> Option<Self> {
        let word = |at: usize| words.get(at).cloned().unwrap_or_default();
        match words.first()?.as_str() {
            "dialog" => Some(Self::Dialog(word(1), word(2))),
            "window" => Some(Self::Window(word(1))),
            "download" => Some(Self::Download(word(1))),
            "out-of-scope" => Some(Self::OutOfScope(word(1))),
            "route" => Some(Self::Route(word(1))),
            _ => None,
        }
    }
}
