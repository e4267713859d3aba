//! A server of pages that a test makes up: a function from the path to the answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// An answer: its headers, one per line, and its body.
pub struct Answer {
    headers: String,
    body: String,
}

impl Answer {
    /// A page.
    pub fn page(body: impl Into<String>) -> Self {
        Self { headers: "content-type: text/html; charset=utf-8\r\n".to_owned(), body: body.into() }
    }

    /// Something else than a page.
    pub fn of_type(kind: &str, body: impl Into<String>) -> Self {
        Self { headers: format!("content-type: {kind}\r\n"), body: body.into() }
    }
}

/// The server; it stops when it is dropped.
pub struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves on any free port of loopback. The function gets the path with its query.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let answer = Arc::new(answer);
        let thread = thread::spawn({
            let stop = stop.clone();
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let answer = answer.clone();
                    // Ends with its connection: the browser closes it, at the latest when it ends.
                    thread::spawn(move || converse(&stream, &*answer));
                }
            }
        });
        Self { address, stop, thread: Some(thread) }
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // To wake it up.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers the requests of one connection until it is closed.
fn converse(stream: &TcpStream, answer: &dyn Fn(&str) -> Answer) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(request)) = lines.next() {
        // The headers do not matter; an empty line ends them.
        while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
        let target = request.split(' ').nth(1).unwrap_or_default();
        let Answer { headers, body } = answer(target);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\n{headers}cache-control: no-store\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut stream = stream;
        if stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .is_err()
        {
            return;
        }
    }
}
