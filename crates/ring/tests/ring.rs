//! Rings in simulated time: members join, leave, fail and are slow, by seed.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::chance::Chance;
use argiope_ring::invariant::{self, Members};
use argiope_ring::{Key, RingEffect, RingInput, RingMember, RingMessage, RingTimer};

/// How long an answer is waited for.
const DEADLINE: u64 = 200;
/// The longest that a message travels.
const LATENCY: u64 = 40;
/// About how often members stabilise.
const PERIOD: u64 = 300;

struct World {
    chance: Chance,
    length: usize,
    now: u64,
    number: u64,
    queue: BTreeMap<(u64, u64), (Key, RingInput)>,
    members: BTreeMap<Key, RingMember>,
    found: BTreeMap<u64, (Key, u32)>,
    lost: BTreeSet<u64>,
    stranded: u32,
    checked: bool,
}

impl World {
    /// A ring of that many members, all of which know each other.
    fn founded(seed: u64, members: usize, length: usize) -> Self {
        let mut chance = Chance::new(&[seed]);
        let keys: Vec<Key> = (0..members).map(|_| draw(&mut chance)).collect();
        let mut world = Self {
            chance,
            length,
            now: 0,
            number: 0,
            queue: BTreeMap::new(),
            members: BTreeMap::new(),
            found: BTreeMap::new(),
            lost: BTreeSet::new(),
            stranded: 0,
            checked: true,
        };
        for &key in &keys {
            let member = RingMember::founder(key, &keys, length);
            let mut effects = Vec::new();
            member.start(&mut effects);
            world.members.insert(key, member);
            world.carry_out(key, effects);
        }
        world
    }

    fn any(&mut self) -> Key {
        let inside: Vec<Key> = self.inside().keys().copied().collect();
        inside[self.chance.below(inside.len())]
    }

