//! Pages of the tests, and a server that records every action on the switches: each switch reports
//! its action before the effect shows.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// An action by the names that page and store share: the state's title and the button's text.
pub type Executed = (String, String);

/// `/switches?count=N&noise=BYTES`: N switches, and a hidden text of that length that differs from
/// state to state. `/grid?width=N`: a place on a grid, and a button for each direction.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>start</title>
<p id="buttons"></p>
<p id="shown"></p>
<p id="noise" hidden></p>
<script>
  const wanted = new URLSearchParams(location.search);
  const count = Number(wanted.get('count')), width = Number(wanted.get('width'));
  const length = Number(wanted.get('noise') ?? 0);
  const place = Array.from({ length: width ? 2 : count }, () => 0);
  const at = (id) => document.getElementById(id);
  // Letters that do not compress well, the same for the same state.
  function noise(text) {
    let seed = 1, said = '';
    for (const one of text) seed = (Math.imul(seed, 31) + one.charCodeAt(0)) >>> 0 || 1;
    while (said.length < length) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      said += seed.toString(36);
    }
    return said;
  }
  function button(text, action) {
    const button = document.createElement('button');
    button.textContent = text;
    button.addEventListener('click', async () => {
      if (!width) await fetch(`did?state=${document.title}&action=${text}`);
      action();
      show();
    });
    return button;
  }
  function move(axis, by) { place[axis] += by; }
  function show() {
    document.title = place.join('-');
    at('shown').textContent = document.title;
    at('noise').textContent = noise(document.title);
    const ways = width
      ? [['left', 0, -1], ['right', 0, 1], ['up', 1, -1], ['down', 1, 1]].filter(([, axis, by]) =>
          place[axis] + by >= 0 && place[axis] + by < width)
      : place.map((on, axis) => [`s${axis}`, axis, on ? -1 : 1]);
    at('buttons').replaceChildren(...ways.map(([text, axis, by]) => button(text, () => move(axis, by))));
  }
  show();
</script>
</html>
"#;

/// The server; it stops when it is dropped.
pub struct Pages {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Executed>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pages {
    /// Serves on any free port of loopback; every action takes this long.
    pub fn start(delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (heard, stop) = (heard.clone(), stop.clone());
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let heard = heard.clone();
                    // Ends with its connection: the browser closes it, at the latest when it ends.
                    thread::spawn(move || answer(&stream, &heard, delay));
                }
            }
        });
        Self { address, heard, stop, thread: Some(thread) }
    }

    /// The address of a page.
    pub fn url(&self, page: &str) -> String {
        format!("http://{}/{page}", self.address)
    }

    /// How many actions were executed since the last time that they were taken.
    pub fn count(&self) -> usize {
        self.heard.lock().unwrap().len()
    }

    /// The actions that were executed since the last time, each once.
    pub fn take(&self) -> BTreeSet<Executed> {
        self.heard.lock().unwrap().drain(..).collect()
    }
}

impl Drop for Pages {
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
fn answer(stream: &TcpStream, heard: &Mutex<Vec<Executed>>, delay: Duration) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(request)) = lines.next() {
        // The headers do not matter; an empty line ends them.
        while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
        let target = request.split(' ').nth(1).unwrap_or_default();
        let body = match executed(target) {
            Some(action) => {
                heard.lock().unwrap().push(action);
                thread::sleep(delay);
                "heard"
            }
            None => PAGE,
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncache-control: no-store\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        let mut stream = stream;
        if stream.write_all(head.as_bytes()).is_err() {
            return;
        }
    }
}

fn executed(target: &str) -> Option<Executed> {
    let (_, query) = target.split_once("/did?")?;
    let (state, action) = query.strip_prefix("state=")?.split_once("&action=")?;
    Some((state.to_owned(), action.to_owned()))
}
