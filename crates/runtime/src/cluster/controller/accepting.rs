//! Greets processes that dial. A socket that says nothing for a second keeps its place only while
//! places are free: then the oldest one of the address with the most places loses its place.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use argiope_wire::{IncomingConnection, Listener};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use super::super::connections::Switch;
use super::dispatcher::{Dispatcher, ProcessEvent, shown};

/// With more dialers at a time than this, silent ones lose their place.
const PLACES: usize = 256;
/// How long a dialer may say nothing all the same: thousands of crawlers may dial at once.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many refusals are logged one by one in each period; the others are counted.
const LOGGED: u32 = 5;
const LOG_PERIOD: Duration = Duration::from_secs(10);

impl Dispatcher {
    /// Greets processes that dial, until the task is aborted.
    pub(super) fn accept_from(&self, mut listener: Listener) -> JoinHandle<()> {
        let (switch, events) = (self.switch.clone(), self.events.clone());
        tokio::task::spawn_local(async move {
            let (refused, mut refusals) = mpsc::unbounded_channel::<(String, String)>();
            let mut places = Places::default();
            let mut log = RefusalLog::default();
            loop {
                let incoming = tokio::select! {
                    Some((from, reason)) = refusals.recv() => {
                        log.add(&from, &reason);
                        continue;
                    }
                    incoming = listener.accept() => incoming,
                };
                let from = incoming.from.clone();
                let greeting = greet(incoming, switch.clone(), events.clone(), refused.clone());
                let greeting = tokio::task::spawn_local(greeting);
                if let Some(evicted) = places.take(&from, greeting.abort_handle()) {
                    log.add(&evicted, "it said nothing, and others were waiting");
                }
            }
        })
    }
}

async fn greet(
    incoming: IncomingConnection,
    switch: Switch,
    events: mpsc::UnboundedSender<ProcessEvent>,
    refused: mpsc::UnboundedSender<(String, String)>,
) {
    let from = incoming.from.clone();
    match incoming.handshake(&switch.me, &switch.limits, &|_| Ok(())).await {
        Ok(connection) => _ = events.send(ProcessEvent::Welcomed(connection)),
        Err(reason) => _ = refused.send((from, reason.to_string())),
    }
}

/// Handshakes under way, the oldest first.
#[derive(Default)]
struct Places(VecDeque<(String, Instant, AbortHandle)>);

impl Places {
    /// Takes a place for a handshake. Returns the address of the one that lost its place for it.
    fn take(&mut self, from: &str, task: AbortHandle) -> Option<String> {
        self.0.retain(|(.., task)| !task.is_finished());
        let evicted = if self.0.len() >= PLACES { self.evict(PATIENCE) } else { None };
        self.0.push_back((host(from).to_owned(), Instant::now(), task));
        evicted
    }

    fn evict(&mut self, patience: Duration) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (host, ..) in self.0.iter().filter(|(_, since, _)| since.elapsed() >= patience) {
            *counts.entry(host).or_default() += 1;
        }
        let (most, _) = counts.into_iter().max_by_key(|&(_, count)| count)?;
        let oldest = self.0.iter().position(|(host, ..)| host == most)?;
        let (host, _, task) = self.0.remove(oldest)?;
        task.abort();
        Some(host)
    }
}

/// An address without its port.
fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// Logs refusals at a bounded rate.
#[derive(Default)]
struct RefusalLog {
    began: Option<Instant>,
    count: u32,
}

impl RefusalLog {
    fn add(&mut self, from: &str, reason: &str) {
        if self.began.is_none_or(|began| began.elapsed() > LOG_PERIOD) {
            if self.count > LOGGED {
                let count = self.count - LOGGED;
                tracing::warn!(count, "refused further connections");
            }
            (self.began, self.count) = (Some(Instant::now()), 0);
        }
        self.count += 1;
        if self.count <= LOGGED {
            tracing::warn!(from = %shown(from), %reason, "refused a connection");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(local: &tokio::task::LocalSet) -> AbortHandle {
        local.spawn_local(std::future::pending::<()>()).abort_handle()
    }

    #[test]
    fn the_address_with_the_most_silent_sockets_loses_a_place_first() {
        let local = tokio::task::LocalSet::new();
        let mut places = Places::default();
        assert_eq!(places.take("10.0.0.9:1", task(&local)), None);
        for port in 1..PLACES {
            assert_eq!(places.take(&format!("10.0.0.1:{port}"), task(&local)), None);
        }
        // Thousands may dial at once.
        assert_eq!(places.take("10.0.0.2:7", task(&local)), None);
        assert_eq!(places.evict(Duration::ZERO), Some("10.0.0.1".to_owned()));
        assert_eq!(places.0.len(), PLACES);
        assert_eq!(places.0.front().map(|(host, ..)| host.as_str()), Some("10.0.0.9"));
    }
}
