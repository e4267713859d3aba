//! The browser that a command drives: which one, and what it means that there is none.

use std::path::Path;

use argiope_browser::Executable;
use argiope_browser::find::{self, FindError};

use crate::failure::CommandFailure;

/// The browser that was asked for, or the one that is found.
pub fn find(asked: Option<&Path>) -> Result<Executable, CommandFailure> {
    let variable = |name| std::env::var_os(name);
    find::find(asked, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref())
        .map_err(|error| refused(&error))
}

/// What it means that there is no browser: bad input only if one was asked for.
pub fn refused(error: &FindError) -> CommandFailure {
    match error {
        FindError::Unusable { .. } => CommandFailure::Input(error.to_string()),
        FindError::Missing | FindError::TooOld { .. } => CommandFailure::Failed(error.to_string()),
    }
}
