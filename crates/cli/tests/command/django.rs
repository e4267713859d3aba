//! Django admin, a real application, with a login in each of three forms, and with a session that
//! expires in the middle. `./test` installs Django.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_runtime::store::Store;

use crate::login::{assert_silent_disk, assert_silent_run, watched_with};
use crate::{command, folder, given};

/// Where the password comes from.
const PASSWORD: (&str, &str) = ("ADMIN_PASSWORD", "k9/zwhisperz");

/// Settings of the project beside those that Django writes.
const SETTINGS: &str = "
import os
SESSION_COOKIE_AGE = int(os.environ.get('SESSION_AGE', '1209600'))
LOGGING = {'version': 1, 'disable_existing_loggers': True}
MIDDLEWARE.insert(0, 'project.settings.Listing')
class Listing:
    def __init__(self, respond):
        self.respond = respond
    def __call__(self, request):
        with open('../requests', 'a') as file:
            file.write(f'{request.method} {request.path}\\n')
        return self.respond(request)
";

const STEPS: &str = r##"
steps = [
  { open = "/admin/login/?next=/admin/" },
  { fill = { selector = "#id_username", value = "ada" } },
  { fill = { selector = "#id_password", value = "${env:ADMIN_PASSWORD}" } },
  { click = "[type=submit]" },
  { wait-for = "#user-tools" },
]
"##;

const RECORDING: &str = r##"{"title":"Django admin","steps":[
  {"type":"setViewport","width":1200,"height":900,"deviceScaleFactor":1,"isMobile":false},
  {"type":"navigate","url":"http://ADDRESS/admin/","assertedEvents":[{"type":"navigation"}]},
  {"type":"change","value":"ada","selectors":[["aria/Username:"],["#id_username"]]},
  {"type":"keyDown","key":"Tab","target":"main"},
  {"type":"keyUp","key":"Tab","target":"main"},
  {"type":"change","value":"${env:ADMIN_PASSWORD}","selectors":[["#id_password"]]},
  {"type":"click","selectors":[["aria/Log in"],["xpath///form//*[@type='submit']"]]},
  {"type":"waitForElement","selectors":[["#user-tools"]]}
]}"##;

/// Makes a session and prints the storage state with it.
const STATE: &str = "
import json
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore
user = get_user_model().objects.get(username='ada')
session = SessionStore()
session['_auth_user_id'] = str(user.pk)
session['_auth_user_backend'] = 'django.contrib.auth.backends.ModelBackend'
session['_auth_user_hash'] = user.get_session_auth_hash()
session.create()
cookie = dict(name='sessionid', value=session.session_key, domain='127.0.0.1', path='/',
              expires=-1, httpOnly=True, secure=False, sameSite='Lax')
open('../state.json', 'w').write(json.dumps(dict(cookies=[cookie], origins=[])))
";

/// Django admin in a folder, and its server.
struct Admin {
    here: PathBuf,
    address: String,
    server: Child,
}

impl Drop for Admin {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The interpreter that has Django.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory");
    let python = target.join("python/bin/python");
    assert!(python.exists(), "Django is missing: run ./test once, which installs it");
    python
}

/// Runs a program that must succeed. Returns what it printed.
pub fn run(program: &Path, arguments: &[&str], directory: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("DJANGO_SUPERUSER_PASSWORD", PASSWORD.1)
        .stdin(Stdio::null())
        .output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}", said.trim());
    String::from_utf8(output.stdout).expect("text")
}

