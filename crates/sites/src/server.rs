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
use crate::site::{MissingLibrary, Site};

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

/// A running server of one fixture. It stops when it is dropped.
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
    let app = Router::new().fallback(answer).with_state((site, memory, requests));
    runtime.block_on(async move {
        tokio::select! {
            _ = axum::serve(listener, app).into_future() => {}
            _ = stopped => {}
        }
    });
}

async fn answer(
    State((site, memory, requests)): State<(Site, Arc<ServerMemory>, Arc<Requests>)>,
    request: Request,
) -> Response {
    let cookies = request.headers().get("cookie").and_then(|value| value.to_str().ok());
    let parsed = SiteRequest {
        path: request.uri().path().to_string(),
        query: request.uri().query().unwrap_or_default().to_string(),
        cookies: cookies.unwrap_or_default().to_string(),
    };
    *requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(parsed.path.clone())
        .or_default() += 1;
    let authorization = request.headers().get("authorization").map(|value| value.as_bytes());
    let is_allowed =
        site.login().is_none_or(|(_, header)| authorization == Some(header.as_bytes()));
    let reply = if is_allowed {
        site.answer(&parsed, &memory)
    } else {
        let refused = "<!doctype html><title>401</title><h1>Members only</h1>";
        SiteReply::html(refused).status(401).header("www-authenticate", "Basic realm=\"members\"")
    };
    if reply.delay > Duration::ZERO {
        tokio::time::sleep(reply.delay).await;
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
