//! `--safe` changes nothing: two wikis write down the method of every request, and their data are
//! the same after a crawl. `ARGIOPE_LONG=1` runs these tests, which install the wikis from npm and
//! from the packages of Debian into their own folder. `django.rs` tests the same in CI.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::django::run;
use crate::{command, folder, given};

/// What `DokuWiki` writes when it only shows pages: caches, the search index, and who has an editor
/// open.
const DOKUWIKI_FOLDERS: [&str; 3] = ["cache/", "index/", "locks/"];
/// The same beside its pages: metadata that it derives from them, and when they were indexed.
const DOKUWIKI_ENDINGS: [&str; 2] = [".meta", ".indexed"];

const DOKUWIKI_SETTINGS: &str = "<?php
$conf['savedir'] = './data';
$conf['useacl'] = 0;
$conf['updatecheck'] = 0;
$conf['license'] = '';
";

/// Writes down the method of each request, as the server of `TiddlyWiki` gets it.
const WRITE_METHODS: &str = "
const { Server } = require('http');
const { emit } = Server.prototype;
Server.prototype.emit = function (name, request) {
  if (name === 'request') require('fs').appendFileSync(process.env.METHODS, request.method + '\\n');
  return emit.apply(this, arguments);
};
";

/// The server of an application.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_long() -> bool {
    std::env::var_os("ARGIOPE_LONG").is_some()
}

fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").to_string()
}

/// Starts a server whose output goes into a file.
fn serve(command: &mut Command, address: &str, log: &Path) -> Server {
    let log = fs::File::create(log).expect("a file");
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let server = Server(command.spawn().expect("the server can be run"));
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < until, "the server at {address} does not start");
        std::thread::sleep(Duration::from_millis(100));
    }
    server
}

/// Crawls an application for three minutes; some of its actions must have tried to change data.
fn crawl_safely(url: &str, here: &Path, arguments: &[&str]) {
    let first = ["crawl", url, "--safe", "--out", "run", "--max-time", "3m", "--json"];
    let line: Vec<&str> = first.iter().chain(arguments).copied().collect();
    let crawled = given(command(&line).current_dir(here).output().expect("argiope can be run"));
    assert_eq!(crawled.code, Some(4), "{}", crawled.err);
    let stops = crawled.out.split_once("\"unsafe\":").expect("a number").1;
    assert!(!stops.starts_with('0'), "nothing tried to change data: {}", crawled.out);
}

/// No request may change data.
fn assert_reading(methods: &str) {
    let is_safe = |method: &&str| ["GET", "HEAD", "OPTIONS"].contains(method);
    assert!(methods.lines().count() > 20, "the application hardly answered: {methods}");
    let unsafe_ones: Vec<&str> = methods.lines().filter(|method| !is_safe(method)).collect();
    assert_eq!(unsafe_ones, Vec::<&str>::new());
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("a path inside").to_path_buf();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// Fails with the names of the files that differ.
fn assert_equal(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = before.keys().chain(after.keys());
    let changed: Vec<&PathBuf> =
        names.filter(|name| before.get(*name) != after.get(*name)).collect();
    assert_eq!(changed, Vec::<&PathBuf>::new());
}

#[test]
fn safe_crawl_changes_nothing_in_tiddlywiki() {
    if !is_long() {
        return;
    }
    let here = folder("tiddlywiki");
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiddlywiki-5.4");
    let script = installed.join("node_modules/tiddlywiki/tiddlywiki.js");
    let prefix = installed.to_str().expect("a plain path");
    let install = ["install", "--no-audit", "--no-fund", "--prefix", prefix, "tiddlywiki@5.4"];
    let program = script.to_str().expect("a plain path");
    run(Path::new("npm"), &install, &here);
    run(Path::new("node"), &[program, "wiki", "--init", "server"], &here);
    let tiddlers = here.join("wiki/tiddlers");
    fs::create_dir_all(&tiddlers).expect("a folder");
    fs::write(tiddlers.join("Roses.tid"), "title: Roses\n\nRed. See [[Herbs]].").expect("a file");
    fs::write(here.join("methods.js"), WRITE_METHODS).expect("a file");
    let address = free_address();
    let port = format!("port={}", address.rsplit(':').next().expect("a port"));
    let mut node = Command::new("node");
    node.args(["--require", "./methods.js", program, "wiki", "--listen", "host=127.0.0.1", &port]);
    node.current_dir(&here).env("METHODS", here.join("methods"));
    let _server = serve(&mut node, &address, &here.join("log"));
    // The server writes a list of open pages when it starts.
    let before = files(&here.join("wiki"));
    crawl_safely(&format!("http://{address}/"), &here, &[]);
    assert_reading(&fs::read_to_string(here.join("methods")).expect("the methods"));
    assert_equal(&before, &files(&here.join("wiki")));
}

/// Installs `DokuWiki` from the packages of Debian into a folder. It needs no rights.
fn install_dokuwiki(here: &Path) -> PathBuf {
    let has_xml = "extension_loaded('xml') || exit('install php-cli and php-xml');";
    assert_eq!(run(Path::new("php"), &["-r", has_xml], here), "");
    let unpack = "apt-get download dokuwiki && dpkg-deb -x dokuwiki_*.deb .";
    run(Path::new("sh"), &["-c", unpack], here);
    let wiki = here.join("wiki");
    // The package has links to absolute paths: each folder is put where it belongs.
    let copies = "mkdir wiki && cp -r usr/share/dokuwiki/. wiki && rm -rf wiki/lib/plugins \
                  wiki/lib/tpl wiki/inc/preload.php wiki/.htaccess && cp -r etc/dokuwiki wiki/conf \
                  && cp -r var/lib/dokuwiki/lib/. wiki/lib && cp -r var/lib/dokuwiki/data wiki/data";
    run(Path::new("sh"), &["-c", copies], here);
    fs::write(wiki.join("conf/local.php"), DOKUWIKI_SETTINGS).expect("a file");
    let pages = wiki.join("data/pages");
    fs::write(pages.join("start.txt"), "====== Start ======\n[[roses]] and [[herbs]]\n")
        .expect("a page");
    fs::write(pages.join("roses.txt"), "====== Roses ======\nRed.\n").expect("a page");
    wiki
}

/// The files of `DokuWiki` that only its users change.
fn dokuwiki_data(wiki: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(&wiki.join("data"));
    files.retain(|name, _| {
        let name = name.to_str().expect("a plain path");
        !DOKUWIKI_FOLDERS.iter().any(|folder| name.starts_with(folder))
            && !DOKUWIKI_ENDINGS.iter().any(|ending| name.ends_with(ending))
    });
    files
}

#[test]
fn safe_crawl_changes_nothing_in_dokuwiki() {
    if !is_long() {
        return;
    }
    let here = folder("dokuwiki");
    let wiki = install_dokuwiki(&here);
    let before = dokuwiki_data(&wiki);
    assert!(before.len() > 2, "{before:?}");
    let address = free_address();
    let mut php = Command::new("php");
    php.args(["-S", &address, "-t", "."]).current_dir(&wiki);
    let _server = serve(&mut php, &address, &here.join("log"));
    crawl_safely(&format!("http://{address}/doku.php"), &here, &[]);
    // The server logs `… [200]: GET /doku.php`.
    let log = fs::read_to_string(here.join("log")).expect("a log");
    let method = |line: &str| Some(line.split_once("]: ")?.1.split_once(" /")?.0.to_owned());
    assert_reading(&log.lines().filter_map(method).collect::<Vec<_>>().join("\n"));
    assert_equal(&before, &dokuwiki_data(&wiki));
}
