//! The folders of a file tree of which only the shape is known. Folder i is named "folder i".

use serde::Deserialize;
use serde_json::json;

use crate::reply::{SiteReply, SiteRequest};

/// A small tree for fast tests.
pub(super) const SMALL: &str = include_str!("../../../../sites/filetree/tree.json");
/// The source tree of Cassandra 1.2.1, from the same file as the simulator's test-bed.
pub(super) const CASSANDRA: &str =
    include_str!("../../../sim/src/testbeds/cassandra-1.2.1.tree.json");

/// Entry i is the parent of directory i. Directory 0 is the root.
#[derive(Deserialize)]
struct Shape {
    parents: Vec<Option<usize>>,
}

/// `/tree?path=/7/8`: the folders in folder 8 of folder 7. The empty path is the root.
pub(super) fn answer(shape: &str, request: &SiteRequest) -> Option<SiteReply> {
    if request.path != "/tree" {
        return None;
    }
    let shape: Shape = serde_json::from_str(shape).expect("the embedded shape is valid");
    let path = request.parameter("path").unwrap_or_default();
    Some(match directory(&shape, path) {
        Some(directory) => SiteReply::json(&json!({ "folders": children(&shape, directory) })),
        None => SiteReply::text("no such folder").status(404),
    })
}

/// The directory at the end of a path. Each segment must be a child of its predecessor.
fn directory(shape: &Shape, path: &str) -> Option<usize> {
    path.split('/').filter(|segment| !segment.is_empty()).try_fold(0, |parent, segment| {
        let child: usize = segment.parse().ok()?;
        (*shape.parents.get(child)? == Some(parent)).then_some(child)
    })
}

fn children(shape: &Shape, directory: usize) -> Vec<usize> {
    let numbered = shape.parents.iter().enumerate();
    numbered.filter(|(_, parent)| **parent == Some(directory)).map(|(child, _)| child).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let request = SiteRequest {
            path: "/tree".into(),
            query: format!("path={path}"),
            ..SiteRequest::default()
        };
        let reply = answer(SMALL, &request).unwrap();
        assert_eq!(String::from_utf8_lossy(&reply.body), expected, "{path}");
    }

    #[test]
    fn a_folder_lists_its_own_folders_only() {
        check("", r#"{"folders":[1,2,3]}"#);
        check("/1", r#"{"folders":[4,5]}"#);
        check("/1/4/6", r#"{"folders":[]}"#);
    }

    #[test]
    fn a_path_must_follow_the_tree() {
        check("/4", "no such folder");
        check("/1/7", "no such folder");
        check("/99", "no such folder");
        check("/x", "no such folder");
    }

    #[test]
    fn the_expected_counts_of_the_trees_follow_from_their_shapes() {
        for (site, shape) in [("filetree", SMALL), ("filetree-cassandra", CASSANDRA)] {
            let expected = crate::Site::find(site).and_then(crate::Site::expected).unwrap();
            let shape: Shape = serde_json::from_str(shape).unwrap();
            // A directory shows the folders of every directory on its chain.
            let shown = |mut directory: usize| {
                let mut sum = children(&shape, directory).len();
                while let Some(parent) = shape.parents[directory] {
                    sum += children(&shape, parent).len();
                    directory = parent;
                }
                sum as u64
            };
            let directories = shape.parents.len();
            assert_eq!(expected.states, directories as u64, "{site}");
            assert_eq!(expected.transitions, (0..directories).map(shown).sum::<u64>(), "{site}");
        }
    }
}
