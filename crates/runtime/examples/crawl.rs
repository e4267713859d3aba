//! Crawls a web application from Rust and prints what was found:
//!
//! ```sh
//! cargo run -p argiope-runtime --example crawl -- http://localhost:8000/ run
//! ```
//!
//! The run directory must not exist. `read_run.rs` lists what it contains.

use std::error::Error;
use std::path::Path;

use argiope_browser::LaunchSettings;
use argiope_browser::find::find;
use argiope_runtime::crawl::{CrawlPlan, crawl};
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, directory] = arguments.as_slice() else {
        return Err("usage: crawl URL DIRECTORY".into());
    };
    // The defaults of the command; every setting is a field.
    let settings =
        CrawlSettings { tabs: 2, max_actions: Some(1_000), ..CrawlSettings::new(url.clone()) };
    // The store keeps the settings, so that the crawl can be resumed.
    let store = Store::create(Path::new(directory), &serde_json::to_value(&settings)?)?;
    let variable = |name| std::env::var_os(name);
    let executable =
        find(None, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref())?;
    let plan = CrawlPlan {
        store,
        settings,
        // Profiles of the browsers are temporary.
        browser: LaunchSettings::new(executable, std::env::temp_dir()),
        // Pages must not guess the name of the agent. Draw it at random in earnest.
        secret: format!("a{:032x}", std::process::id()),
        interrupt: Default::default(),
        deadline: None,
    };
    // The driver and the tabs of this thread run in one `LocalSet`.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = tokio::task::LocalSet::new();
    let progress = |progress: &argiope_runtime::crawl::CrawlProgress| {
        eprint!("\r{} states, {} left ", progress.states, progress.unexplored);
    };
    let summary = tasks.block_on(&runtime, crawl(plan, progress))?;
    eprintln!();
    println!("states       {}", summary.progress.states);
    println!("transitions  {}", summary.progress.transitions);
    println!("complete     {}", summary.complete);
    Ok(())
}
