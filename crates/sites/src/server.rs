//! Serves one fixture, on loopback unless told otherwise, on a thread of its own, so that it does
//! not disturb the measurement of a crawler.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::routes::sessions;
use crate::site::{MissingLibrary, Site};

/// The largest form that a fixture reads, in bytes.
const LARGEST_FORM: usize = 1 << 20;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no fixture of that name.
    #[error("there is no fixture named {0:?}")]
    Unknown(String),
    /// The fixture needs a library that is not installed.
    #[error(transparent)]
    Missing(#[from] MissingLibrary),
    /// The runtime or the socket cannot be created.
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
}

/// The number of requests for each path.
type Requests = Mutex<BTreeMap<String, u64>>;

/// A running server of one fixture. It stops when it is dropped, or when a page stops it.
#[derive(Debug)]
pub struct Server {
    site: Site,
    address: SocketAddr,
    requests: Arc<Requests>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a fixture on any free port.
    pub fn start(site: &str) -> Result<Self, StartError> {
        Self::start_at(site, 0)
    }

    /// Serves a fixture on a port. Port 0 takes any free one.
    pub fn start_at(site: &str, port: u16) -> Result<Self, StartError> {
        Self::start_on(site, SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// Serves a fixture on an address of this machine, so that browsers on others reach it.
    pub fn start_on(site: &str, address: SocketAddr) -> Result<Self, StartError> {
        let site = Site::find(site).ok_or_else(|| StartError::Unknown(site.to_string()))?;
        site.check_libraries()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let requests = Arc::new(Requests::default());
        let counts = requests.clone();
        let thread = thread::Builder::new()
            .name(format!("site {}", site.name()))
            .spawn(move || serve(&runtime, listener, site, counts, stopped))?;
        Ok(Self { site, address, requests, stop: Some(stop), thread: Some(thread) })
    }

    /// The address of the fixture's first page, with the login that the fixture demands.
    pub fn url(&self) -> String {
        let login = self.site.login().map_or_else(String::new, |(login, _)| format!("{login}@"));
        format!("http://{login}{}/", self.address)
    }

    /// The number of requests for a path so far.
    pub fn requests(&self, path: &str) -> u64 {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or(0)
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The receiver is gone only if the thread has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until `stopped`. The runtime is then dropped with all connections and delayed replies.
fn serve(
    runtime: &Runtime,
    listener: TcpListener,
    site: Site,
    requests: Arc<Requests>,
    stopped: oneshot::Receiver<()>,
) {
    let memory = Arc::new(ServerMemory::default());
    let app = Router::new().fallback(answer).with_state((site, memory.clone(), requests));
    // The reply that stops the server still leaves; no further connection is accepted.
    let by_itself = async move { memory.stopped.notified().await };
    runtime.block_on(async move {
        tokio::select! {
            _ = axum::serve(listener, app).with_graceful_shutdown(by_itself).into_future() => {}
            _ = stopped => {}
        }
    });
}

async fn answer(
    State((site, memory, requests)): State<(Site, Arc<ServerMemory>, Arc<Requests>)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    // A body that is too large is no form.
    let form = axum::body::to_bytes(body, LARGEST_FORM).await.unwrap_or_default();
    let parsed = SiteRequest {
        path: head.uri.path().to_string(),
        query: head.uri.query().unwrap_or_default().to_string(),
        host: header("host").unwrap_or_default().to_string(),
        cookies: header("cookie").unwrap_or_default().to_string(),
        form: String::from_utf8_lossy(&form).into_owned(),
    };
    *requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(parsed.path.clone())
        .or_default() += 1;
    let reply = match sessions::challenge(site, &parsed.path, header("authorization")) {
        None => site.answer(&parsed, &memory),
        Some(challenge) => {
            let refused = "<!doctype html><title>401</title><h1>Members only</h1>";
            SiteReply::html(refused).status(401).header("www-authenticate", challenge)
        }
    };
    if reply.delay > Duration::ZERO {
        tokio::time::sleep(reply.delay).await;
    }
    if reply.stops {
        memory.stopped.notify_one();
    }
    response(reply)
}

fn response(reply: SiteReply) -> Response {
    // The browser must not cache: a reset must load the present page of the server.
    let mut response = Response::builder().status(reply.status).header("cache-control", "no-store");
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body.into_owned())).expect("the headers are well formed")
}