impl Admin {
    /// Makes a project and serves it.
    fn start(name: &str, session_age: u32) -> Self {
        let (here, python) = (folder(name), python());
        run(&python, &["-m", "django", "startproject", "project"], &here);
        let project = here.join("project");
        let settings = project.join("project/settings.py");
        let text = fs::read_to_string(&settings).expect("settings") + SETTINGS;
        fs::write(&settings, text).expect("settings");
        run(&python, &["manage.py", "migrate", "--verbosity", "0"], &project);
        let superuser = "createsuperuser --noinput --username ada --email ada@example.org";
        let arguments = [&["manage.py"][..], &superuser.split(' ').collect::<Vec<_>>()].concat();
        run(&python, &arguments, &project);
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let server = Command::new(&python)
            .args(["manage.py", "runserver", "--noreload", &address])
            .current_dir(&project)
            .env("SESSION_AGE", session_age.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server of Django");
        let admin = Self { here, address, server };
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(&admin.address).is_err() {
            assert!(Instant::now() < until, "the server of Django does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        fs::write(admin.here.join("login.toml"), STEPS).expect("a file");
        let recording = RECORDING.replace("ADDRESS", &admin.address);
        fs::write(admin.here.join("login.json"), recording).expect("a file");
        run(&python, &["manage.py", "shell", "-c", STATE], &project);
        admin
    }

    /// The rows of the database, without sessions and the times of logins.
    fn data(&self) -> Vec<serde_json::Value> {
        let arguments = ["manage.py", "dumpdata", "--exclude", "sessions"];
        let printed = run(&python(), &arguments, &self.here.join("project"));
        let mut rows: Vec<serde_json::Value> = serde_json::from_str(&printed).expect("JSON");
        for row in &mut rows {
            row["fields"].as_object_mut().expect("fields").remove("last_login");
        }
        rows
    }

    /// Crawls some screens. Returns the titles and addresses of the states.
    fn crawl(&self, out: &str, arguments: &[&str]) -> Vec<(String, String)> {
        let url = format!("http://{}/admin/", self.address);
        let first = ["crawl", &url, "--logged-in", "#user-tools", "--out", out, "--json"];
        let line: Vec<&str> = first.iter().chain(arguments).copied().collect();
        let crawled = watched_with(&line, &self.here, 4, &[PASSWORD]);
        assert!(crawled.contains("\"stopped_by\":\"max-"), "{crawled}");
        let run = self.here.join(out);
        assert_silent_run(&run);
        assert_silent_disk(&run);
        let store = Store::read(&run).expect("a run");
        let states = store.states().expect("states").map(|state| state.expect("a state").1);
        states.map(|detail| (detail.title, detail.url)).collect()
    }
}

/// Forms that may end the account that the crawl is logged in with. The one for another password
/// also has many possible inputs, which would take all the time.
const WITHOUT_ACCOUNT: [&str; 4] =
    ["--exclude", "/admin/auth/user/*", "--exclude", "/admin/password_change/"];

/// The screens behind the login were found, and the login page was not.
fn assert_inside(states: &[(String, String)]) {
    let has = |title: &str| states.iter().any(|(found, _)| found.contains(title));
    assert!(has("Site administration"), "{states:?}");
    assert!(has("Select user to change") || has("Select group to change"), "{states:?}");
    let login =
        states.iter().find(|(title, url)| title.contains("Log in") || url.contains("/login/"));
    assert_eq!(login, None);
}

#[test]
fn django_admin_is_crawled_with_a_login_in_each_form() {
    for (out, arguments) in [
        ("toml", ["--login", "login.toml"]),
        ("recorder", ["--login", "login.json"]),
        ("state", ["--storage-state", "state.json"]),
    ] {
        // What a crawl saves changes the first page, so each crawl has an application of its own.
        let admin = Admin::start(&format!("django-{out}"), 1_209_600);
        let limits = ["--max-states", "20", "--max-time", "3m", "--tabs", "2"];
        let states = admin.crawl(out, &[&arguments[..], &limits, &WITHOUT_ACCOUNT].concat());
        assert!(states.len() >= 20, "{out}: {states:?}");
        assert_inside(&states);
    }
}

#[test]
fn django_admin_is_crawled_while_its_sessions_expire() {
    let admin = Admin::start("django-expires", 6);
    let limits = ["--login", "login.toml", "--max-time", "45s", "--tabs", "2"];
    let states = admin.crawl("run", &[&limits[..], &WITHOUT_ACCOUNT].concat());
    assert_inside(&states);
    let log = fs::read_to_string(admin.here.join("log")).expect("a log");
    let logins = log.lines().filter(|line| line.contains("logged in")).count();
    // On a busy machine a login takes long.
    assert!(logins >= 2, "{logins} logins in 45 s with sessions of 6 s");
    // The steps and the project of the test are beside it; the password is in none of the files.
    let found = command(&["states", "run"]).current_dir(&admin.here).output();
    let found = given(found.expect("argiope can be run"));
    assert!(!found.out.contains("zwhisperz") && found.code == Some(0), "{}", found.err);
}

#[test]
fn a_safe_crawl_of_django_admin_sends_nothing_that_changes_data() {
    let admin = Admin::start("django-safe", 1_209_600);
    let before = admin.data();
    let limits =
        ["--safe", "--storage-state", "state.json", "--max-states", "30", "--max-time", "3m"];
    let states = admin.crawl("run", &limits);
    assert_inside(&states);
    let requests = fs::read_to_string(admin.here.join("requests")).expect("requests");
    let reads = |line: &str| ["GET ", "HEAD ", "OPTIONS "].iter().any(|it| line.starts_with(it));
    assert!(requests.lines().count() > 10 && requests.lines().all(reads), "{requests}");
    assert_eq!(admin.data(), before);
    // The interface was explored all the same: forms that would have been sent are in the ledger.
    let ledger = command(&["ledger", "run", "--json"]).current_dir(&admin.here).output();
    let ledger = given(ledger.expect("argiope can be run"));
    assert!(ledger.out.contains("\"unsafe\""), "{}", ledger.out);
}
