//! Programs that are no browser, or not one that will do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use argiope_browser::find::{FindError, find};
use argiope_browser::{Browser, CallError, Executable, LaunchError, LaunchSettings};

use crate::real::{Place, processes_with};

/// Writes a shell script. Another process writes it: a file that this one still had open for
/// writing while another test starts a process could not be executed.
fn script(place: &Place, name: &str, body: &str) -> PathBuf {
    let path = place.0.join(name);
    let written = Command::new("/bin/sh")
        .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(&path)
        .arg(body)
        .status()
        .unwrap();
    assert!(written.success());
    path
}

fn launch_settings(place: &Place, path: PathBuf) -> LaunchSettings {
    LaunchSettings::new(Executable { path, version: "156.0".to_owned() }, place.0.clone())
}

fn profiles_in(place: &Place) -> usize {
    let names = std::fs::read_dir(&place.0).unwrap().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with("argiope-profile-")).count()
}

#[test]
fn a_missing_browser_is_an_error_with_the_line_that_installs_it() {
    let place = Place::new("missing");
    let error = find(None, None, Some(place.0.as_os_str())).unwrap_err();
    assert!(matches!(error, FindError::Missing));
    assert!(error.to_string().contains("apt-get install chromium-headless-shell"), "{error}");
}

#[test]
fn an_old_browser_is_refused_with_its_version() {
    let place = Place::new("old");
    let path = script(&place, "chromium", "echo noise >&2; echo 'Chromium 80.0.1 built on sand'");
    let error = find(Some(&path), None, None).unwrap_err();
    assert!(matches!(error, FindError::TooOld { .. }));
    assert!(error.to_string().contains("80.0.1") && error.to_string().contains("120"), "{error}");
}

#[test]
fn something_else_is_refused_with_what_it_said_made_fit_to_print() {
    let place = Place::new("else");
    let path = script(&place, "editor", "printf 'no\\033[31m browser\\n'");
    let error = find(Some(&path), None, None).unwrap_err().to_string();
    assert!(error.contains("no\\u{1b}[31m browser"), "{error}");
}

#[test]
fn the_browser_that_is_given_wins_then_the_environment_then_the_first_name_on_the_path() {
    let place = Place::new("order");
    let version = |number: u32| format!("echo Chromium {number}.0");
    let given = script(&place, "given", &version(201));
    let environment = script(&place, "environment", &version(202));
    script(&place, "chrome", &version(203));
    let path = place.0.as_os_str();
    let found = |given: Option<&Path>, environment: Option<&Path>| {
        find(given, environment.map(Path::as_os_str), Some(path)).unwrap().version
    };
    assert_eq!(found(Some(&given), Some(&environment)), "201.0");
    assert_eq!(found(None, Some(&environment)), "202.0");
    assert_eq!(found(None, None), "203.0");
    script(&place, "chromium", &version(204));
    assert_eq!(found(None, None), "204.0");
    script(&place, "chromium-headless-shell", &version(205));
    assert_eq!(found(None, Some(Path::new(""))), "205.0");
}

#[tokio::test]
async fn a_browser_that_ends_at_once_is_an_error_with_its_standard_error() {
    let place = Place::new("exits");
    let path = script(&place, "chromium", "echo 'cannot open \\033display' >&2; exit 7");
    let error = Browser::launch(&launch_settings(&place, path)).await.unwrap_err();
    assert!(matches!(error, LaunchError::Ended { .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("cannot open") && error.contains("exit status: 7"), "{error}");
    assert!(!error.contains('\u{1b}'), "{error}");
    assert_eq!(profiles_in(&place), 0);
}

#[tokio::test]
async fn a_browser_that_does_not_answer_is_killed() {
    let place = Place::new("mute");
    let path = script(&place, "chromium", "echo thinking >&2; while :; do sleep 1000; done");
    let mut settings = launch_settings(&place, path);
    settings.start_within = Duration::from_millis(300);
    let error = Browser::launch(&settings).await.unwrap_err();
    assert!(matches!(error, LaunchError::Mute { error: CallError::Deadline, .. }), "{error:?}");
    assert_eq!(profiles_in(&place), 0);
    assert!(processes_with(place.0.to_str().unwrap()).is_empty());
}

#[tokio::test]
async fn a_program_that_is_gone_is_named() {
    let place = Place::new("gone");
    let error = Browser::launch(&launch_settings(&place, place.0.join("none"))).await.unwrap_err();
    assert!(matches!(error, LaunchError::Start { .. }), "{error:?}");
    assert!(error.to_string().contains("cannot start"), "{error}");
    assert_eq!(profiles_in(&place), 0);
}
