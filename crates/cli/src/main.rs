//! The `argiope` command.
fn main() {
    for n in 2..13 {
        let app = argiope_sim::testbeds::hypercube(n);
        println!("{:?}", argiope_explore::bound::complete(&app, 3.0));
    }
}
