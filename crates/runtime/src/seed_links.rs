//! The seeds of a crawl on a cluster. Each is a plain link that the states offer to which a load of
//! the URL leads: so it has a home, it is followed once, and no failure loses it. A crawler follows
//! it by loading the address, wherever it stands. On one machine see `crawl/seeds.rs`.

use std::collections::BTreeMap;

use argiope_explore::id::ActionSignature;

use crate::address::PlainUrl;
use crate::store::ContentHash;

/// The seeds of a crawl, by the names of the links that load them.
pub type SeedLinks = BTreeMap<ActionSignature, PlainUrl>;

/// The links that load some seeds. All processes of a cluster give them the same names.
pub fn seed_links(seeds: &[PlainUrl]) -> SeedLinks {
    let link = |seed: &PlainUrl| {
        let name = ContentHash::of(format!("seed {seed}").as_bytes());
        (ActionSignature(name.0 as u64), seed.clone())
    };
    seeds.iter().map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_seed_has_a_link_of_its_own() {
        let seeds = ["http://a/b", "http://a/c", "http://a/b"].map(|url| PlainUrl::divide(url).0);
        let links = seed_links(&seeds);
        assert_eq!(links.len(), 2);
        assert_eq!(links, seed_links(&seeds[..2]));
    }
}
