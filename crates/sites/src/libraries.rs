//! React and Vue for the fixtures that need them. They come from npm and are not shipped with
//! argiope, so they are read from disk on request.

use std::path::{Path, PathBuf};

use crate::reply::SiteReply;
use crate::site::MissingLibrary;

/// The modules of React that a page needs, in the order of their dependencies.
const REACT: &[(&str, &str)] = &[
    ("react", "node_modules/react/cjs/react.production.js"),
    ("scheduler", "node_modules/scheduler/cjs/scheduler.production.js"),
    ("react-dom", "node_modules/react-dom/cjs/react-dom.production.js"),
    ("react-dom/client", "node_modules/react-dom/cjs/react-dom-client.production.js"),
];

/// Vue in one file, with its template compiler.
const VUE: &[(&str, &str)] = &[("vue", "node_modules/vue/dist/vue.global.prod.js")];

/// Checks that the library of a fixture is installed.
pub(crate) fn check(site: &str) -> Result<(), MissingLibrary> {
    let gone = modules(site).iter().find(|(_, path)| !on_disk(path).is_file());
    gone.map_or(Ok(()), |&(_, path)| Err(MissingLibrary { path }))
}

/// Answers a request for the library, as one script.
pub(crate) fn answer(site: &str, path: &str) -> Option<SiteReply> {
    if path != "/library.js" || modules(site).is_empty() {
        return None;
    }
    let script = match site {
        "react" | "sign-up" => modules_as_script(REACT),
        _ => read(VUE[0].1),
    };
    Some(match script {
        Ok(script) => SiteReply::new("text/javascript; charset=utf-8", script.into_bytes()),
        Err(missing) => SiteReply::text(missing.to_string()).status(503),
    })
}

fn modules(site: &str) -> &'static [(&'static str, &'static str)] {
    match site {
        "react" | "sign-up" => REACT,
        "vue" => VUE,
        _ => &[],
    }
}

/// React ships CommonJS modules only. Each becomes a function that is called once, and `require`
/// returns its `module.exports`.
fn modules_as_script(modules: &[(&str, &'static str)]) -> Result<String, MissingLibrary> {
    let mut script =
        String::from("const require = (name) => require.modules[name];\nrequire.modules = {};\n");
    for (name, path) in modules {
        let source = read(path)?;
        script.push_str(&format!(
            "require.modules['{name}'] = ((module, exports) => {{\n{source}\nreturn module.exports;\n}})\
             (...(() => {{ const module = {{ exports: {{}} }}; return [module, module.exports]; }})());\n"
        ));
    }
    Ok(script)
}

fn read(path: &'static str) -> Result<String, MissingLibrary> {
    std::fs::read_to_string(on_disk(path)).map_err(|_| MissingLibrary { path })
}

fn on_disk(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites").join(path)
}
