//! Min-cost flow in whole numbers, by the primal-dual method. Each phase finds the cheapest path
//! and sends all the flow that fits at that price, so there is one phase per different path price.
//! Most applications are at most two dozen actions deep, which is fast even with half a million
//! arcs. A file tree a thousand folders deep takes seconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The capacity of an arc without a limit.
pub const UNLIMITED: u64 = u64::MAX / 4;

/// Prices are whole millionths of an action, so that fractions of reset costs stay exact.
const MILLIONTHS: f64 = 1e6;

/// The price of a number of actions. The limits on reset costs keep sums of prices from
/// overflowing.
pub fn price(actions: f64) -> u64 {
    (actions * MILLIONTHS).round() as u64
}

/// The price of one action.
pub const ACTION: u64 = MILLIONTHS as u64;

/// A network of nodes and arcs with supplies and demands.
pub struct Network {
    supply: Vec<i64>,
    arcs: Vec<Arc>,
}

struct Arc {
    from: u32,
    to: u32,
    capacity: u64,
    cost: u64,
}

impl Network {
    /// Creates a network of nodes without arcs.
    pub fn new(nodes: usize) -> Self {
        Self { supply: vec![0; nodes], arcs: Vec::new() }
    }

    /// Adds to the supply of a node. A negative supply is a demand.
    pub fn supply(&mut self, node: usize, amount: i64) {
        self.supply[node] += amount;
    }

    /// Adds an arc. The cost is per unit.
    pub fn arc(&mut self, from: usize, to: usize, capacity: u64, cost: u64) {
        self.arcs.push(Arc { from: from as u32, to: to as u32, capacity, cost });
    }

    /// Finds a cheapest flow that satisfies every supply and demand: the amount on each arc, in the
    /// order in which the arcs were added. Returns `None` if some supply cannot reach a demand.
    pub fn solve(self) -> Option<Vec<u64>> {
        let arcs = self.arcs.len();
        let mut residual = Residual::new(self);
        while residual.reprice() {
            while residual.assign_levels() {
                residual.saturate();
            }
        }
        let amounts = (0..arcs).map(|arc| residual.room[2 * arc + 1]);
        (residual.to_send == 0).then(|| amounts.collect())
    }
}

/// The residual network. Arc 2i is arc i of the network, and arc 2i + 1 its reverse. Two more
/// nodes, a source and a sink, carry all supplies and demands.
struct Residual {
    source: usize,
    sink: usize,
    to_send: u64,
    to: Vec<u32>,
    room: Vec<u64>,
    cost: Vec<i64>,
    /// The arcs that leave each node: `out[start[n]..start[n + 1]]`.
    start: Vec<u32>,
    out: Vec<u32>,
    potential: Vec<i64>,
    levels: Vec<u32>,
    cursor: Vec<u32>,
}

const NO_LEVEL: u32 = u32::MAX;

impl Residual {
    fn new(mut network: Network) -> Self {
        let nodes = network.supply.len() + 2;
        let (source, sink) = (nodes - 2, nodes - 1);
        let mut to_send = 0;
        for node in 0..nodes - 2 {
            let supply = network.supply[node];
            if supply > 0 {
                to_send += supply.unsigned_abs();
                network.arc(source, node, supply.unsigned_abs(), 0);
            } else if supply < 0 {
                network.arc(node, sink, supply.unsigned_abs(), 0);
            }
        }
        let mut start = vec![0u32; nodes + 1];
        for arc in &network.arcs {
            start[arc.from as usize + 1] += 1;
            start[arc.to as usize + 1] += 1;
        }
        for node in 0..nodes {
            start[node + 1] += start[node];
        }
        let mut place = start.clone();
        let count = network.arcs.len() * 2;
        let (mut to, mut room, mut cost) = (vec![0; count], vec![0; count], vec![0i64; count]);
        let mut out = vec![0u32; count];
        for (i, arc) in network.arcs.iter().enumerate() {
            for (arc_id, from, dest, capacity, price) in [
                (2 * i, arc.from, arc.to, arc.capacity, arc.cost as i64),
                (2 * i + 1, arc.to, arc.from, 0, -(arc.cost as i64)),
            ] {
                (to[arc_id], room[arc_id], cost[arc_id]) = (dest, capacity, price);
                out[place[from as usize] as usize] = arc_id as u32;
                place[from as usize] += 1;
            }
        }
        Self {
            source,
            sink,
            to_send,
            to,
            room,
            cost,
            start,
            out,
            potential: vec![0; nodes],
            levels: Vec::new(),
            cursor: Vec::new(),
        }
    }

    fn out(&self, node: usize) -> std::ops::Range<usize> {
        self.start[node] as usize..self.start[node + 1] as usize
    }

    /// Changes the potentials so that the cheapest paths from source to sink have reduced cost zero
    /// (Dijkstra's search over reduced costs). Returns false when there is no more flow to send, or
    /// no path for it.
    fn reprice(&mut self) -> bool {
        if self.to_send == 0 {
            return false;
        }
        let mut distance = vec![i64::MAX; self.potential.len()];
        let mut heap = BinaryHeap::from([Reverse((0i64, self.source as u32))]);
        distance[self.source] = 0;
        while let Some(Reverse((far, node))) = heap.pop() {
            if far > distance[node as usize] {
                continue;
            }
            if node as usize == self.sink {
                break;
            }
            for &arc in &self.out[self.out(node as usize)] {
                let (arc, to) = (arc as usize, self.to[arc as usize] as usize);
                if self.room[arc] == 0 {
                    continue;
                }
                let next =
                    far + self.cost[arc] + self.potential[node as usize] - self.potential[to];
                if next < distance[to] {
                    distance[to] = next;
                    heap.push(Reverse((next, to as u32)));
                }
            }
        }
        let sink = distance[self.sink];
        if sink == i64::MAX {
            return false;
        }
        for (potential, &distance) in self.potential.iter_mut().zip(&distance) {
            *potential += distance.min(sink);
        }
        true
    }