    fn inside(&self) -> Members<'_> {
        self.members
            .iter()
            .filter(|(_, member)| member.is_inside())
            .map(|(&key, member)| (key, member))
            .collect()
    }

    fn join(&mut self) -> Key {
        let (newcomer, through) = (draw(&mut self.chance), self.any());
        self.members.insert(newcomer, RingMember::new(newcomer, self.length));
        self.tell(newcomer, RingInput::Join(through));
        newcomer
    }

    fn fail(&mut self, key: Key) {
        self.members.remove(&key);
    }

    fn leave(&mut self, key: Key) {
        self.tell(key, RingInput::Leave);
        self.members.remove(&key);
    }

    fn tell(&mut self, key: Key, input: RingInput) {
        let Some(member) = self.members.get_mut(&key) else { return };
        let before = (member.successors().to_vec(), member.is_inside());
        let mut effects = Vec::new();
        member.handle(input, &mut effects);
        let changed = before.0 != member.successors() || before.1 != member.is_inside();
        self.carry_out(key, effects);
        if changed && self.checked {
            let violation = invariant::violation(&self.inside(), self.length);
            assert_eq!(violation, None, "at {}", self.now);
        }
    }

    fn later(&mut self, delay: u64, key: Key, input: RingInput) {
        self.number += 1;
        self.queue.insert((self.now + delay, self.number), (key, input));
    }

    fn carry_out(&mut self, from: Key, effects: Vec<RingEffect>) {
        for effect in effects {
            match effect {
                RingEffect::Send(to, message) => {
                    let delay = 1 + self.chance.below(LATENCY as usize) as u64;
                    self.later(delay, to, RingInput::Message(from, message));
                }
                RingEffect::StartTimeout(request) => {
                    self.later(DEADLINE, from, RingInput::Timeout(request))
                }
                RingEffect::StartTimer(timer) => {
                    let period = if timer == RingTimer::Stabilise { PERIOD } else { PERIOD / 4 };
                    let delay = period / 2 + self.chance.below(period as usize) as u64;
                    self.later(delay, from, RingInput::Timer(timer));
                }
                RingEffect::OwnerFound { tag, owner, hops } => {
                    self.found.insert(tag, (owner, hops));
                }
                RingEffect::OwnerNotFound { tag } => {
                    self.lost.insert(tag);
                }
                RingEffect::MemberGone(_) | RingEffect::SkippedBySuccessor => {}
                RingEffect::Isolated => self.stranded += 1,
            }
        }
    }

    fn run(&mut self, time: u64) {
        let until = self.now + time;
        while let Some((&(at, number), _)) = self.queue.first_key_value() {
            if at > until {
                break;
            }
            self.now = at;
            if let Some((key, input)) = self.queue.remove(&(at, number)) {
                self.tell(key, input);
            }
        }
        self.now = until;
    }

    /// Every member knows exactly those after it and the one before it.
    fn assert_ideal(&self) {
        let members = self.inside();
        let keys: Vec<Key> = members.keys().copied().collect();
        for (at, key) in keys.iter().enumerate() {
            let others = (1..keys.len()).map(|step| keys[(at + step) % keys.len()]);
            let after: Vec<Key> = others.take(self.length).collect();
            assert_eq!(members[key].successors(), after, "after {key:?}");
            let before = (keys.len() > 1).then(|| keys[(at + keys.len() - 1) % keys.len()]);
            assert_eq!(members[key].predecessor(), before, "before {key:?}");
        }
    }

    fn owner(&self, key: Key) -> Key {
        let members = self.inside();
        members.range(key..).next().or(members.first_key_value()).map(|(&owner, _)| owner).unwrap()
    }

    /// Looks keys up from everywhere; the most that a request was handed on.
    fn assert_found(&mut self, look_ups: u64) -> u32 {
        self.found.clear();
        let mut wanted = BTreeMap::new();
        for tag in 0..look_ups {
            let (asker, key) = (self.any(), draw(&mut self.chance));
            wanted.insert(tag, key);
            self.tell(asker, RingInput::LookUp(key, tag));
        }
        self.run(20 * DEADLINE);
        for (tag, key) in &wanted {
            let found = self.found.get(tag).map(|&(owner, _)| owner);
            assert_eq!(found, Some(self.owner(*key)), "look-up {tag}");
        }
        assert!(self.lost.is_empty());
        self.found.values().map(|&(_, hops)| hops).max().unwrap_or(0)
    }
}

fn draw(chance: &mut Chance) -> Key {
    Key(u128::from(chance.word()) << 64 | u128::from(chance.word()))
}

#[test]
fn members_that_join_find_their_places() {
    for seed in 0..40 {
        let mut world = World::founded(seed, 4, 3);
        for _ in 0..12 {
            world.join();
            world.run(100);
        }
        world.run(40 * PERIOD);
        assert_eq!(world.inside().len(), 16);
        world.assert_ideal();
        world.assert_found(50);
    }
}

#[test]
fn a_ring_grows_from_one_and_shrinks_to_one() {
    for seed in 0..40 {
        let mut world = World::founded(seed, 1, 2);
        // The invariant is that of rings with more members than a list has places.
        world.checked = false;
        assert!(world.owner(Key(1)) == world.any());
        for _ in 0..3 {
            world.join();
            world.run(20 * PERIOD);
            world.assert_ideal();
        }
        world.assert_found(20);
        for left in (1..=3).rev() {
            let one = world.any();
            world.leave(one);
            world.run(20 * PERIOD);
            assert_eq!(world.inside().len(), left);
            world.assert_ideal();
        }
        world.assert_found(5);
        assert_eq!(world.stranded, 1, "the last of them knows that it is alone");
    }
}

