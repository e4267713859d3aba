//! Help, lists, completions and the manual; every example in the help is run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use argiope_sites::Server;

use crate::{SWITCH, argiope, folder, given, output, without_sandbox_note};

/// The address of the examples; something small is served there for the test.
const EXAMPLE: &str = "http://localhost:3000/";

/// The help of a command and of every command below it, with the words that lead there.
fn all_help(path: &str, found: &mut Vec<(String, String)>) {
    let help = output(&format!("{path} --help"));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().expect("a command has a name");
        all_help(format!("{path} {name}").trim(), found);
    }
    found.push((path.to_owned(), help));
}

#[test]
fn every_example_in_the_help_works() {
    let mut all = Vec::new();
    all_help("", &mut all);
    assert!(all.len() >= 10, "commands were not found: {all:?}");
    let here = folder("help-examples");
    fs::write(here.join("switch.json"), SWITCH).expect("the model of an example");
    let site = Server::start("details").expect("a fixture can be served");
    let programs = Path::new(env!("CARGO_BIN_EXE_argiope")).parent().expect("a program is in a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    for (command, help) in all {
        let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  argiope ")).collect();
        assert!(!examples.is_empty(), "'{command}' has no example");
        for example in examples {
            let line = example.replace(EXAMPLE, &site.url());
            let run = Command::new("sh")
                .args(["-c", &line])
                .current_dir(&here)
                .env("PATH", &path)
                .stdin(Stdio::null())
                .output();
            let end = given(run.expect("a shell can be run"));
            // A crawl that shows a limit reaches it.
            let code = if example.contains("--max-states 10") { 4 } else { 0 };
            assert_eq!((end.code, without_sandbox_note(&end.err)), (Some(code), ""), "{example}");
        }
    }
}

#[test]
fn without_arguments_there_is_help_and_the_code_of_bad_input() {
    let given = argiope("");
    assert_eq!((given.code, given.out.as_str()), (Some(2), ""));
    assert!(given.err.contains("Usage: argiope <COMMAND>"), "{}", given.err);
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
    for command in ["argiope ", "argiope-crawl ", "argiope-simulate ", "argiope-bench-speed ", "argiope-man "]
    {
        assert!(pages.iter().any(|page| page.contains(command)), "{command}: {pages:?}");
    }
}
