//! Greets processes that dial. Each address has a limited number of handshakes and connections
//! (`places`), a handshake has a deadline, and refusals are logged at a bounded rate.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use argiope_wire::{Hello, IncomingConnection, Listener};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::super::connections::Switch;
use super::dispatcher::{Dispatcher, ProcessEvent, interval, shown};
use super::places::{Handshakes, Place, Seats, machine_of};

/// How many refusals are logged one by one in each period; the others are counted.
const LOGGED: u32 = 5;
const LOG_PERIOD: Duration = Duration::from_secs(10);
/// Why a dialer lost its place.
const DISPLACED: &str = "it did not complete the handshake, and others were waiting";

impl Dispatcher {
    /// Greets processes that dial, until the task is aborted.
    pub(super) fn accept_from(&self, mut listener: Listener, open_files: usize) -> JoinHandle<()> {
        let greeter = Greeter {
            switch: self.switch.clone(),
            events: self.events.clone(),
            seats: Seats::default(),
            log: Rc::default(),
        };
        let handshakes = Handshakes::new(open_files);
        let mut log_period = interval(LOG_PERIOD);
        tokio::task::spawn_local(async move {
            loop {
                let incoming = tokio::select! {
                    _ = log_period.tick() => {
                        greeter.log.borrow_mut().sum_up();
                        continue;
                    }
                    incoming = listener.accept() => incoming,
                };
                let place = handshakes.place(machine_of(&incoming.from));
                let key = place.key();
                let task = tokio::task::spawn_local(greeter.clone().greet(incoming, place));
                if let Some(displaced) = handshakes.begin(key, task.abort_handle()) {
                    greeter.log.borrow_mut().add(&displaced.to_string(), DISPLACED);
                }
            }
        })
    }
}

/// What every handshake needs.
#[derive(Clone)]
struct Greeter {
    switch: Switch,
    events: mpsc::UnboundedSender<ProcessEvent>,
    seats: Seats,
    log: Rc<RefCell<RefusalLog>>,
}

impl Greeter {
    async fn greet(self, incoming: IncomingConnection, place: Place) {
        let from = incoming.from.clone();
        let (me, limits) = (&self.switch.me, &self.switch.limits);
        let seat = Mutex::new(None);
        let check = |hello: &Hello| {
            let taken = self.seats.take(machine_of(&from), hello.role)?;
            *seat.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
            Ok(())
        };
        let greeted = async {
            let secured = incoming.secure(limits).await?;
            if secured.is_certified()
                && let Some(displaced) = place.certify()
            {
                self.log.borrow_mut().add(&displaced.to_string(), DISPLACED);
            }
            secured.handshake(me, limits, &check).await
        };
        match greeted.await {
            Ok(connection) => {
                let seat = seat.into_inner().unwrap_or_else(PoisonError::into_inner);
                let _ = self.events.send(ProcessEvent::Welcomed(connection, seat));
            }
            Err(reason) => self.log.borrow_mut().add(&from, &reason.to_string()),
        }
    }
}

/// Logs refusals at a bounded rate.
#[derive(Default)]
struct RefusalLog {
    count: u32,
}

impl RefusalLog {
    fn add(&mut self, from: &str, reason: &str) {
        self.count = self.count.saturating_add(1);
        if self.count <= LOGGED {
            tracing::warn!(from = %shown(from), %reason, "refused a connection");
        }
    }

    /// Ends a period.
    fn sum_up(&mut self) {
        let count = self.count.saturating_sub(LOGGED);
        if count > 0 {
            tracing::warn!(count, "refused further connections");
        }
        self.count = 0;
    }
}
