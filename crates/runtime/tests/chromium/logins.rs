//! What a reset restores, and which server gets it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use argiope_browser::access::SavedCookie;
use argiope_runtime::crawl::CrawlError;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;

use crate::real::{Place, model, records, run};

/// The heads of all requests, in lower case.
type Heads = Arc<Mutex<Vec<String>>>;

/// Serves until the tests end: the answer to a method and a path is a status line with headers, and
/// a body.
fn serve(
    answer: impl Fn(&str, &str) -> (String, String) + Send + Sync + 'static,
) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Heads::default();
    let (answer, kept) = (Arc::new(answer), heads.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer, kept) = (stream.unwrap(), answer.clone(), kept.clone());
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut bytes = [0; 4096];
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut bytes) {
                        Ok(length @ 1..) => head.extend_from_slice(&bytes[..length]),
                        _ => return,
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let mut words = head.split(' ');
                let (method, path) = (words.next().unwrap(), words.next().unwrap());
                let (status, body) = answer(method, path);
                kept.lock().unwrap().push(head.to_lowercase());
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
                     Connection: close\r\n\r\n{body}"
                );
            });
        }
    });
    (address, heads)
}

fn page(body: &str) -> (String, String) {
    let html = format!("<!doctype html><meta charset=\"utf-8\"><title>a</title>{body}");
    ("200 OK\r\nContent-Type: text/html; charset=utf-8".to_owned(), html)
}

#[test]
fn headers_and_cookies_go_to_the_origin_alone() {
    let (third, at_third) = serve(|_, _| ("204 No Content".to_owned(), String::new()));
    let other = format!("http://localhost:{}", third.port());
    let (own, at_own) = serve(move |_, path| match path {
        "/" => page(&format!(
            "<p>members</p><img src=\"{other}/image\"><img src=\"/away\">\
             <script src=\"{other}/script\"></script><button onclick=\"fetch('/data')\">get</button>"
        )),
        "/away" => (format!("302 Found\r\nLocation: {other}/redirected"), String::new()),
        _ => ("200 OK\r\nContent-Type: text/plain".to_owned(), "text".to_owned()),
    });
    let place = Place::new();
    let mut settings = CrawlSettings::new(format!("http://{own}/"));
    settings.access.headers = vec![("X-Token".to_owned(), "whisper".to_owned())];
    settings.access.saved.cookies = vec![SavedCookie {
        name: "id".to_owned(),
        value: "murmur".to_owned(),
        domain: "127.0.0.1".to_owned(),
        path: "/".to_owned(),
        expires: -1.0,
        ..SavedCookie::default()
    }];
    run(&settings, &place.path("run")).unwrap();
    let own: Vec<String> =
        at_own.lock().unwrap().iter().filter(|head| !head.contains("/favicon")).cloned().collect();
    assert!(own.iter().any(|head| head.starts_with("get /data")), "{own:?}");
    for head in &own {
        assert!(head.contains("x-token: whisper") && head.contains("id=murmur"), "{head}");
    }
    let third = at_third.lock().unwrap().clone();
    for path in ["/image", "/script", "/redirected"] {
        assert!(third.iter().any(|head| head.contains(path)), "{path} is not in {third:?}");
    }
    for head in &third {
        assert!(!head.contains("whisper") && !head.contains("murmur"), "{head}");
    }
}

#[test]
fn each_reset_restores_stored_values_before_the_page_runs() {
    let body = "<p id=a></p><button id=b>more</button><script>
      const show = () => {
        const count = Number(localStorage.count);
        a.textContent = `${localStorage.token} ${sessionStorage.part} ${count}`;
        b.hidden = count === 12;
      };
      b.onclick = () => { localStorage.count = Number(localStorage.count) + 1; show(); };
      show();
    </script>";
    let (address, _) = serve(move |_, _| page(body));
    let place = Place::new();
    let mut settings = CrawlSettings::new(format!("http://{address}/"));
    let items = |items: &[(&str, &str)]| {
        items.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    settings.access.saved.local = items(&[("token", "whisper"), ("count", "10")]);
    settings.access.saved.session = items(&[("part", "murmur")]);
    let directory = place.path("run");
    let summary = run(&settings, &directory).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert_eq!(model(&records(&directory)).states.len(), 3, "10, 11 and 12");
    let store = Store::read(&directory).unwrap();
    for state in store.states().unwrap() {
        let source = store.blob(state.unwrap().1.source).unwrap().unwrap();
        let source = String::from_utf8_lossy(&source).into_owned();
        assert!(source.contains("whisper murmur 1"), "{source}");
    }
}

/// A page with a number that the server remembers.
fn counter() -> SocketAddr {
    let count = AtomicU32::new(7);
    let (address, _) = serve(move |method, path| match (method, path) {
        ("POST", "/reset") => {
            count.store(0, Ordering::Relaxed);
            ("200 OK".to_owned(), String::new())
        }
        ("POST", "/add") => {
            count.fetch_add(1, Ordering::Relaxed);
            ("303 See Other\r\nLocation: /".to_owned(), String::new())
        }
        (_, "/") => {
            let count = count.load(Ordering::Relaxed);
            let more = if count < 2 { "<form method=post action=/add><button>add" } else { "" };
            page(&format!("<p>{count}</p>{more}"))
        }
        _ => ("404 Not Found".to_owned(), String::new()),
    });
    address
}

#[test]
fn the_servers_data_are_put_back_before_each_reset() {
    let address = counter();
    let place = Place::new();
    let mut settings = CrawlSettings::new(format!("http://{address}/"));
    settings.login.before_reset = Some(format!("http://{address}/reset"));
    let directory = place.path("run");
    let summary = run(&settings, &directory).unwrap();
    assert!(summary.complete, "{summary:?}");
    let model = model(&records(&directory));
    assert_eq!((model.states.len(), model.transitions.len()), (3, 2));
}

#[test]
fn a_crawl_whose_data_cannot_be_put_back_stops_and_says_why() {
    let address = counter();
    let place = Place::new();
    let mut settings = CrawlSettings::new(format!("http://{address}/"));
    settings.login.before_reset = Some(format!("http://{address}/no-such-address"));
    let error = run(&settings, &place.path("run")).unwrap_err();
    assert!(matches!(&error, CrawlError::Login(why) if why.contains("status 404")), "{error}");
}
