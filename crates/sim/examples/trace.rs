//! Scratch.
use argiope_sim::{cluster::{Cluster, checks, scenario::*}, crawler::World, testbeds, crawl::key_of};
use argiope_controller::peer::schemes;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m0 = match testbeds::find("site-like").unwrap() { testbeds::Spec::Made(r) => r.model(), _ => panic!() };
    let plan = &a[1]; let scheme = &a[3]; let seed: u64 = a[4].parse().unwrap(); let key = key_of(a[5].parse().unwrap());
    let backups: usize = a[6].parse().unwrap(); let (happenings, _) = argiope_sim::cluster::spec::failures(plan).unwrap();
    let r = argiope_sim::cluster::spec::recovery(&a[2]).unwrap();
    let world = World::new(&m0);
    let mut sc = Scenario::new(5, 8, m0.reset_cost, seed);
    sc.scheme = schemes::find(scheme).unwrap(); sc.recovery = r; sc.backups = backups; sc.happenings = happenings;
    sc.latency = Latency::Uniform(300, 3000);
    let mut c = Cluster::new(&world, sc);
    let mut last = String::new(); let mut lastr = String::new();
    println!("key {:02x}", key.0 >> 120);
    while c.step() {
        let now: Vec<String> = c.peers().map(|p| { let s = p.atlas().initial().and(p.atlas().find(key)); format!("{:02x}{}", p.key().0 >> 120, s.map_or(String::from("-"), |s| format!("{}{}", if p.atlas().is_own(s) {"own"} else {"for"}, if p.atlas().is_full(key) {"FULL"} else {""}))) }).collect();
        let now = now.join(" ");
        let ranges: Vec<String> = c.peers().map(|p| format!("{:02x}>{:02x}", p.owns_after().map_or(0, |k| k.0 >> 120), p.key().0 >> 120)).collect();
        let ranges = ranges.join(" ");
        if now != last || ranges != lastr { println!("{:9} {now}   {ranges}", c.now()); last = now; lastr = ranges; }
    }
    println!("{:?}", c.counts().messages); for p in c.peers() { println!("{p}"); }
    println!("{:?} {:?}", c.wrong(), checks::in_the_end(&c));
}
