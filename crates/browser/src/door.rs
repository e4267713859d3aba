//! The door of a tab: a proxy on loopback through which its browser context reaches everything but
//! the application itself. It refuses whatever is outside, whether a page, a frame, a worker, a
//! hint or the browser itself asks. In a safe crawl the application, too, is behind the door, which
//! passes only requests that change nothing.
//!
//! The door reads requests from a hostile page: every length is bounded, and what it cannot read it
//! refuses.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::border::{Border, UrlParts, divide_authority, is_safe_method};

mod hello;

/// The largest head of a request.
const LARGEST_HEAD: usize = 64 << 10;
/// How long a client may take to send it.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long a server may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(20);
/// The most connections at once. Others wait.
const MOST_CONNECTIONS: usize = 256;
/// The most refusals that wait to be read by the tab. Others are only counted.
const MOST_REFUSALS: usize = 256;
/// The longest address that is kept.
const LONGEST_ADDRESS: usize = 2000;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBecause {
    /// Its server is outside.
    Outside,
    /// It may change something, and the crawl is a safe one.
    Unsafe,
}

/// A request that the door refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// Why.
    pub reason: RefusedBecause,
    /// Its method; `CONNECT` where the door cannot know.
    pub method: String,
    /// The server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The whole address, or only the server where the door cannot know more.
    pub address: String,
}

/// A door. It closes when it is dropped.
#[derive(Debug)]
pub struct Door {
    port: u16,
    refusals: Arc<Mutex<Vec<RefusedRequest>>>,
    task: JoinHandle<()>,
}

impl Door {
    /// Opens a door in a border, on the current runtime.
    pub async fn open(border: Arc<Border>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let refusals = Arc::default();
        let guard = DoorGuard { border, refusals: Arc::clone(&refusals) };
        let task = tokio::spawn(guard.accept(listener));
        Ok(Self { port, refusals, task })
    }

