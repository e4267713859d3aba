//! Whether an id looks as if a program had made it up: then it differs from load to load and says
//! nothing about what the element is. A wrong guess costs little: names and contexts remain.

/// Prefixes of ids that frameworks and widget libraries number.
const NUMBERED: &[&str] = &[
    "ember",
    "ext-gen",
    "ext-comp",
    "yui_",
    "yui-gen",
    "gwt-uid",
    "isc_",
    "dijit_",
    "dojo_",
    "mat-",
    "cdk-",
    "mui-",
    "radix-",
    "headlessui-",
    "react-aria",
    "react-select",
    "rc_",
    "rc-",
    "ui-id-",
    "jqgrid",
    "svelte-",
    "vue-",
    "v-",
    "el-id-",
    "chakra-",
    "downshift-",
    "popover-",
    "tooltip",
    "uid",
    "uuid",
    "guid",
    "auto_",
    "auto-",
    "autoid",
    "gen-",
    "generated",
    "j_id",
    "ctl",
    "__next",
    "cid-",
    "select2-",
    "tippy-",
    "floating-ui",
    "nanoid",
    "random",
    "rand",
];

/// Whether an id (or a name) looks generated.
pub fn looks_generated(id: &str) -> bool {
    let id = id.trim();
    id.is_empty()
        || id.len() > 120
        || is_from_react(id)
        || has_long_digits(id)
        || has_numbered_prefix(id)
        || words(id).any(looks_random)
}

/// React's `useId`: `:r1:`, `«r1»`, `_r_1_`, also as a part of an id.
fn is_from_react(id: &str) -> bool {
    let is_counter = |inner: &str| {
        inner.strip_prefix(['r', 'R']).is_some_and(|rest| {
            !rest.is_empty()
                && rest.len() <= 8
                && rest.chars().all(|character| character.is_ascii_alphanumeric())
        })
    };
    id.split(':').nth(1).is_some_and(is_counter) && id.matches(':').count() >= 2
        || id.contains('«')
        || id.strip_prefix("_r_").is_some_and(|rest| rest.ends_with('_'))
}

/// Five digits in a row: a time, a counter, a number from chance. Years and small numbers are shorter.
fn has_long_digits(id: &str) -> bool {
    let mut run = 0;
    id.bytes().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run >= 5
    })
}

/// What a framework counts: its prefix, and a number at the end.
fn has_numbered_prefix(id: &str) -> bool {
    let starts = |prefix: &str| {
        id.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    id.bytes().any(|byte| byte.is_ascii_digit()) && NUMBERED.iter().any(|prefix| starts(prefix))
}

fn words(id: &str) -> impl Iterator<Item = &str> {
    id.split(|character: char| !character.is_ascii_alphanumeric())
}

/// Hexadecimal with digits in it, or letters and digits in a jumble.
fn looks_random(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if word.len() < 6 || digits == 0 {
        return false;
    }
    let hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal && digits >= 2 {
        return true;
    }
    // How often it goes from letters to digits and back: `step2` once, `h3q9x1k` six times.
    let class = |byte: u8| byte.is_ascii_digit();
    let bytes = word.as_bytes();
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    changes >= 3
}

#[cfg(test)]
mod tests {
    use super::looks_generated;

    #[test]
    fn what_programs_make_up_is_told_apart() {
        for id in [
            ":r1:",
            ":R2mt6:",
            "radix-:r3:",
            "«r0»",
            "_r_1a_",
            "field-1700000000000",
            "x93841",
            "ember402",
            "mat-input-0",
            "ui-id-12",
            "headlessui-menu-button-3",
            "550e8400-e29b-41d4-a716-446655440000",
            "node-9f8e7d6c",
            "k3j9x2m4",
            "item-a1b2c3d4",
            "ext-gen1234",
            "",
        ] {
            assert!(looks_generated(id), "{id}");
        }
    }

    #[test]
    fn what_people_write_is_kept() {
        for id in [
            "main",
            "todo-list",
            "btn1",
            "step2",
            "row-3",
            "user_name",
            "tab-2024",
            "h1",
            "facade",
            "decade",
            "column12",
            "save-button",
            "mp3player",
            "q2-2024",
            "address2",
            "Überschrift",
            "a:b",
            "nav:main",
            "material",
            "video",
        ] {
            assert!(!looks_generated(id), "{id}");
        }
    }
}
