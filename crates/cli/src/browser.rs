//! The browser that a command drives.

use std::path::Path;

use argiope_browser::Executable;
use argiope_browser::find::{self, FindError};

use crate::failure::CommandFailure;

/// Finds the browser that the command line asks for, or the default one.
pub fn find(requested: Option<&Path>) -> Result<Executable, CommandFailure> {
    let variable = |name| std::env::var_os(name);
    find::find(requested, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref())
        .map_err(|error| refused(&error))
}

/// A missing browser is bad input only if the command line asks for it.
pub fn refused(error: &FindError) -> CommandFailure {
    match error {
        FindError::Unusable { .. } => CommandFailure::Input(error.to_string()),
        FindError::Missing | FindError::TooOld { .. } => CommandFailure::Failed(error.to_string()),
    }
}
