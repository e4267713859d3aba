//! Loads scripts, styles, fonts and images of other origins for pages, so that the browser itself
//! has no connection to them over which anything else could leave. Sends GET and nothing else,
//! without cookies; keeps what may be kept for the time of the crawl.
//!
//! The answers are hostile: every length is bounded.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, Semaphore};
use tokio_rustls::TlsConnector;

use crate::border::{Border, UrlParts};

mod answer;
mod trust;

pub(crate) use answer::OutsiderAnswer;

/// How long a server may take for one resource.
const LONGEST: Duration = Duration::from_secs(20);
/// How many resources are loaded at once.
const AT_ONCE: usize = 16;
/// The bytes that are kept.
const KEPT_BYTES: usize = 64 << 20;
/// The headers of a page's request that are sent along.
const SENT: [&str; 5] = ["accept", "accept-language", "origin", "referer", "user-agent"];

/// What a crawl has loaded from other origins.
#[derive(Debug)]
pub(crate) struct OutsiderCache {
    kept: Mutex<Kept>,
    permits: Semaphore,
    /// Whether the application is on this machine or in its private network.
    is_local: OnceCell<bool>,
    trust: OnceCell<Option<Connector>>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    answers: BTreeMap<(String, Option<String>), Arc<OutsiderAnswer>>,
}

#[derive(Clone)]
struct Connector(TlsConnector);

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

impl Default for OutsiderCache {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            permits: Semaphore::new(AT_ONCE),
            is_local: OnceCell::new(),
            trust: OnceCell::new(),
        }
    }
}

/// Loads a resource of another origin, with headers of the page's request.
pub(crate) async fn load(
    border: &Border,
    url: &str,
    headers: &BTreeMap<String, String>,
) -> io::Result<Arc<OutsiderAnswer>> {
    let cache = &border.cache;
    let header = |name: &str| {
        let found = headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    };
    let key = (url.to_owned(), header("origin"));
    if let Some(known) = cache.kept().answers.get(&key) {
        return Ok(known.clone());
    }
    let _permit = cache.permits.acquire().await.map_err(io::Error::other)?;
    let parts = UrlParts::of(url).ok_or_else(|| io::Error::other("not an address"))?;
    let sent = SENT.into_iter().filter_map(|name| Some((name, header(name)?))).collect();
    let loading = request(border, &parts, sent);
    let answer = Arc::new(tokio::time::timeout(LONGEST, loading).await??);
    if answer.may_be_kept() {
        let mut kept = cache.kept();
        if kept.bytes + answer.body.len() <= KEPT_BYTES {
            kept.bytes += answer.body.len();
            kept.answers.insert(key, answer.clone());
        }
    }
    Ok(answer)
}

