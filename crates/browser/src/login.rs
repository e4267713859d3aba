//! The user name and the password that an application demands. Nothing prints them: the only way
//! out is [`Login::reveal`], for the browser.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A user name and a password for one origin. It is never part of an address, so that no page, link
/// or log can repeat it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// The origin that may have them.
    origin: String,
    user: String,
    secret: String,
}

impl Login {
    /// A login for an origin.
    pub fn new(
        origin: impl Into<String>,
        user: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        Self { origin: origin.into(), user: user.into(), secret: secret.into() }
    }

    /// Whether it is for this origin.
    pub fn is_for(&self, origin: &str) -> bool {
        self.origin == origin
    }

    /// The user name and the password, to be given to the browser and nothing else.
    pub fn reveal(&self) -> (&str, &str) {
        (&self.user, &self.secret)
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a login for {}", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentSettings;

    #[test]
    fn neither_the_page_agent_nor_a_log_line_has_the_secret() {
        let login = Login::new("http://app.test", "lovelace", "whisper");
        let settings = AgentSettings {
            login: Some(login),
            ..AgentSettings::new("agent", "http://app.test", "app.test")
        };
        assert!(!settings.script().contains("whisper"));
        let debug = format!("{settings:?}");
        assert!(!debug.contains("whisper") && !debug.contains("lovelace"), "{debug}");
    }
}
