//! How many connections one address may have: handshakes that are under way, and processes that are
//! connected. So no address can use up the memory and the open files of a controller.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use argiope_wire::Role;
use tokio::task::AbortHandle;

/// The most handshakes of each kind that are under way at a time. A handshake takes some
/// 10 KB, and at most 64 KB.
const MOST_HANDSHAKES: usize = 4_096;
/// Of the files that the process may open, one in this many is for handshakes of each kind.
const SHARE_OF_FILES: usize = 8;
/// The most handshakes of one address: all crawlers of a machine may dial at once.
const MOST_OF_ADDRESS: usize = 2_048;

/// The place of an address in the counts: all addresses that one machine may have.
pub fn machine_of(from: &str) -> IpAddr {
    let address = from.parse::<SocketAddr>().map(|from| from.ip().to_canonical());
    match address {
        // A machine usually has 64 bits of an IPv6 address for itself.
        Ok(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        Ok(address) => address,
        // Within a process there is no address.
        Err(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Handshakes of one kind, by address and number. The lowest number is the oldest.
#[derive(Default)]
struct Pool {
    handshakes: BTreeMap<IpAddr, BTreeMap<u64, AbortHandle>>,
    count: usize,
}

impl Pool {
    /// Takes a handshake in. If there are too many, the oldest one of its address ends, or the
    /// oldest one of the address with the most. Returns that address.
    fn add(&mut self, from: IpAddr, id: u64, task: AbortHandle, most: usize) -> Option<IpAddr> {
        let of_address = self.handshakes.get(&from).map_or(0, BTreeMap::len);
        let evicted = if of_address >= MOST_OF_ADDRESS.min(most) {
            Some(from)
        } else if self.count >= most {
            let counts = self.handshakes.iter();
            let rank = |some: &BTreeMap<u64, _>| (some.len(), Reverse(some.keys().next().copied()));
            counts.max_by_key(|(_, some)| rank(some)).map(|(&address, _)| address)
        } else {
            None
        };
        if let Some(address) = evicted
            && let Some(oldest) =
                self.handshakes.get(&address).and_then(|some| some.keys().next().copied())
            && let Some(task) = self.remove(address, oldest)
        {
            task.abort();
        }
        self.handshakes.entry(from).or_default().insert(id, task);
        self.count += 1;
        evicted
    }

    fn remove(&mut self, from: IpAddr, id: u64) -> Option<AbortHandle> {
        let some = self.handshakes.get_mut(&from)?;
        let task = some.remove(&id)?;
        if some.is_empty() {
            self.handshakes.remove(&from);
        }
        self.count -= 1;
        Some(task)
    }
}

#[derive(Default)]
struct Pools {
    /// Dialers that have presented no valid certificate.
    uncertified: Pool,
    /// Dialers that have. No uncertified one can displace them.
    certified: Pool,
    next: u64,
}

/// The handshakes that are under way.
#[derive(Clone)]
pub struct Handshakes {
    pools: Rc<RefCell<Pools>>,
    /// The most of each kind.
    most: usize,
}

impl Handshakes {
    /// None yet, in a process that may open this many files.
    pub fn new(open_files: usize) -> Self {
        let most = (open_files / SHARE_OF_FILES).clamp(16, MOST_HANDSHAKES);
        Self { pools: Rc::default(), most }
    }

    /// A place for a handshake, which its task holds.
    pub fn place(&self, from: IpAddr) -> Place {
        let mut pools = self.pools.borrow_mut();
        pools.next += 1;
        Place { handshakes: self.clone(), from, id: pools.next }
    }

    /// Begins with the place's task. Returns the address that lost a place for it.
    pub fn begin(&self, (from, id): (IpAddr, u64), task: AbortHandle) -> Option<IpAddr> {
        self.pools.borrow_mut().uncertified.add(from, id, task, self.most)
    }
}

/// The place of a handshake, until it is dropped.
pub struct Place {
    handshakes: Handshakes,
    from: IpAddr,
    id: u64,
}

impl Place {
    /// Which place it is.
    pub fn key(&self) -> (IpAddr, u64) {
        (self.from, self.id)
    }

    /// The dialer has presented a valid certificate. Returns the address that lost a place for it.
    pub fn certify(&self) -> Option<IpAddr> {
        let mut pools = self.handshakes.pools.borrow_mut();
        let task = pools.uncertified.remove(self.from, self.id)?;
        pools.certified.add(self.from, self.id, task, self.handshakes.most)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut pools = self.handshakes.pools.borrow_mut();
        let Pools { uncertified, certified, .. } = &mut *pools;
        // A place that was lost is in neither.
        let _ =
            uncertified.remove(self.from, self.id).or_else(|| certified.remove(self.from, self.id));
    }
}

/// The most connections of one address in a role.
fn most_connections(role: Role) -> usize {
    match role {
        Role::Crawler => 5_000,
        Role::Controller | Role::Client => 1_000,
    }
}

/// The connections of each address in each role.
#[derive(Clone, Default)]
pub struct Seats(Arc<Mutex<BTreeMap<(IpAddr, &'static str), usize>>>);

impl Seats {
    /// Counts a connection until the seat is dropped. The error says that there are too many.
    pub fn take(&self, from: IpAddr, role: Role) -> Result<Seat, String> {
        let (name, most) = (role.name(), most_connections(role));
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry((from, name)).or_default();
        if *count >= most {
            return Err(format!("{from} has {most} connections of {name}s, which is the limit"));
        }
        *count += 1;
        drop(counts);
        Ok(Seat { seats: self.clone(), key: (from, name) })
    }
}

/// One connection among those that are counted.
pub struct Seat {
    seats: Seats,
    key: (IpAddr, &'static str),
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::LocalSet;

    use super::*;

    struct Bed {
        local: LocalSet,
        handshakes: Handshakes,
    }

    impl Bed {
        fn new(open_files: usize) -> Self {
            Self { local: LocalSet::new(), handshakes: Handshakes::new(open_files) }
        }

        fn dial(&self, host: &str) -> (Place, Option<String>) {
            let place = self.handshakes.place(machine_of(&format!("{host}:1")));
            let task = self.local.spawn_local(std::future::pending::<()>()).abort_handle();
            let evicted = self.handshakes.begin(place.key(), task);
            (place, evicted.map(|address| address.to_string()))
        }

        /// Uncertified and certified handshakes.
        fn counts(&self) -> (usize, usize) {
            let pools = self.handshakes.pools.borrow();
            for pool in [&pools.uncertified, &pools.certified] {
                assert_eq!(pool.count, pool.handshakes.values().map(BTreeMap::len).sum::<usize>());
            }
            (pools.uncertified.count, pools.certified.count)
        }
    }

    #[test]
    fn thousands_dial_at_once_and_each_frees_its_place() {
        let bed = Bed::new(1 << 20);
        let places: Vec<_> = (0..2_000).map(|_| bed.dial("127.0.0.1")).collect();
        assert!(places.iter().all(|(_, evicted)| evicted.is_none()));
        assert_eq!(bed.counts(), (2_000, 0));
        drop(places);
        assert_eq!(bed.counts(), (0, 0));
        assert!(bed.handshakes.pools.borrow().uncertified.handshakes.is_empty());
    }

    #[test]
    fn an_address_with_too_many_handshakes_loses_its_own_oldest() {
        let bed = Bed::new(1 << 20);
        let other = bed.dial("10.0.0.2");
        let places: Vec<_> = (0..MOST_OF_ADDRESS).map(|_| bed.dial("10.0.0.1").0).collect();
        assert_eq!(bed.dial("10.0.0.1").1.as_deref(), Some("10.0.0.1"));
        let pools = bed.handshakes.pools.borrow();
        let numbers = |host: &str| {
            let some = &pools.uncertified.handshakes[&machine_of(&format!("{host}:1"))];
            some.keys().copied().collect::<Vec<_>>()
        };
        assert!(!numbers("10.0.0.1").contains(&places[0].id));
        assert!(numbers("10.0.0.1").contains(&places[1].id));
        assert_eq!(numbers("10.0.0.2"), [other.0.id]);
    }

    #[test]
    fn handshakes_are_bounded_and_the_address_with_the_most_loses_first() {
        let bed = Bed::new(16 * SHARE_OF_FILES);
        let honest = bed.dial("10.0.0.9").0;
        let mut places: Vec<_> = (0..15).map(|_| bed.dial("10.0.0.1").0).collect();
        let mut dial = |host: u32| {
            let (place, evicted) = bed.dial(&format!("10.0.1.{host}"));
            places.push(place);
            assert_eq!(bed.counts(), (16, 0));
            evicted.expect("there are too many")
        };
        for host in 0..14 {
            assert_eq!(dial(host), "10.0.0.1");
        }
        // All have one now: the oldest one ends.
        assert_eq!(dial(14), honest.from.to_string());
        assert_eq!(dial(15), "10.0.0.1");
        assert_eq!(dial(16), "10.0.1.0");
    }

    #[test]
    fn a_certified_dialer_is_not_displaced_by_uncertified_ones() {
        let bed = Bed::new(16 * SHARE_OF_FILES);
        let (certified, _) = bed.dial("10.0.0.1");
        assert_eq!(certified.certify(), None);
        let task = || {
            let pools = bed.handshakes.pools.borrow();
            let found = pools.certified.handshakes.get(&certified.from);
            found.and_then(|some| some.get(&certified.id)).map(AbortHandle::is_finished)
        };
        let silent: Vec<_> = (0..100).map(|_| bed.dial("10.0.0.1")).collect();
        assert_eq!(bed.counts(), (16, 1));
        assert_eq!(task(), Some(false));
        // A dialer that lost its place cannot be certified later.
        assert_eq!((silent[0].0.certify(), bed.counts()), (None, (16, 1)));
    }

    #[test]
    fn certified_handshakes_are_bounded_too() {
        let bed = Bed::new(16 * SHARE_OF_FILES);
        let places: Vec<_> = (0..40)
            .map(|_| {
                let (place, _) = bed.dial("10.0.0.1");
                place.certify();
                place
            })
            .collect();
        assert_eq!(bed.counts(), (0, 16));
        drop(places);
        assert_eq!(bed.counts(), (0, 0));
    }

    #[test]
    fn an_address_has_a_limited_number_of_connections_in_each_role() {
        let seats = Seats::default();
        let (one, two) = (machine_of("10.0.0.1:1"), machine_of("10.0.0.2:1"));
        let mut taken: Vec<_> =
            (0..1_000).map(|_| seats.take(one, Role::Client).expect("a seat")).collect();
        assert_eq!(
            seats.take(one, Role::Client).err().as_deref(),
            Some("10.0.0.1 has 1000 connections of clients, which is the limit")
        );
        assert!(seats.take(two, Role::Client).is_ok());
        // The capacity bench has 2,000 crawlers on one address.
        let crawlers: Vec<_> = (0..5_000).map(|_| seats.take(one, Role::Crawler)).collect();
        assert!(crawlers.iter().all(Result::is_ok) && seats.take(one, Role::Crawler).is_err());
        taken.pop();
        assert!(seats.take(one, Role::Client).is_ok());
        drop((taken, crawlers));
        assert!(seats.0.lock().expect("no panic").is_empty());
    }

    #[test]
    fn addresses_of_one_machine_are_counted_together() {
        let same = |one: &str, two: &str| machine_of(one) == machine_of(two);
        assert!(same("10.0.0.1:1", "10.0.0.1:2"));
        assert!(same("10.0.0.1:1", "[::ffff:10.0.0.1]:2"));
        assert!(same("[2001:db8::1]:1", "[2001:db8::ffff:2]:2"));
        assert!(!same("[2001:db8::1]:1", "[2001:db8:0:1::1]:1"));
        assert!(!same("10.0.0.1:1", "10.0.0.2:1"));
    }
}
