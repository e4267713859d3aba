//! Help, lists, completions and the manual; every example in the help is run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_sites::Server;

use crate::{SWITCH, argiope, command, folder, given, output, without_warnings};

/// The address of the examples; something small is served there for the test.
const EXAMPLE: &str = "http://localhost:3000/";

/// The help of a command and of every command below it, with the words that lead there.
fn all_help(path: &str, found: &mut Vec<(String, String)>) {
    let help = output(&format!("{path} --help"));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().expect("a command has a name");
        if name == "bench" {
            // The help of the lab, whose own tests run its examples.
            continue;
        }
        all_help(format!("{path} {name}").trim(), found);
    }
    found.push((path.to_owned(), help));
}

/// What examples call the address of a controller, and a crawl on its ring.
const RING: [&str; 2] = ["127.0.0.1:7401", "6f2a90c1d3b4e587"];

/// A ring of one with a crawler and a crawl, for the examples that need one.
struct Ring {
    address: String,
    id: String,
    children: Vec<Child>,
}

impl Ring {
    fn start(url: &str) -> Self {
        let data = folder("help-ring").join("data");
        let mut controller = command(&["controller", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a controller starts");
        let mut address = String::new();
        let out = controller.stdout.take().expect("there is an output");
        BufReader::new(out).read_line(&mut address).expect("it says where it listens");
        let address = address.trim().to_owned();
        let crawler = command(&["crawler", "--tabs", "1", "--controller", &address])
            .stderr(Stdio::null())
            .spawn();
        let children = vec![controller, crawler.expect("a crawler starts")];
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let begun = argiope(&format!("crawl {url} --cluster {address} --detach"));
            if begun.code == Some(0) {
                return Self { address, id: begun.out.trim().to_owned(), children };
            }
            assert!(Instant::now() < until, "{}", begun.err);
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn names(&self) -> (&str, &str) {
        (&self.address, &self.id)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn every_example_in_the_help_works() {
    let mut all = Vec::new();
    all_help("", &mut all);
    assert!(all.len() >= 10, "commands were not found: {all:?}");
    let here = folder("help-examples");
    fs::write(here.join("switch.json"), SWITCH).expect("the model of an example");
    let site = Server::start("details").expect("a fixture can be served");
    let mut ring: Option<Ring> = None;
    let programs =
        Path::new(env!("CARGO_BIN_EXE_argiope")).parent().expect("a program is in a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    for (name, help) in all {
        let examples: Vec<&str> =
            help.lines().filter(|line| line.starts_with("  argiope ")).collect();
        assert!(!examples.is_empty(), "'{name}' has no example");
        for example in examples {
            let mut line = example.replace(EXAMPLE, &site.url());
            let endless = ["argiope controller", "argiope crawler"]
                .iter()
                .any(|endless| line.contains(endless));
            if RING.iter().any(|written| line.contains(written))
                && !line.contains("controller --listen")
            {
                let (address, id) = ring.get_or_insert_with(|| Ring::start(&site.url())).names();
                line = line.replace(RING[0], address).replace(RING[1], id);
            }
            if endless {
                // It goes on until it is told to leave, and leaves in order then.
                let anywhere = line.replace("--listen 127.0.0.1:7401", "--listen 127.0.0.1:0");
                let anywhere = anywhere.replace("--listen 127.0.0.1:7402", "--listen 127.0.0.1:0");
                line = format!("timeout --foreground --preserve-status 3 {}", anywhere.trim());
            }
            let run = Command::new("sh")
                .args(["-c", &line])
                .current_dir(&here)
                .env("PATH", &path)
                .stdin(Stdio::null())
                .output();
            let end = given(run.expect("a shell can be run"));
            // A crawl that shows a limit reaches it.
            let code = if example.contains("--max-states 10") { 4 } else { 0 };
            // On a slow machine a crawl lasts long enough to show its progress.
            let is_progress = |line: &&str| line.contains(" unexplored");
            let err = if endless { "" } else { without_warnings(&end.err) };
            let err: Vec<&str> = err.lines().filter(|line| !is_progress(line)).collect();
            assert_eq!((end.code, err), (Some(code), Vec::new()), "{example}");
        }
    }
}

#[test]
fn without_arguments_there_is_help_and_the_code_of_bad_input() {
    let given = argiope("");
    assert_eq!((given.code, given.out.as_str()), (Some(2), ""));
    assert!(given.err.contains("Usage: argiope [OPTIONS] <COMMAND>"), "{}", given.err);
}

#[test]
fn help_documents_the_exit_codes() {
    let help = output("--help");
    for code in ["0  done", "1  failed", "2  bad input", "3  interrupted", "4  a limit"] {
        assert!(help.contains(code), "{code}");
    }
}

#[test]
fn the_version_is_told() {
    assert_eq!(output("--version"), concat!("argiope ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn every_listed_strategy_explains_itself() {
    let list = output("strategies");
    for line in list.lines() {
        let name = line.split_whitespace().next().expect("a name");
        let help = output(&format!("strategies {name}"));
        assert!(help.starts_with(name) && help.lines().count() > 2, "{help}");
    }
}

#[test]
fn every_listed_identity_explains_itself() {
    let list = output("identities");
    assert_eq!(list.lines().count(), 3);
    for line in list.lines() {
        let name = line.split_whitespace().next().expect("a name");
        let help = output(&format!("identities {name}"));
        assert!(help.starts_with(name) && help.lines().count() > 2, "{help}");
    }
}

#[test]
fn test_beds_are_listed_with_what_they_are() {
    assert!(output("testbeds").contains("hypercube:N  "));
    assert!(output("sites").contains("demo "));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(output(&format!("completions {shell}")).contains("simulate"), "{shell}");
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let manual = output("man");
    let pages: Vec<&str> = manual.lines().filter(|line| line.starts_with(".TH ")).collect();
    for command in
        ["argiope ", "argiope-crawl ", "argiope-simulate ", "argiope-bench ", "argiope-man "]
    {
        assert!(pages.iter().any(|page| page.contains(command)), "{command}: {pages:?}");
    }
}
