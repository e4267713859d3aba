//! What is left when the process that owns a browser is killed. Each test starts itself a second
//! time, as the owner that is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use argiope_browser::Browser;
use argiope_browser::cdp::Evaluate;
use serde_json::json;

use crate::real::{Place, has_ended, processes_with, settings, signal};

/// Set for the process that is killed: the directory of its profile.
const OWNER: &str = "ARGIOPE_TEST_OWNER";
/// Far more than it takes, so that a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_killed_owner_leaves_no_process_and_its_profile_is_swept() {
    let name = "owner::a_killed_owner_leaves_no_process_and_its_profile_is_swept";
    kill_owner_and_check(name, |_| ());
}

/// A browser that hangs does not notice that its pipe is closed.
#[test]
fn a_killed_owner_takes_a_hanging_browser_with_it() {
    let name = "owner::a_killed_owner_takes_a_hanging_browser_with_it";
    kill_owner_and_check(name, |browser| {
        // Some processes come and go; the browser itself stays.
        let processes = processes_with(browser.profile().to_str().unwrap());
        assert!(processes.into_iter().filter(|pid| signal("STOP", *pid)).count() > 0);
    });
}

fn kill_owner_and_check(test: &str, before: impl FnOnce(&Browser)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(profiles) = std::env::var_os(OWNER) {
        runtime.block_on(own(Path::new(&profiles), before));
    }
    let place = Place::new(test.rsplit(':').next().unwrap().get(..24).unwrap());
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(OWNER, &place.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let said =
        lines.map(Result::unwrap).find_map(|line| line.strip_prefix("owns ").map(str::to_owned));
    let said = said.expect("the owner says what it owns");
    let (processes, profile) = said.split_once(' ').unwrap();
    let profile = PathBuf::from(profile);
    let mut processes: BTreeSet<u32> =
        processes.split(',').map(|pid| pid.parse().unwrap()).collect();
    processes.extend(processes_with(profile.to_str().unwrap()));
    assert!(processes.len() > 2, "{processes:?}");

    owner.kill().unwrap();
    owner.wait().unwrap();
    let killed = Instant::now();
    loop {
        // A process that started since the last check is found by its command line.
        processes.extend(processes_with(profile.to_str().unwrap()));
        processes.retain(|pid| !has_ended(*pid));
        if processes.is_empty() {
            break;
        }
        assert!(killed.elapsed() < PATIENCE, "{processes:?} still run");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(profile.exists());
    let next = runtime.block_on(Browser::launch(&settings(&place.0))).unwrap();
    assert_eq!(next.swept.profiles, std::slice::from_ref(&profile));
    assert!(!profile.exists());
    assert!(next.profile().exists());
}

/// Starts a browser with a page whose script never ends, prints what it owns, and waits to be
/// killed.
async fn own(profiles: &Path, before: impl FnOnce(&Browser)) -> ! {
    let browser = Browser::launch(&settings(profiles)).await.unwrap();
    let tab = browser.new_tab(true).await.unwrap();
    let (connection, session) = (&browser.connection, Some(&tab.session));
    connection.call_method(session, "Runtime.enable", &json!({}), Ok).answer().await.unwrap();
    let spin = Evaluate::new("console.log('spinning'); for (;;) {}");
    let _spinning = connection.call(session, &spin);
    let mut events = connection.events(&tab.session).unwrap();
    while &*events.next().await.unwrap().method != "Runtime.consoleAPICalled" {}
    before(&browser);
    let processes: Vec<String> = browser.processes().iter().map(u32::to_string).collect();
    // On a line of its own, whatever the test harness has printed before.
    println!("\nowns {} {}", processes.join(","), browser.profile().display());
    std::future::pending().await
}
