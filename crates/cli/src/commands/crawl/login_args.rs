//! The options of a login as typed, and the secrets that they name.

use std::path::PathBuf;

use argiope_browser::Access;
use argiope_runtime::login::GivenSecrets;
use argiope_runtime::settings::CrawlSettings;

use argiope::failure::CommandFailure;
use argiope::{login, terminal};

/// The options of a login. With --resume each replaces what was given before.
#[derive(clap::Args, Default)]
#[command(next_help_heading = "Log in")]
pub struct LoginArgs {
    /// Restore the cookies and the local storage in FILE at each reset; FILE is a storage state of
    /// Playwright
    #[arg(long, value_name = "FILE")]
    storage_state: Option<PathBuf>,
    /// Log in by the steps in FILE: a recording of Chrome's Recorder (JSON), or TOML
    #[arg(long, value_name = "FILE")]
    login: Option<PathBuf>,
    /// Check after each reset that an element matches; if none does, log in again
    #[arg(long, value_name = "CSS")]
    logged_in: Option<String>,
    /// Send this header with each request to the application's origin (may be given several times)
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Set this cookie at each reset (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    cookie: Vec<String>,
    /// Put the server's data back before each reset: run a command without a shell, or send a POST
    /// to an http address; requires one tab
    #[arg(long, value_name = "CMD|URL")]
    before_reset: Option<String>,
}

impl LoginArgs {
    /// Whether any option is given.
    pub fn is_given(&self) -> bool {
        let Self { storage_state, login, logged_in, header, cookie, before_reset } = self;
        storage_state.is_some()
            || login.is_some()
            || logged_in.is_some()
            || before_reset.is_some()
            || !(header.is_empty() && cookie.is_empty())
    }

    /// Changes what the settings say about the login. Returns the values that were given.
    pub fn apply(&self, settings: &mut CrawlSettings) -> Result<GivenSecrets, CommandFailure> {
        let absolute = |path: &Option<PathBuf>| {
            let path = path.as_ref().map(std::path::absolute).transpose();
            path.map_err(|error| CommandFailure::Input(format!("no path: {error}")))
        };
        let mut given = GivenSecrets::default();
        let login = &mut settings.login;
        login.storage_state = absolute(&self.storage_state)?.or(login.storage_state.take());
        login.script = absolute(&self.login)?.or(login.script.take());
        login.logged_in = self.logged_in.clone().or(login.logged_in.take());
        login.before_reset = self.before_reset.clone().or(login.before_reset.take());
        if !self.header.is_empty() {
            login.set_headers(&self.header, &mut given).map_err(CommandFailure::Input)?;
        }
        if !self.cookie.is_empty() {
            login.set_cookies(&self.cookie, &mut given).map_err(CommandFailure::Input)?;
        }
        let http = settings.access.http.take().or_else(|| login::of_environment(&settings.url));
        settings.login.http |= http.is_some();
        settings.access = Access { http, ..Access::default() };
        Ok(given)
    }
}

/// Reads the secrets that the settings name.
pub fn read_access(
    settings: &mut CrawlSettings,
    given: &GivenSecrets,
) -> Result<(), CommandFailure> {
    let http = settings.access.http.take();
    if settings.login.http && http.is_none() {
        let variable = login::VARIABLE;
        return Err(CommandFailure::Input(format!(
            "the crawl began with a user name and a password, which are not stored: set \
             {variable}=USER:PASSWORD"
        )));
    }
    let read = settings.login.read(&settings.url, http, given).map_err(CommandFailure::Input)?;
    read.notes.iter().for_each(|note| terminal::message(note));
    settings.access = read.access;
    Ok(())
}

/// Refuses a crawl that would put the server's data back while other tabs use them.
pub fn check_tabs(settings: &CrawlSettings) -> Result<(), CommandFailure> {
    if settings.login.before_reset.is_some() && settings.tabs > 1 {
        return Err(CommandFailure::Input(format!(
            "--before-reset cannot be used with {} tabs: it would change the data under the other \
             tabs; use --tabs 1",
            settings.tabs
        )));
    }
    Ok(())
}
