//! What a page asked of the world outside, and how argiope answered.

/// What a page asked for during a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// A dialog, which was answered: its type and its text.
    Dialog(String, String),
    /// A new window, which was refused.
    Window(String),
    /// A download, which was refused.
    Download(String),
    /// A navigation out of the application, which was stopped.
    OutOfScope(String),
    /// A new address of the page.
    Route(String),
    /// A request that may change something, which a safe crawl stopped: its method and its address.
    Unsafe(String, String),
}

impl Noted {
    /// Reads a note of the page agent: a kind and its texts. `None` for an unknown kind.
    pub(crate) fn read(texts: &[String]) -> Option<Self> {
        let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
        match texts.first()?.as_str() {
            "dialog" => Some(Self::Dialog(text(1), text(2))),
            "window" => Some(Self::Window(text(1))),
            "download" => Some(Self::Download(text(1))),
            "out-of-scope" => Some(Self::OutOfScope(text(1))),
            "route" => Some(Self::Route(text(1))),
            _ => None,
        }
    }
}
