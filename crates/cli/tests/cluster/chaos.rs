//! Chaos by seed: failures of processes in any order. The seed decides what happens and when. The
//! processes are not deterministic, so a seed that failed may pass the next time; its logs are in
//! the directory that is named.

use std::time::Duration;

use argiope_explore::chance::Chance;
use argiope_sites::Server;

use crate::ring::{Model, Ring, alone, folder};
use crate::stories::assert_equal;

/// `ARGIOPE_LONG=1`: two hundred. `ARGIOPE_SEED=N`: that one. `ARGIOPE_SEED=N..M`: those before M.
fn seeds() -> std::ops::Range<u64> {
    if let Ok(given) = std::env::var("ARGIOPE_SEED") {
        let number = |text: &str| -> u64 { text.parse().expect("ARGIOPE_SEED is N or N..M") };
        return match given.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => number(&given)..number(&given) + 1,
        };
    }
    0..if std::env::var_os("ARGIOPE_LONG").is_some() { 200 } else { 10 }
}

#[test]
fn whatever_happens_the_model_is_the_same() {
    let server = Server::start("toggles").expect("the fixture can be served");
    let url = format!("{}?switches=5&wait=20", server.url());
    let expected = alone(&url, &folder("chaos-alone").join("run"));
    for seed in seeds() {
        survives(seed, &url, &expected);
    }
}

/// With two replicas, two controllers may be lost in quick succession.
fn survives(seed: u64, url: &str, expected: &Model) {
    let mut chance = Chance::new(&[seed, 0xC4A0]);
    let mut ring = Ring::of(&format!("chaos-{seed}"), 3, 2, url.to_owned());
    let recoveries = ["redundancy", "redundancy", "adaptive", "retry"];
    let recovery = recoveries[chance.below(recoveries.len())];
    let crawl = ring.crawl(&["--backups", "2", "--recovery", recovery]);
    let mut story = Vec::new();
    let mut times: Vec<u64> =
        (0..2 + chance.below(3)).map(|_| 10 + chance.below(120) as u64).collect();
    times.sort_unstable();
    for when in times {
        ring.wait_until(when);
        story.push(format!("{when}: {}", inject(&mut ring, &mut chance)));
    }
    println!("seed {seed}, {recovery}: {}", story.join("; "));
    let (_, found) = crawl.end();
    assert_equal(&found, expected);
    if recovery == "redundancy" {
        assert_eq!(ring.needless(), Vec::<String>::new(), "seed {seed}");
    }
}

/// Injects one event and describes it.
fn inject(ring: &mut Ring, chance: &mut Chance) -> String {
    let controllers = ring.controllers.len();
    let one = chance.below(controllers);
    match chance.below(8) {
        0 | 1 if controllers > 2 => {
            let killed = ring.controllers.remove(one);
            let said = format!("controller {} is killed", killed.number);
            killed.kill();
            said
        }
        2 if controllers > 2 => {
            let left = ring.controllers.remove(one);
            let said = format!("controller {} leaves", left.number);
            left.leave();
            said
        }
        3 => {
            let killed = ring.controllers.remove(one);
            let (number, address) = (killed.number, killed.address.clone());
            killed.kill();
            if chance.below(2) == 0 {
                std::thread::sleep(Duration::from_secs(3));
            }
            let again = ring.controller(number, &address, "exec \"$@\"");
            ring.controllers.push(again);
            format!("controller {number} is killed and started again")
        }
        4 if ring.crawlers.len() > 1 => {
            let killed = ring.crawlers.remove(chance.below(ring.crawlers.len()));
            killed.kill();
            ring.add_crawler();
            "a crawler is killed, another joins".to_owned()
        }
        5 if ring.crawlers.len() > 1 => {
            ring.crawlers.remove(chance.below(ring.crawlers.len())).leave();
            ring.add_crawler();
            "a crawler leaves, another joins".to_owned()
        }
        6 => {
            ring.controllers[one].freeze();
            std::thread::sleep(Duration::from_millis(500 + 500 * chance.below(6) as u64));
            ring.controllers[one].thaw();
            format!("controller {} is stopped for a while", ring.controllers[one].number)
        }
        _ => {
            ring.add_controller();
            "a controller joins".to_owned()
        }
    }
}