    /// Its address, as a browser names a proxy.
    pub fn server(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests that were refused since the last call.
    pub fn take_refusals(&self) -> Vec<RefusedRequest> {
        std::mem::take(&mut *lock(&self.refusals))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(refusals: &Mutex<Vec<RefusedRequest>>) -> MutexGuard<'_, Vec<RefusedRequest>> {
    refusals.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone)]
struct DoorGuard {
    border: Arc<Border>,
    refusals: Arc<Mutex<Vec<RefusedRequest>>>,
}

impl DoorGuard {
    async fn accept(self, listener: TcpListener) {
        let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        // Dropped with the door, and all connections with it.
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let Ok(permit) = free.clone().acquire_owned().await else { return };
            let Ok((client, _)) = listener.accept().await else { continue };
            let guard = self.clone();
            connections.spawn(async move {
                // A connection that breaks off is the client's affair.
                let _ = guard.serve(client).await;
                drop(permit);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let read = tokio::time::timeout(HEAD_TIME, read_head(&mut client)).await;
        let Ok(Ok(Some((head, _)))) = read else { return Ok(()) };
        let Some(request) = ProxyRequest::read(&head) else { return Ok(()) };
        let bounds = &self.border.bounds;
        if !bounds.has_server(&request.host, request.port) {
            return self.refuse(client, &request, RefusedBecause::Outside).await;
        }
        if bounds.is_safe && !request.is_safe(bounds.is_encrypted(&request.host, request.port)) {
            return self.refuse(client, &request, RefusedBecause::Unsafe).await;
        }
        if request.method == "CONNECT" {
            self.tunnel(client, &request).await
        } else {
            forward(client, &request).await
        }
    }

    /// Refuses a request. A connection that ends without an answer is a failed request for every
    /// page; an answer would be a document of the host outside.
    async fn refuse(
        &self,
        mut client: TcpStream,
        request: &ProxyRequest,
        reason: RefusedBecause,
    ) -> io::Result<()> {
        {
            let mut refusals = lock(&self.refusals);
            if refusals.len() < MOST_REFUSALS {
                refusals.push(request.refusal(reason));
            } else {
                self.border.count_blocked(&request.host);
            }
        }
        if request.method == "CONNECT" {
            let refused =
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            client.write_all(refused).await?;
        }
        client.shutdown().await
    }

    /// Passes bytes between the browser and a server of the application that speaks TLS. In a safe
    /// crawl sockets are refused: only they do not offer the second version of the protocol.
    async fn tunnel(&self, mut client: TcpStream, request: &ProxyRequest) -> io::Result<()> {
        let mut server = connect(&request.host, request.port).await?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        if self.border.bounds.is_safe {
            let hello = tokio::time::timeout(HEAD_TIME, hello::read(&mut client)).await??;
            if !hello::offers_http2(&hello) {
                let socket = ProxyRequest { method: "SOCKET".to_owned(), ..request.clone() };
                return self.refuse(client, &socket, RefusedBecause::Unsafe).await;
            }
            server.write_all(&hello).await?;
        }
        tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
    }
}

/// A request as a browser sends it to a proxy.
#[derive(Clone, Debug)]
struct ProxyRequest {
    method: String,
    host: String,
    port: u16,
    /// The address; `host:port` for a tunnel.
    target: String,
    path: String,
    headers: Vec<(String, String)>,
}

impl ProxyRequest {
    fn read(head: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.filter(|line| !line.is_empty()).map(header).collect::<Option<_>>()?;
        let (host, port, path) = if method == "CONNECT" {
            let (host, port) = divide_authority(&target, 443)?;
            (host, port, String::new())
        } else {
            let url = UrlParts::of(&target)?;
            (url.host, url.port, url.path)
        };
        Some(Self { method, host, port, target, path, headers })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Whether a safe crawl may send it. A tunnel to a server without TLS is a socket.
    fn is_safe(&self, is_encrypted: bool) -> bool {
        if self.method == "CONNECT" {
            return is_encrypted;
        }
        let has_body = self.header("transfer-encoding").is_some()
            || self.header("content-length").is_some_and(|length| length != "0");
        is_safe_method(&self.method) && !has_body && self.header("upgrade").is_none()
    }

    fn refusal(&self, reason: RefusedBecause) -> RefusedRequest {
        // A tunnel to a server without TLS is a socket.
        let is_socket = self.method == "CONNECT" && reason == RefusedBecause::Unsafe;
        let method = if is_socket { "SOCKET" } else { &self.method };
        let cut = |text: &str| text.chars().take(LONGEST_ADDRESS).collect();
        RefusedRequest {
            reason,
            method: method.chars().take(20).collect(),
            host: cut(&self.host),
            port: self.port,
            address: cut(&self.target),
        }
    }
}

/// Reads up to the empty line: the head, and what came after it; `None` if there is no such line
/// within the limit. What a browser sends after a head is the body of a request: it is never passed
/// on.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut head = Vec::with_capacity(2048);
    loop {
        let searched = head.len().saturating_sub(3);
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
        if let Some(at) = head[searched..].windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = head.split_off(searched + at + 4);
            head.truncate(searched + at);
            return Ok(Some((head, rest)));
        }
        if head.len() > LARGEST_HEAD {
            return Ok(None);
        }
    }
}

async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let stream = tokio::time::timeout(CONNECT_TIME, TcpStream::connect((host, port))).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends one request without a body to a server of the application, and its answer back.
async fn forward(mut client: TcpStream, request: &ProxyRequest) -> io::Result<()> {
    let mut server = connect(&request.host, request.port).await?;
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    let is_ours = |name: &str| {
        ["connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade", "te"]
            .contains(&name)
    };
    for (name, value) in request.headers.iter().filter(|(name, _)| !is_ours(name)) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("connection: close\r\n\r\n");
    server.write_all(head.as_bytes()).await?;
    let (mut from_client, mut to_client) = client.split();
    let mut more = [0; 1];
    tokio::select! {
        answered = pass_answer(&mut server, &mut to_client) => answered?,
        // The client has gone, or begins another request: a new connection is for that.
        _ = from_client.read(&mut more) => {}
    }
    to_client.shutdown().await
}

/// Passes an answer on. Servers may keep a connection that they were asked to close: the browser
/// must not use it again, because nothing more of it is passed on.
async fn pass_answer(
    server: &mut TcpStream,
    client: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let Some((head, rest)) = read_head(server).await? else { return Ok(()) };
    let is_about_connection = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        ["connection", "keep-alive", "proxy-connection"]
            .iter()
            .any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
    };
    let mut passed = Vec::with_capacity(head.len() + rest.len() + 32);
    for line in head.split(|byte| *byte == b'\n').filter(|line| !is_about_connection(line)) {
        passed.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        passed.extend_from_slice(b"\r\n");
    }
    passed.extend_from_slice(b"connection: close\r\n\r\n");
    passed.extend_from_slice(&rest);
    client.write_all(&passed).await?;
    tokio::io::copy(server, client).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::CrawlBounds;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// A server that records what it gets and answers each connection once.
    async fn server() -> (u16, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hears = heard.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (head, _) = read_head(&mut stream).await.unwrap().unwrap_or_default();
                hears.lock().unwrap().push(String::from_utf8(head).unwrap());
                let answer = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhello";
                let _ = stream.write_all(answer).await;
            }
        });
        (port, heard)
    }

    async fn say(door: &Door, words: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
        stream.write_all(words.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    async fn door(port: u16, is_safe: bool) -> Door {
        let bounds = CrawlBounds::of_origin(&format!("http://127.0.0.1:{port}"));
        let border = Border::new(CrawlBounds { is_safe, ..bounds });
        Door::open(Arc::new(border)).await.unwrap()
    }

    #[test]
    fn everything_outside_is_refused_without_a_document_and_named() {
        runtime().block_on(async {
            let (port, heard) = server().await;
            let door = door(1, false).await;
            let tunnel = say(&door, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")).await;
            assert!(tunnel.starts_with("HTTP/1.1 403 "), "{tunnel}");
            let plain = format!("POST http://127.0.0.1:{port}/x?y HTTP/1.1\r\nHost: a\r\n\r\nbody");
            assert_eq!(say(&door, &plain).await, "");
            for broken in ["GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "GET http://a b c\r\nx\r\n\r\n"] {
                assert_eq!(say(&door, broken).await, "");
            }
            let refused: Vec<_> = door.take_refusals();
            assert_eq!(refused.len(), 2, "{refused:?}");
            assert_eq!(refused[0].address, format!("127.0.0.1:{port}"));
            assert_eq!((&*refused[1].method, refused[1].reason), ("POST", RefusedBecause::Outside));
            assert!(refused[1].address.ends_with("/x?y"));
            assert!(door.take_refusals().is_empty() && heard.lock().unwrap().is_empty());
        });
    }

    #[test]
    fn a_safe_crawl_passes_only_requests_that_change_nothing() {
        runtime().block_on(async {
            let (port, heard) = server().await;
            let door = door(port, true).await;
            let say_to = |line: &str, more: &str| {
                let words =
                    format!("{line}http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: h\r\n{more}\r\n");
                let door = &door;
                async move { say(door, &words).await }
            };
            let passed = say_to("GET ", "Proxy-Connection: keep-alive\r\nCookie: c=1\r\n").await;
            assert_eq!(passed, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello");
            for (line, more) in [
                ("POST ", "Content-Length: 0\r\n"),
                ("DELETE ", ""),
                ("get ", ""),
                ("GET ", "Upgrade: websocket\r\n"),
                ("GET ", "Content-Length: 5\r\n"),
                ("GET ", "Transfer-Encoding: chunked\r\n"),
            ] {
                assert_eq!(say_to(line, more).await, "", "{line}{more}");
            }
            let socket = say(&door, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")).await;
            assert!(socket.starts_with("HTTP/1.1 403 "), "{socket}");
            let refused = door.take_refusals();
            assert_eq!(refused.len(), 7, "{refused:?}");
            assert!(refused.iter().all(|refusal| refusal.reason == RefusedBecause::Unsafe));
            assert_eq!(refused[6].method, "SOCKET");
            let heard = heard.lock().unwrap();
            assert_eq!(*heard, ["GET /a HTTP/1.1\r\nhost: h\r\ncookie: c=1\r\nconnection: close"]);
        });
    }

    #[test]
    fn a_second_request_on_the_same_connection_never_arrives() {
        runtime().block_on(async {
            let (port, heard) = server().await;
            let door = door(port, true).await;
            let one = format!("GET http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: h\r\n\r\n");
            let two = format!("POST http://127.0.0.1:{port}/b HTTP/1.1\r\nHost: h\r\n\r\n");
            say(&door, &format!("{one}{two}")).await;
            assert!(heard.lock().unwrap().iter().all(|head| head.starts_with("GET /a ")));
        });
    }
}
