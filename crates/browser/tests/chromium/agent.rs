//! The modules of the page agent, each in a real page: every case of `agent/tests/*.test.js` runs
//! in a document of its own, with the module under test and what it imports, and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use argiope_browser::agent::AgentSettings;
use argiope_browser::agent::script::{MODULES, assemble, imports};
use argiope_browser::cdp::{self, ProtocolCall};
use argiope_browser::{Browser, ProtocolConnection, SessionId};
use serde_json::Value;

use crate::real::{Place, settings};
use crate::tab::serve;

const PAGE: &str = "<!doctype html><title>page</title><body></body>";
const LIMIT: Duration = Duration::from_secs(20);

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agent/tests")
}

/// Adds the modules that a text imports, those that they import included.
fn add_imports(text: &str, needed: &mut BTreeSet<&'static str>) {
    for (file, _) in imports(text) {
        let name = file.rsplit('/').next().unwrap();
        if let Some(module) = MODULES.iter().find(|module| module.name == name)
            && needed.insert(module.name)
        {
            add_imports(module.text, needed);
        }
    }
}

/// The script of one test file: modules in their order, then what the tests share, then the cases.
fn script_of(test: &str, origin: &str) -> String {
    let shared = std::fs::read_to_string(directory().join("check.js")).unwrap();
    let mut needed = BTreeSet::new();
    add_imports(test, &mut needed);
    let modules = MODULES.iter().filter(|module| needed.contains(module.name));
    // A block of its own: the names of a test must not replace those of a module.
    let cases = ["{\n", &shared, test, "window.agentCases = cases;\n}\n"];
    let texts = modules.map(|module| module.text).chain(cases);
    assemble(texts, &AgentSettings::new("secret", origin, "127.0.0.1"))
}

/// A page to evaluate in; an exception is an error.
struct TestPage<'a> {
    connection: &'a ProtocolConnection,
    session: &'a SessionId,
}

impl TestPage<'_> {
    async fn call<C: ProtocolCall>(&self, call: &C) -> C::Answer {
        let reply = self.connection.call(Some(self.session), call);
        reply.within(LIMIT).await.unwrap_or_else(|error| panic!("{}: {error}", C::METHOD))
    }

    async fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let evaluation = self.call(&cdp::Evaluate::value(expression)).await;
        match evaluation.exception().unwrap() {
            Some(exception) => Err(exception),
            None => Ok(evaluation.value().unwrap().unwrap_or_default()),
        }
    }

    async fn load(&self, url: &str) {
        self.call(&cdp::Navigate { url }).await;
        let loaded = "document.readyState === 'complete' ? true : \
                      new Promise((resolve) => { onload = () => resolve(true); })";
        self.evaluate(loaded).await.unwrap();
    }

    /// The cases of one test file that fail.
    async fn failures(&self, name: &str, url: &str) -> Vec<String> {
        let test = std::fs::read_to_string(directory().join(name)).unwrap();
        let script = script_of(&test, url);
        let added = self.call(&cdp::AddScript { source: &script }).await;
        self.load(url).await;
        let cases = self.evaluate("Object.keys(agentCases)").await;
        let cases = cases.unwrap_or_else(|error| panic!("{name} does not load: {error}"));
        let mut failed = Vec::new();
        for case in cases.as_array().unwrap() {
            self.load(url).await;
            let run = format!("Promise.resolve(agentCases[{case}]()).then(() => null)");
            if let Err(error) = self.evaluate(&run).await {
                failed.push(format!("{name}: {case}: {error}"));
            }
        }
        if cases.as_array().unwrap().is_empty() {
            failed.push(format!("{name} has no cases"));
        }
        self.call(&cdp::RemoveScript { identifier: &added }).await;
        failed
    }
}

#[tokio::test]
async fn every_module_of_the_page_agent_passes_its_cases() {
    let place = Place::new("agent");
    let url = serve(PAGE);
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let opened = browser.new_tab(true).await.unwrap();
    let page = TestPage { connection: &browser.connection, session: &opened.session };
    page.call(&cdp::EnablePage {}).await;
    page.call(&cdp::SetFocusEmulation { enabled: true }).await;
    let mut failed = Vec::new();
    for module in MODULES {
        failed.extend(page.failures(&module.name.replace(".js", ".test.js"), &url).await);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
