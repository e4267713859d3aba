//! How far a crawl goes: `--stop-at`, and what the summary says of it.

use argiope_sites::Server;
use serde_json::Value;

use crate::{argiope, folder};

#[test]
fn a_crawl_stops_when_every_part_is_covered_and_goes_on_when_told() {
    let site = Server::start("shelves").expect("a fixture can be served");
    let run = folder("coverage").join("run");
    let (url, run) = (site.url(), run.display());
    let first = argiope(&format!("crawl {url} --quiet --tabs 1 --stop-at parts --out {run}"));
    assert_eq!(first.code, Some(0), "{}{}", first.out, first.err);
    assert!(first.out.contains("every part is covered, "), "{}", first.out);
    assert!(first.out.contains(" alike actions not tried"), "{}", first.out);
    assert!(first.out.contains(&format!("crawl --resume {run} --stop-at all")), "{}", first.out);
    let again = argiope(&format!("crawl --resume {run} --quiet --json"));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    let found: Value = serde_json::from_str(&again.out).expect("JSON");
    let coverage = &found["coverage"];
    assert_eq!(
        (&found["complete"], &found["stopped_by"]),
        (&false.into(), &"parts-covered".into())
    );
    assert_eq!(coverage["reached"], "parts", "{found}");
    assert_eq!(coverage["contexts"], coverage["contexts_executed"], "{found}");
    assert!(coverage["alike_waiting"].as_u64() > Some(20), "{found}");
    let all = argiope(&format!("crawl --resume {run} --quiet --json --stop-at all"));
    assert_eq!(all.code, Some(0), "{}{}", all.out, all.err);
    let found: Value = serde_json::from_str(&all.out).expect("JSON");
    assert_eq!((&found["complete"], &found["coverage"]["reached"]), (&true.into(), &"all".into()));
    assert_eq!((&found["states"], &found["transitions"]), (&17.into(), &105.into()), "{found}");
}

#[test]
fn a_wrong_coverage_and_one_for_a_cluster_are_refused() {
    let wrong = argiope("crawl http://127.0.0.1:9/ --stop-at most");
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("--stop-at"), "{}", wrong.err);
    let cluster = argiope("crawl http://127.0.0.1:9/ --cluster 127.0.0.1:9 --stop-at parts");
    assert_eq!(cluster.code, Some(2), "{}", cluster.err);
    assert!(cluster.err.contains("--stop-at cannot be used with --cluster"), "{}", cluster.err);
}