    /// Whether an arc has capacity left and reduced cost zero.
    fn is_admissible(&self, node: usize, arc: usize) -> bool {
        self.room[arc] > 0
            && self.cost[arc] + self.potential[node] - self.potential[self.to[arc] as usize] == 0
    }

    /// Assigns levels over the admissible arcs (Dinic). Returns false if the sink is out of reach.
    fn assign_levels(&mut self) -> bool {
        self.levels.clear();
        self.levels.resize(self.potential.len(), NO_LEVEL);
        self.cursor = self.start.clone();
        self.levels[self.source] = 0;
        let mut queue = vec![self.source as u32];
        let mut at = 0;
        while at < queue.len() && self.levels[self.sink] == NO_LEVEL {
            let node = queue[at] as usize;
            at += 1;
            for &arc in &self.out[self.out(node)] {
                let to = self.to[arc as usize] as usize;
                if self.levels[to] == NO_LEVEL && self.is_admissible(node, arc as usize) {
                    self.levels[to] = self.levels[node] + 1;
                    queue.push(to as u32);
                }
            }
        }
        self.levels[self.sink] != NO_LEVEL
    }

    /// Sends all flow that fits over the levelled arcs.
    fn saturate(&mut self) {
        let mut path: Vec<usize> = Vec::new();
        let mut node = self.source;
        loop {
            if node == self.sink {
                let amount = path.iter().map(|&arc| self.room[arc]).min().unwrap_or(0);
                for &arc in &path {
                    self.room[arc] -= amount;
                    self.room[arc ^ 1] += amount;
                }
                self.to_send -= amount;
                let full = path.iter().position(|&arc| self.room[arc] == 0).unwrap_or(0);
                node = self.to[path[full] ^ 1] as usize;
                path.truncate(full);
                continue;
            }
            let end = self.start[node + 1];
            let next = (self.cursor[node]..end).find(|&at| {
                let arc = self.out[at as usize] as usize;
                self.levels[self.to[arc] as usize] == self.levels[node] + 1
                    && self.is_admissible(node, arc)
            });
            self.cursor[node] = next.unwrap_or(end);
            if let Some(at) = next {
                let arc = self.out[at as usize] as usize;
                path.push(arc);
                node = self.to[arc] as usize;
            } else {
                let Some(arc) = path.pop() else { return };
                node = self.to[arc ^ 1] as usize;
                self.cursor[node] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cheaper_path_is_filled_first() {
        let mut network = Network::new(3);
        network.supply(0, 5);
        network.supply(2, -5);
        network.arc(0, 2, UNLIMITED, 10);
        network.arc(0, 1, 3, 1);
        network.arc(1, 2, UNLIMITED, 2);
        let amounts = network.solve().unwrap();
        assert_eq!((cost(&[10, 1, 2], &amounts), amounts), (3 * 3 + 2 * 10, vec![2, 3, 3]));
    }

    #[test]
    fn an_unreachable_demand_has_no_flow() {
        let mut network = Network::new(2);
        network.supply(0, 1);
        network.supply(1, -1);
        network.arc(1, 0, UNLIMITED, 1);
        assert!(network.solve().is_none());
    }

    /// The total price of a flow.
    fn cost(prices: &[u64], amounts: &[u64]) -> u64 {
        prices.iter().zip(amounts).map(|(price, amount)| price * amount).sum()
    }

    /// The cheapest assignment of supplies to demands, by trying all of them.
    fn brute_force(distance: &[Vec<u64>], from: &[usize], to: &mut Vec<usize>) -> u64 {
        let Some((&first, rest)) = from.split_first() else {
            return 0;
        };
        (0..to.len())
            .map(|at| {
                let sink = to.swap_remove(at);
                let cost = distance[first][sink].saturating_add(brute_force(distance, rest, to));
                to.push(sink);
                let last = to.len() - 1;
                to.swap(at, last);
                cost
            })
            .min()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_cost_equals_that_of_brute_force(
            arcs in prop::collection::vec((0usize..6, 0usize..6, 1u64..5), 1..20),
            from in prop::collection::vec(0usize..6, 1..5),
            to in prop::collection::vec(0usize..6, 1..5),
        ) {
            let units = from.len().min(to.len());
            let (from, mut to) = (&from[..units], to[..units].to_vec());
            let far = u64::MAX / 100;
            let mut distance = vec![vec![far; 6]; 6];
            let mut network = Network::new(6);
            for &(a, b, cost) in &arcs {
                distance[a][b] = distance[a][b].min(cost);
                network.arc(a, b, UNLIMITED, cost);
            }
            for (node, row) in distance.iter_mut().enumerate() {
                row[node] = 0;
            }
            for via in 0..6 {
                for a in 0..6 {
                    for b in 0..6 {
                        distance[a][b] = distance[a][b].min(distance[a][via] + distance[via][b]);
                    }
                }
            }
            for (&a, &b) in from.iter().zip(&to) {
                network.supply(a, 1);
                network.supply(b, -1);
            }
            let best = brute_force(&distance, from, &mut to);
            let prices: Vec<u64> = arcs.iter().map(|&(_, _, price)| price).collect();
            let found = network.solve().map(|amounts| cost(&prices, &amounts));
            prop_assert_eq!(found, (best < far).then_some(best));
        }
    }
}
