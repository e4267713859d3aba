//! Ctrl-C ends the command at once. Most commands have nothing to put in order first: files are written
//! whole or not at all (see `output`). One that has asks to be told, and a second Ctrl-C ends that too.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::failure::INTERRUPTED;
use crate::terminal;

/// Who wants to be told of the next Ctrl-C.
static LISTENER: Mutex<Option<Arc<Notify>>> = Mutex::new(None);

/// From now on Ctrl-C ends the process with its documented code.
pub fn install() {
    let installed = ctrlc::set_handler(|| {
        let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listener) = listener {
            listener.notify_one();
            return;
        }
        terminal::message("interrupted before the command was complete");
        process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        // Then Ctrl-C ends the process the system's way, which is no reason not to start.
        terminal::message(&format!("cannot handle Ctrl-C: {error}"));
    }
}

/// Is notified at the next Ctrl-C, which then does nothing else.
pub fn listen() -> Arc<Notify> {
    let heard = Arc::new(Notify::new());
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(heard.clone());
    heard
}