#[test]
fn the_ring_heals_when_members_fail_while_others_join() {
    for seed in 0..60 {
        let mut world = World::founded(seed, 10, 3);
        for _ in 0..10 {
            world.join();
            let one = world.any();
            // Fewer than the length of the lists fail before the ring has stabilised again.
            world.fail(one);
            world.run(4 * (DEADLINE + PERIOD));
        }
        world.run(60 * PERIOD);
        world.assert_ideal();
        world.assert_found(50);
        assert_eq!(world.stranded, 0);
    }
}

#[test]
fn the_one_after_a_dead_member_hears_of_it_as_soon_as_it_is_known_to_be_dead() {
    let [me, dead, next] = [Key(1), Key(5), Key(9)];
    let mut member = RingMember::founder(me, &[me, dead, next], 2);
    let mut tell = |input| {
        let mut effects = Vec::new();
        member.handle(input, &mut effects);
        effects
    };
    let asked = |effects: &[RingEffect], whom: Key| {
        let found = effects.iter().find_map(|effect| match effect {
            RingEffect::Send(to, RingMessage::GetNeighbours(request)) if *to == whom => {
                Some(*request)
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{whom:?} is not asked: {effects:?}"))
    };
    let first = asked(&tell(RingInput::Timer(RingTimer::Stabilise)), dead);
    let second = asked(&tell(RingInput::Timeout(first)), next);
    // It has not heard yet, and takes the dead one for its predecessor. That one is not asked once more.
    let around =
        RingMessage::Neighbours { request: second, predecessor: Some(dead), successors: vec![me] };
    assert_eq!(
        tell(RingInput::Message(next, around)),
        [RingEffect::Send(next, RingMessage::Notify)]
    );
}

#[test]
fn a_lost_successor_does_not_take_another_predecessor_with_it() {
    // Two members; a third has come between them, of whom only the other one knew, and that one is dead. It is asked twice.
    let [me, dead, third] = [Key(1), Key(9), Key(5)];
    for first_answer in [0, 1] {
        let mut member = RingMember::founder(me, &[me, dead], 2);
        let mut tell = |input| {
            let mut effects = Vec::new();
            member.handle(input, &mut effects);
            let request = effects.iter().find_map(|effect| match effect {
                RingEffect::StartTimeout(request) => Some(*request),
                _ => None,
            });
            request.unwrap_or_default()
        };
        let as_successor = tell(RingInput::Timer(RingTimer::Stabilise));
        let again = tell(RingInput::Timeout(as_successor));
        let as_predecessor = tell(RingInput::Message(third, RingMessage::Notify));
        let asked = [again, as_predecessor];
        tell(RingInput::Timeout(asked[first_answer]));
        tell(RingInput::Timeout(asked[1 - first_answer]));
        assert_eq!(member.predecessor(), Some(third));
    }
}

#[test]
fn neighbours_may_fail_together_as_long_as_the_lists_are_longer() {
    for seed in 0..40 {
        let mut world = World::founded(seed, 9, 3);
        let first = world.any();
        let pair: Vec<Key> = world.members[&first].successors()[..2].to_vec();
        pair.into_iter().for_each(|key| world.fail(key));
        world.run(40 * PERIOD);
        assert_eq!(world.inside().len(), 7);
        world.assert_ideal();
        world.assert_found(50);
    }
}

#[test]
fn look_ups_take_a_logarithmic_number_of_hops() {
    for (members, most) in [(16, 8), (128, 12), (512, 16)] {
        let mut world = World::founded(7, members, 4);
        // What is checked at every change is the same as in smaller rings, and slow here.
        world.checked = false;
        world.run(300 * PERIOD);
        let hops = world.assert_found(400);
        assert!(hops <= most, "{members} members: {hops} hops");
    }
}

#[test]
fn the_same_seed_gives_the_same_ring() {
    let run = || {
        let mut world = World::founded(3, 6, 2);
        world.join();
        world.run(700);
        let one = world.any();
        world.fail(one);
        world.run(5 * PERIOD);
        (world.number, format!("{:?}", world.members))
    };
    assert_eq!(run(), run());
}
