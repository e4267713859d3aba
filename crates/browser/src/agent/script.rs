//! Puts the modules of the page agent (`agent/*.js`) together into the one classic script that a
//! document runs first. The modules are ES modules for the type checker and the linter; a document
//! cannot load modules before its own scripts, so they become one function body here.

use std::collections::BTreeSet;

use super::AgentSettings;

/// A module of the page agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentModule {
    /// Its file in `agent/`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(AgentModule { name: $name, text: include_str!(concat!("../../agent/", $name)) }),*]
    };
}

/// All modules, each after those that it imports.
pub const MODULES: &[AgentModule] = modules![
    "context.js",
    "natives.js",
    "intact.js",
    "chance.js",
    "ordering.js",
    "streams.js",
    "traffic.js",
    "sockets.js",
    "rendering.js",
    "clock.js",
    "listeners.js",
    "world.js",
    "rewriting.js",
    "documents.js",
    "settle.js",
    "numbers.js",
    "fields.js",
    "files.js",
    "pattern.js",
    "values.js",
    "changes.js",
    "place.js",
    "traits.js",
    "raw.js",
    "rules.js",
    "parked.js",
    "tree.js",
    "forms.js",
    "filling.js",
    "listening.js",
    "operable.js",
    "offers.js",
    "look.js",
    "perform.js",
    "entry.js",
];

/// The script that runs some modules, in the order given, with the settings in scope.
pub fn assemble<'a>(
    modules: impl IntoIterator<Item = &'a str>,
    settings: &AgentSettings,
) -> String {
    let settings = serde_json::to_string(settings).expect("plain settings are JSON");
    let mut script = String::with_capacity(80_000);
    script.push_str("((settings, words) => {\n\"use strict\";\n");
    modules.into_iter().for_each(|text| add_module(&mut script, text));
    let words = words(&script);
    script.push_str("})(");
    script.push_str(&settings);
    script.push_str(", \"");
    script.push_str(&words);
    script.push_str("\");\n");
    script
}

