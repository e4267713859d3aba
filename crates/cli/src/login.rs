//! The login of an application out of the environment: a command line is visible to other users of
//! the machine, the environment of a process is not.

use argiope_browser::Login;
use argiope_runtime::address::PlainUrl;

/// The variable that holds a login as USER:PASSWORD.
pub const VARIABLE: &str = "ARGIOPE_LOGIN";

/// The login that the environment holds for an application.
pub fn of_environment(url: &PlainUrl) -> Option<Login> {
    let text = std::env::var(VARIABLE).ok()?;
    let (user, secret) = text.split_once(':').unwrap_or((&text, ""));
    url.login(user, secret)
}

/// Takes the login out of the arguments of another command. Returns what [`VARIABLE`] must hold for
/// it.
pub fn take_from(arguments: &mut [String]) -> Option<String> {
    let mut taken = None;
    for argument in arguments.iter_mut().filter(|argument| argument.contains("://")) {
        if let (plain, Some(login)) = PlainUrl::divide(argument) {
            let (user, secret) = login.reveal();
            taken = Some(format!("{user}:{secret}"));
            *argument = plain.into();
        }
    }
    taken
}
