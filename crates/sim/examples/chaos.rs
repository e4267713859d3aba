//! Scratch.
use argiope_sim::{cluster::{Cluster, checks, scenario::*}, crawler::World, testbeds};
use argiope_controller::peer::{schemes, settings::Recovery};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m0 = match testbeds::find(&a[1]).unwrap() { testbeds::Spec::Made(r) => r.model(), _ => panic!() };
    let seeds: Vec<u64> = a[2].split("..").map(|x| x.parse().unwrap()).collect();
    let only = a.get(3).cloned().unwrap_or_default();
    let recoveries = [("retry", Recovery::Retry), ("redundancy", Recovery::Redundancy), ("combined", Recovery::Combined{period: Some(300_000)}), ("adaptive", Recovery::Adaptive)];
    let plans: Vec<(&str, usize, Vec<(f64, Happening)>)> = vec![
        ("none", 1, vec![]),
        ("fail", 1, vec![(0.2, Happening::Fail(1)), (0.5, Happening::Fail(1)), (0.8, Happening::Fail(1))]),
        ("neighbours", 2, vec![(0.5, Happening::Fail(2))]),
        ("join", 1, vec![(0.1, Happening::Join), (0.4, Happening::Join), (0.6, Happening::Join)]),
        ("leave", 1, vec![(0.1, Happening::Leave), (0.5, Happening::Leave)]),
        ("churn", 2, vec![(0.2, Happening::Join), (0.2, Happening::Fail(1)), (0.5, Happening::Leave), (0.5, Happening::Fail(1)), (0.7, Happening::Join), (0.9, Happening::Fail(1))]),
        ("freeze", 1, vec![(0.3, Happening::Freeze(2_000_000)), (0.6, Happening::Freeze(2_000_000))]),
        ("takeover", 2, vec![(0.5, Happening::Fail(1)), (0.505, Happening::Fail(1))]),
        ("part", 2, vec![(0.4, Happening::Part(2_000_000))]),
        ("crawlers", 1, vec![(0.3, Happening::LoseCrawler), (0.5, Happening::AddCrawler), (0.6, Happening::LoseCrawler)]),
    ];
    let world = World::new(&m0);
    let (mut bad, mut runs) = (0, 0);
    for (plan, backups, happenings) in &plans {
      for (rname, r) in recoveries {
        for scheme in schemes::ALL {
          let tag = format!("{plan}/{rname}/{}", scheme.name);
          if !tag.contains(&only) { continue; }
          let mut failed = 0; let mut reex = 0; let mut first = String::new();
          for seed in seeds[0]..seeds[1] {
            let mut sc = Scenario::new(5, 8, m0.reset_cost, seed);
            sc.scheme = scheme; sc.recovery = r; sc.backups = *backups; sc.happenings = happenings.clone();
            sc.latency = Latency::Uniform(300, 3000); sc.checked = true;
            let mut c = Cluster::new(&world, sc);
            c.run();
            runs += 1;
            reex += c.counts().reexecuted;
            if let Some(w) = checks::in_the_end(&c) { failed += 1; bad += 1; if first.is_empty() { first = format!("seed {seed}: {w}"); if a.len() > 4 { println!("{:?} {:?}", c.counts().messages, c.counts().spent); for p in c.peers() { println!("   {p}"); } } } }
          }
          if failed > 0 || a.len() > 4 { println!("{tag:40} failed {failed} reex {reex} {first}"); }
        }
      }
    }
    println!("{bad} of {runs} bad");
}
