use argiope_sim::{cluster::{Cluster, checks, scenario::*}, crawler::World, testbeds};
use argiope_controller::peer::schemes;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m0 = match testbeds::find(&a[1]).unwrap() { testbeds::Spec::Made(r) => r.model(), _ => panic!() }; let rc = m0.reset_cost; let bed = (m0, rc);
    let n: usize = a[2].parse().unwrap();
    let m: usize = a[3].parse().unwrap();
    for name in a[4].split(',') {
        let mut sc = Scenario::new(n, m, bed.1, 1);
        sc.scheme = schemes::find(name).unwrap();
        let world = World::new(&bed.0);
        let t = std::time::Instant::now();
        let mut c = Cluster::new(&world, sc);
        let mut i=0u64; while c.step() { i+=1; if i % 4_000_000 == 0 { eprintln!("{:?} exec {} spent {:?} t {:.0}", c.counts().messages, c.counts().by_reset, c.counts().spent, t.elapsed().as_secs_f64()); } }
        let k = c.counts();
        println!("{name:15} wrong {:?} model {:?} cost {:.0} resets {} msgs {} per {:.2} sim_ms {} idle {:.3} wall {:.1}", c.wrong(), checks::in_the_end(&c), k.spent.cost(bed.1), k.spent.resets, k.total(), k.total() as f64 / world.transitions() as f64, k.ended / 1000, k.idle as f64 / (k.ended as f64 * m as f64), t.elapsed().as_secs_f64());
        println!("   {:?} reex {} depths {:?} by_reset {}", k.messages, k.reexecuted, &k.depths[..k.depths.len().min(12)], k.by_reset);
    }
}
