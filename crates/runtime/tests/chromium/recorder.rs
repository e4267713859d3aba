//! A server that records everything that reaches its port: connections, requests, datagrams. It
//! answers resources as pages expect them, and can serve one page with its workers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the thread of the datagrams looks whether it must end.
const POLL: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Records {
    requests: Mutex<Vec<String>>,
    connections: AtomicUsize,
    datagrams: AtomicUsize,
    stop: AtomicBool,
}

/// The server; it stops when it is dropped.
pub struct Recorder {
    address: SocketAddr,
    records: Arc<Records>,
    threads: Vec<JoinHandle<()>>,
}

impl Recorder {
    /// Records on a free port, which `localhost` names, too.
    pub fn start() -> Self {
        Self::serving("")
    }

    /// The same with a page at its root. Pieces of it that begin with `//// NAME` are files.
    pub fn serving(page: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let datagrams = UdpSocket::bind(address).unwrap();
        datagrams.set_read_timeout(Some(POLL)).unwrap();
        let records = Arc::<Records>::default();
        let (of_tcp, of_udp) = (records.clone(), records.clone());
        let tcp = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if of_tcp.stop.load(Ordering::Relaxed) {
                    return;
                }
                of_tcp.connections.fetch_add(1, Ordering::Relaxed);
                let records = of_tcp.clone();
                // Ends with its connection.
                thread::spawn(move || answer(&stream, page, &records));
            }
        });
        let udp = thread::spawn(move || {
            let mut bytes = [0; 2048];
            while !of_udp.stop.load(Ordering::Relaxed) {
                if datagrams.recv_from(&mut bytes).is_ok() {
                    of_udp.datagrams.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self { address, records, threads: vec![tcp, udp] }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of its page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The requests so far: the first line, and the headers on the same line.
    pub fn heard(&self) -> Vec<String> {
        self.records.requests.lock().unwrap().clone()
    }

    /// How many connections were opened.
    pub fn connections(&self) -> usize {
        self.records.connections.load(Ordering::Relaxed)
    }

    /// How many datagrams arrived.
    pub fn datagrams(&self) -> usize {
        self.records.datagrams.load(Ordering::Relaxed)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.records.stop.store(true, Ordering::Relaxed);
        // To wake it up.
        let _ = TcpStream::connect(self.address);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// How many requests are for a path.
pub fn requests(heard: &[String], path: &str) -> usize {
    heard.iter().filter(|request| request.split(' ').nth(1) == Some(path)).count()
}

/// Answers the requests of one connection until it is closed.
fn answer(stream: &TcpStream, page: &str, records: &Records) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = Vec::new();
        loop {
            let mut line = Vec::new();
            if reader.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_lowercase_after_first(&request);
            if line.is_empty() {
                break;
            }
            request.push(line);
        }
        if request.is_empty() {
            return;
        }
        records.requests.lock().unwrap().push(request.join(" | "));
        let length = request.iter().find_map(|line| line.strip_prefix("content-length: "));
        let length: u64 = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        let _ = std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink());
        let target = request[0].split(' ').nth(1).unwrap_or_default();
        let (kind, body) = content(target, page);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\naccess-control-allow-origin: *\r\n\
             access-control-allow-methods: *\r\ncache-control: no-store\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = stream;
        if stream.write_all(head.as_bytes()).is_err() {
            return;
        }
    }
}

trait FirstLine {
    fn to_lowercase_after_first(&self, before: &[String]) -> String;
}

impl FirstLine for str {
    /// Names of headers are compared in lower case; the first line stays as it is.
    fn to_lowercase_after_first(&self, before: &[String]) -> String {
        if before.is_empty() { self.to_owned() } else { self.to_lowercase() }
    }
}

fn content<'a>(target: &str, page: &'a str) -> (&'static str, &'a str) {
    let path = target.split('?').next().unwrap_or_default();
    let kind = match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" => "text/javascript",
        "css" => "text/css",
        "svg" => "image/svg+xml",
        _ if path == "/" || path.ends_with(".html") => "text/html; charset=utf-8",
        _ => "text/plain",
    };
    let mut files = page.split("//// ");
    let first = files.next().unwrap_or_default();
    let named = files.find_map(|file| {
        let (name, text) = file.split_once('\n')?;
        (path.strip_prefix('/') == Some(name.trim())).then_some(text)
    });
    (kind, if path == "/" { first } else { named.unwrap_or("") })
}