impl OutsiderCache {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn request(
    border: &Border,
    url: &UrlParts,
    headers: Vec<(&str, String)>,
) -> io::Result<OutsiderAnswer> {
    // An address or a value with a line break would be a second request.
    let has_breaks = |text: &str| text.bytes().any(|byte| byte < b' ' || byte == 127);
    if url.path.contains(' ')
        || has_breaks(&url.path)
        || headers.iter().any(|(_, value)| has_breaks(value))
    {
        return Err(io::Error::other("a request of several lines"));
    }
    let mut head = format!("GET {} HTTP/1.1\r\nhost: {}", url.path, url.host);
    let usual = if url.scheme == "http" { 80 } else { 443 };
    if url.port != usual {
        head.push_str(&format!(":{}", url.port));
    }
    for (name, value) in headers {
        head.push_str(&format!("\r\n{name}: {value}"));
    }
    head.push_str("\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n");
    let stream = connect(border, url).await?;
    if url.scheme == "http" {
        return exchange(stream, &head).await;
    }
    let trust = border.cache.trust.get_or_init(|| async { trust::connector().map(Connector) });
    let Some(Connector(tls)) = trust.await else {
        return Err(io::Error::other("this machine has no list of trusted authorities"));
    };
    let name = url.host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = name.try_into().map_err(io::Error::other)?;
    exchange(tls.connect(name, stream).await?, &head).await
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    head: &str,
) -> io::Result<OutsiderAnswer> {
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;
    answer::read(stream).await
}

/// Connects to a server outside. A page from the internet must not reach what only this machine or
/// its private network can reach: browsers refuse that, too.
async fn connect(border: &Border, url: &UrlParts) -> io::Result<TcpStream> {
    let own = border.bounds.own_host();
    let is_local = border.cache.is_local.get_or_init(|| async {
        match own {
            Some((host, port)) => {
                resolve(host, port).await.iter().any(|address| is_private(*address))
            }
            None => false,
        }
    });
    let is_local = *is_local.await;
    let addresses = resolve(&url.host, url.port).await;
    let mut refused = io::Error::other("there is no such host");
    for address in addresses.into_iter().filter(|address| is_local || !is_private(*address)) {
        match TcpStream::connect((address, url.port)).await {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

async fn resolve(host: &str, port: u16) -> Vec<IpAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((host, port)).await;
    found.map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
}

/// Whether an address is of this machine or of a private network.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || matches!(v4.octets(), [100, 64..128, ..])
        }
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_private(IpAddr::V4(v4)),
            None => {
                v6.is_loopback()
                    || v6.is_unspecified()
                    || v6.is_unique_local()
                    || v6.is_unicast_link_local()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::border::CrawlBounds;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    async fn serve(answer: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hears = heard.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = [0; 4096];
                let length = stream.read(&mut bytes).await.unwrap();
                hears.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        (port, heard)
    }

    #[test]
    fn only_harmless_headers_are_sent_and_an_answer_is_loaded_once() {
        runtime().block_on(async {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\n\r\nhi";
            let (port, heard) = serve(answer).await;
            let border = Border::new(CrawlBounds::of_origin("http://127.0.0.1:1"));
            let url = format!("http://localhost:{port}/a.js?b");
            let headers = [("Accept", "*/*"), ("Cookie", "secret"), ("Authorization", "x")];
            let headers: BTreeMap<String, String> =
                headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            for _ in 0..2 {
                let loaded = load(&border, &url, &headers).await.unwrap();
                assert_eq!((loaded.status, &*loaded.body), (200, &b"hi"[..]));
                assert!(loaded.headers.iter().all(|(name, _)| name != "set-cookie"));
            }
            let heard = heard.lock().unwrap();
            let expected = format!(
                "GET /a.js?b HTTP/1.1\r\nhost: localhost:{port}\r\naccept: */*\r\n\
                 accept-encoding: identity\r\nconnection: close\r\n\r\n"
            );
            assert_eq!(*heard, [expected]);
        });
    }

    #[test]
    fn a_header_with_a_line_break_is_not_sent() {
        runtime().block_on(async {
            let border = Border::new(CrawlBounds::of_origin("http://127.0.0.1:1"));
            let (port, heard) = serve("").await;
            let url = format!("http://127.0.0.1:{port}/");
            for value in ["a\r\nx: y", "a\nx: y", "a\rb"] {
                let headers = [("referer".to_owned(), value.to_owned())].into();
                let error = load(&border, &url, &headers).await.unwrap_err();
                assert_eq!(error.to_string(), "a request of several lines");
            }
            assert!(heard.lock().unwrap().is_empty());
        });
    }

    #[test]
    fn a_page_from_the_internet_reaches_nothing_private() {
        runtime().block_on(async {
            let (port, heard) = serve("HTTP/1.1 200 OK\r\n\r\n").await;
            // An address that is never assigned, so that it is certainly not private.
            let border = Border::new(CrawlBounds::of_origin("http://192.0.2.1"));
            let url = format!("http://127.0.0.1:{port}/");
            assert!(load(&border, &url, &BTreeMap::new()).await.is_err());
            assert!(heard.lock().unwrap().is_empty());
        });
        for private in
            ["10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:192.168.0.1", "0.0.0.0"]
        {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "2606:4700::1", "172.32.0.1"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }
}
