//! Ctrl-C ends a command at once: files are written atomically (see `output`). A command that must
//! finish something first listens for it; a second Ctrl-C then ends the process.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::failure::INTERRUPTED;
use crate::terminal;

/// The listener for the next Ctrl-C.
static LISTENER: Mutex<Option<Arc<Notify>>> = Mutex::new(None);

/// Makes Ctrl-C end the process with its documented code.
pub fn install() {
    let installed = ctrlc::set_handler(|| {
        let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listener) = listener {
            listener.notify_one();
            return;
        }
        terminal::message("interrupted before the end");
        process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        // Ctrl-C still ends the process, with the code of the system.
        terminal::message(&format!("cannot handle Ctrl-C: {error}"));
    }
}

/// Returns what the next Ctrl-C notifies instead of ending the process.
pub fn listen() -> Arc<Notify> {
    let heard = Arc::new(Notify::new());
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(heard.clone());
    heard
}
