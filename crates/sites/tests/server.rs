//! The server over a socket, as a browser uses it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use argiope_sites::{Server, Site, StartError};

/// The raw response to one request.
fn get(address: SocketAddr, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_is_served_and_forbids_caching() {
    let server = Server::start("toggles").unwrap();
    assert_eq!(server.url(), format!("http://{}/", server.address()));
    let answer = get(server.address(), "/");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("cache-control: no-store"), "{answer}");
    assert!(answer.contains("<title>toggles</title>"), "{answer}");
}

#[test]
fn each_address_of_the_broken_site_has_its_fault() {
    let server = Server::start("broken").unwrap();
    for (target, status, header) in [
        ("/missing", "404", "content-type: text/html"),
        ("/error", "500", "content-type: text/html"),
        ("/loop", "302", "location: /loop/again"),
        ("/loop/again", "302", "location: /loop"),
        ("/pdf", "200", "content-type: application/pdf"),
        ("/empty", "200", "content-length: 0"),
        ("/download", "200", "content-disposition: attachment"),
    ] {
        let answer = get(server.address(), target);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{target}: {answer}");
        assert!(answer.contains(header), "{target}: {answer}");
    }
}

#[test]
fn every_address_of_the_members_demands_the_login() {
    let server = Server::start("members").unwrap();
    assert!(server.url().ends_with(&format!("@{}/", server.address())));
    for target in ["/", "/second.html", "/greeting.txt", "/missing"] {
        let answer = get(server.address(), target);
        assert!(answer.starts_with("HTTP/1.1 401"), "{target}: {answer}");
        assert!(answer.contains("www-authenticate: Basic"), "{target}: {answer}");
    }
    let login = "/ HTTP/1.1\r\nAuthorization: Basic YWRhOms5L3p3aGlzcGVyeg==\r\nX-Rest:";
    assert!(get(server.address(), login).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_dropped_server_stops_although_a_response_is_pending() {
    let server = Server::start("broken").unwrap();
    let address = server.address();
    let mut waiting = TcpStream::connect(address).unwrap();
    write!(waiting, "GET /slow-never HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    // Another response shows that the server has read the first request.
    get(address, "/empty");
    drop(server);
    let mut rest = Vec::new();
    // Closed or reset, but not held open.
    let _ = waiting.read_to_end(&mut rest);
    assert_eq!(rest, b"");
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn servers_of_the_same_site_have_separate_counters() {
    let drawn = || {
        let server = Server::start("nondeterministic").unwrap();
        get(server.address(), "/draw").rsplit("\r\n").next().unwrap().to_string()
    };
    assert_eq!([drawn(), drawn()], ["heads", "heads"]);
}

#[test]
fn an_unknown_fixture_is_an_error() {
    assert!(
        matches!(Server::start("nothing"), Err(StartError::Unknown(name)) if name == "nothing")
    );
    assert!(Site::find("nothing").is_none());
}

#[test]
fn a_library_from_npm_is_served_as_one_script() {
    for (site, mark) in [("react", "require.modules['react-dom/client']"), ("vue", "var Vue")] {
        let server = Server::start(site).unwrap_or_else(|error| panic!("{error}"));
        let answer = get(server.address(), "/library.js");
        assert!(answer.starts_with("HTTP/1.1 200"), "{site}");
        assert!(answer.contains("content-type: text/javascript"), "{site}");
        assert!(answer.contains(mark), "{site}");
    }
}