/// Every word of a script, once: the names of the built-in functions that it uses are among them.
fn words(script: &str) -> String {
    let words = script.split(|one: char| !one.is_ascii_alphanumeric());
    let words: BTreeSet<&str> = words
        .filter(|word| word.len() > 1 && word.starts_with(|one: char| one.is_ascii_alphabetic()))
        .collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// Adds a module without its imports, the word `export`, and comments that begin a line.
fn add_module(script: &mut String, text: &str) {
    let mut skipped_until = None;
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(end) = skipped_until {
            if line.ends_with(end) {
                skipped_until = None;
            }
        } else if line.starts_with("import ") {
            skipped_until = (!line.ends_with("\";")).then_some("\";");
        } else if code.starts_with("/**") && !code.contains("*/") {
            skipped_until = Some("*/");
        } else if !(code.is_empty()
            || code.starts_with("//")
            || code.starts_with("/**") && code.ends_with("*/"))
        {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
}

/// What a module imports: from which file (as written), and which names.
pub fn imports(text: &str) -> Vec<(&str, Vec<&str>)> {
    let is_import = |start: usize| text[..start].is_empty() || text[..start].ends_with('\n');
    let starts = text.match_indices("import ").filter(|(start, _)| is_import(*start));
    let statement = |start| {
        let (names, rest) = text[start..].split_once('"')?;
        let (file, _) = rest.split_once("\";")?;
        let names = names.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let names = names.map_or("", |(names, _)| names).split(',').map(str::trim);
        Some((file, names.filter(|name| !name.is_empty()).collect()))
    };
    starts.filter_map(|(start, _)| statement(start)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The names that a module declares at its top level, and whether it exports them.
    fn declarations(text: &str) -> Vec<(&str, bool)> {
        let mut found = Vec::new();
        for line in text.lines() {
            let (line, exported) =
                line.strip_prefix("export ").map_or((line, false), |rest| (rest, true));
            let line = line.strip_prefix("async ").unwrap_or(line);
            let declared = ["const ", "let ", "class ", "function* ", "function "]
                .into_iter()
                .find_map(|word| line.strip_prefix(word));
            let Some(declared) = declared else { continue };
            if let Some(names) = declared.strip_prefix('{') {
                let (names, _) = names.split_once('}').unwrap();
                found.extend(names.split(',').map(|name| (name.trim(), exported)));
            } else {
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                let end = declared.find(|c| !is_name(c)).unwrap_or(declared.len());
                found.push((&declared[..end], exported));
            }
        }
        found
    }

    #[test]
    fn every_module_comes_after_what_it_imports_and_every_imported_name_is_exported() {
        let mut exported: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for module in MODULES {
            for (file, names) in imports(module.text) {
                let from = exported.get(file);
                let from = from.unwrap_or_else(|| panic!("{}: {file} comes later", module.name));
                for name in names {
                    assert!(from.contains(name), "{}: {file} exports no {name}", module.name);
                }
            }
            let names = declarations(module.text).into_iter();
            let names = names.filter(|(_, exported)| *exported).map(|(name, _)| name).collect();
            exported.insert(format!("./{}", module.name), names);
        }
    }

    #[test]
    fn every_export_is_imported_by_a_module() {
        let imported: BTreeSet<(String, &str)> = MODULES
            .iter()
            .flat_map(|module| imports(module.text))
            .flat_map(|(file, names)| names.into_iter().map(move |name| (file.to_owned(), name)))
            .collect();
        for module in MODULES {
            for (name, _) in declarations(module.text).into_iter().filter(|(_, exported)| *exported)
            {
                let is_used = imported.contains(&(format!("./{}", module.name), name));
                assert!(is_used, "{}: no module imports {name}", module.name);
            }
        }
    }

    /// All modules share one scope.
    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut seen = BTreeMap::new();
        for module in MODULES {
            for (name, _) in declarations(module.text) {
                let before = seen.insert(name, module.name);
                assert_eq!(before, None, "{}: {name} is declared twice", module.name);
            }
        }
    }

    #[test]
    fn every_file_is_a_module_and_is_checked() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/agent");
        let names = std::fs::read_dir(directory).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        let files: BTreeSet<String> = names.filter(|name| name.ends_with(".js")).collect();
        let modules: BTreeSet<String> =
            MODULES.iter().map(|module| module.name.to_owned()).collect();
        assert_eq!(files, modules);
        for module in MODULES {
            assert!(module.text.starts_with("// @ts-check\n"), "{}", module.name);
        }
    }

    #[test]
    fn imports_exports_and_comments_are_left_out() {
        let text = "// @ts-check\nimport { a } from \"./a.js\";\nimport {\n  b,\n  c,\n} from \
                    \"./b.js\";\n\n/** One line. */\nexport const d = a; // kept\n/**\n * @param \
                    {any} e\n */\nexport function f(e) {\n  /** @type {any} */ (e).g();\n}\n";
        let mut script = String::new();
        add_module(&mut script, text);
        assert_eq!(
            script,
            "const d = a; // kept\nfunction f(e) {\n  /** @type {any} */ (e).g();\n}\n"
        );
        assert_eq!(imports(text), [("./a.js", vec!["a"]), ("./b.js", vec!["b", "c"])]);
        assert_eq!(imports("import \"./a.js\";\n"), [("./a.js", vec![])]);
    }

    #[test]
    fn the_script_of_all_modules_has_none_of_them() {
        let script = AgentSettings::new("secret", "http://app.test", "app.test").script();
        for line in script.lines() {
            let code = line.trim_start();
            assert!(!code.starts_with("import ") && !code.starts_with("export "), "{line}");
            assert!(!code.starts_with("//") && !code.starts_with("* "), "{line}");
        }
        let words = script.lines().last().unwrap();
        assert!(words.starts_with("})({") && words.ends_with("\");"), "the settings come last");
        assert!(words.contains(" outerHTML "), "what the agent uses is among the words");
    }
}
