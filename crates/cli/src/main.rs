//! The `argiope` command.
fn main() {
    for n in 2..13 {
        let app = argiope_sim::testbeds::hypercube(n);
        for described in argiope_explore::strategies::ALL {
            let run = argiope_sim::crawl::crawl(
                &app,
                described,
                argiope_explore::strategy::Settings {
                    reset_cost: 3.0,
                    seed: 1,
                },
            );
            println!("{run:?}");
        }
    }
}
