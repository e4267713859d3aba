//! Suggestions for unknown names.

/// Finds at most three similar names, the most similar first.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // A colon or a bracket begins a parameter (`hypercube:8`, `filetree[:TREE]`).
    let stem = |name: &str| name.split([':', '[']).next().unwrap_or_default().to_lowercase();
    let given = stem(given);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (edits(&given, &stem(name)), name))
        .filter(|&(edits, name)| edits <= 1 + stem(name).chars().count() / 3)
        .collect();
    near.sort_by_key(|&(edits, _)| edits);
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The error for an unknown name, with similar names or all known ones.
pub fn unknown<'a>(kind: &str, given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(given, known.iter().copied());
    let (hint, names) = if near.is_empty() { ("known are", known) } else { ("did you mean", near) };
    format!(
        "no {kind} is called '{given}'; {hint} {}{}",
        names.join(", "),
        if hint == "did you mean" { "?" } else { "" }
    )
}

/// The Levenshtein distance, computed row by row.
fn edits(a: &str, b: &str) -> usize {
    // No known name is longer than this.
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_letters() {
        assert_eq!([edits("kitten", "sitting"), edits("", "ab"), edits("a", "a")], [3, 2, 0]);
    }

    #[test]
    fn a_parameter_does_not_hide_the_name() {
        assert_eq!(nearest("hypercub:12", ["hypercube:N", "filetree"]), ["hypercube:N"]);
    }

    #[test]
    fn a_choice_in_brackets_does_not_hide_the_name() {
        assert_eq!(nearest("filetre", ["filetree[:TREE]"]), ["filetree[:TREE]"]);
    }

    #[test]
    fn a_name_like_no_other_gets_the_whole_list() {
        assert_eq!(
            unknown("test-bed", "zzzzzz", ["hypercube:N", "filetree"]),
            "no test-bed is called 'zzzzzz'; known are hypercube:N, filetree"
        );
        assert_eq!(
            unknown("test-bed", "filetre", ["hypercube:N", "filetree"]),
            "no test-bed is called 'filetre'; did you mean filetree?"
        );
    }
}
