//! The invariant of a ring at every moment, seen from outside: the inductive invariant of corrected
//! Chord, and its consequences. For simulators and tests; members do not use it.

use std::collections::BTreeMap;

use crate::key::Key;
use crate::member::RingMember;

/// The live members of the ring, by key.
pub type Members<'a> = BTreeMap<Key, &'a RingMember>;

/// Describes the first violation of the invariant, if any. `length` is the length of successor
/// lists.
pub fn violation(members: &Members<'_>, length: usize) -> Option<String> {
    if members.len() < 2 {
        return None;
    }
    for member in members.values() {
        if !member.successors().iter().any(|other| members.contains_key(other)) {
            return Some(format!("{:?} has no live successor", member.key()));
        }
        if !is_ordered(member) {
            let (key, list) = (member.key(), member.successors());
            return Some(format!("the successor list of {key:?} is out of order: {list:?}"));
        }
    }
    let principals = principals(members).len();
    let needed = members.len().min(length + 1);
    if principals < needed {
        return Some(format!("{principals} members are skipped by no list; {needed} are needed"));
    }
    ring_order(members).err()
}

/// The principals: the members that no successor list skips.
pub fn principals(members: &Members<'_>) -> Vec<Key> {
    let skipped = |key: Key| {
        members.values().any(|member| {
            let list = [&[member.key()], member.successors()].concat();
            list.windows(2).any(|pair| key.is_between(pair[0], pair[1]))
        })
    };
    members.keys().copied().filter(|&key| !skipped(key)).collect()
}

/// The ring that the first live successors form, in its order. The error says why there is not
/// exactly one.
pub fn ring_order(members: &Members<'_>) -> Result<Vec<Key>, String> {
    let next = |key: Key| {
        let live =
            members[&key].successors().iter().copied().find(|other| members.contains_key(other));
        live.ok_or_else(|| format!("{key:?} has no live successor"))
    };
    let mut found: Option<Vec<Key>> = None;
    for &start in members.keys() {
        // After as many steps as there are members, the walk is on a cycle.
        let mut at = start;
        for _ in 0..members.len() {
            at = next(at)?;
        }
        let mut cycle = vec![at];
        let mut here = next(at)?;
        while here != at {
            cycle.push(here);
            here = next(here)?;
        }
        let least = cycle.iter().enumerate().min_by_key(|&(_, key)| *key).map_or(0, |(at, _)| at);
        cycle.rotate_left(least);
        if !cycle.is_sorted() {
            return Err(format!("the ring is out of order: {cycle:?}"));
        }
        match &found {
            Some(other) if *other != cycle => {
                return Err(format!("there are two rings: {other:?} and {cycle:?}"));
            }
            _ => found = Some(cycle),
        }
    }
    found.ok_or_else(|| "there is no ring".to_owned())
}

/// Checks that a successor list is in the order of the circle and has no duplicates.
fn is_ordered(member: &RingMember) -> bool {
    let distances = member.successors().iter().map(|&other| member.key().distance(other));
    std::iter::once(0).chain(distances).is_sorted_by(|near, far| near < far)
}
