//! Ctrl-C ends the command at once. Nothing needs to be put in order first: files are written whole
//! or not at all (see `output`).

use std::process;

use crate::failure::INTERRUPTED;

/// From now on Ctrl-C ends the process with its documented code.
pub fn install() {
    let installed = ctrlc::set_handler(|| {
        eprintln!("argiope: interrupted before it was done");
        process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        // Then Ctrl-C ends the process the system's way, which is no reason not to start.
        eprintln!("argiope: Ctrl-C will not be reported: {error}");
    }
}
