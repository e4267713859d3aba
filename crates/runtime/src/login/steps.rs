//! The file of `--login`: a recording of Chrome's DevTools Recorder (JSON), or a short form in
//! TOML. Values may refer to secrets; relative paths are under the directory of the file. No error
//! repeats a value.

use std::path::Path;

use argiope_browser::access::{ElementSelectors, LoginAct, LoginScript, LoginStep};
use argiope_explore::quoted::Quoted;
use toml::{Table, Value};

use super::recorder;
use super::reference::References;
use crate::settings::Scope;

/// How long a step waits for its element, in milliseconds, unless it says so itself.
pub const USUAL_WAIT: u32 = 10_000;
/// The most steps of a login.
const MOST_STEPS: usize = 200;
/// The steps of the short form.
const STEPS: &str = "open, fill, click, press and wait-for";

/// Where the values of a file come from.
pub struct ValueSource<'a> {
    directory: &'a Path,
    scope: &'a Scope,
}

impl ValueSource<'_> {
    /// The value of a text with references.
    pub fn value(&self, text: &str) -> Result<String, String> {
        References::in_text(text)?.read(self.directory)
    }

    /// The address that a step opens: absolute, or a path of the application.
    pub fn address(&self, text: &str) -> Result<String, String> {
        let address = self.value(text)?;
        if address.starts_with('/') && !address.starts_with("//") {
            return Ok(format!("{}{address}", self.scope.origin));
        }
        if Scope::of(&address).is_err() || address.contains('@') {
            return Err(
                "it opens no web address: write one, or a path that begins with /".to_owned()
            );
        }
        Ok(address)
    }
}

/// Reads the steps of a file.
pub fn read(text: &str, path: &Path, scope: &Scope) -> Result<LoginScript, String> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let source = ValueSource { directory, scope };
    let steps = if text.trim_start().starts_with('{') {
        recorder::read(text, &source)?
    } else {
        read_short(text, &source)?
    };
    if steps.is_empty() {
        return Err("it has no step".to_owned());
    }
    if steps.len() > MOST_STEPS {
        return Err(format!("it has more than {MOST_STEPS} steps"));
    }
    Ok(LoginScript { steps })
}

fn read_short(text: &str, source: &ValueSource<'_>) -> Result<Vec<LoginStep>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("it is neither a recording (JSON) nor TOML: line {line}")
    })?;
    if let Some(other) = table.keys().find(|&name| name != "steps") {
        return Err(format!("there is no setting {}: write `steps`", Quoted(other)));
    }
    let Some(Value::Array(steps)) = table.get("steps") else {
        return Err("it has no list `steps`".to_owned());
    };
    let read = |(at, step): (usize, &Value)| {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        short_step(number, step, source).map_err(|why| format!("step {number}: {why}"))
    };
    steps.iter().enumerate().map(read).collect()
}

fn short_step(number: u32, step: &Value, source: &ValueSource<'_>) -> Result<LoginStep, String> {
    let one =
        step.as_table().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
    let (kind, value) = one.ok_or(format!("write one of {STEPS}"))?;
    let text = || value.as_str().ok_or(format!("write a text after {kind}"));
    let selectors = || Ok::<_, String>(vec![vec![text()?.to_owned()]]);
    let act = match kind.as_str() {
        "open" => LoginAct::Open(source.address(text()?)?),
        "click" => LoginAct::Click(selectors()?),
        "wait-for" => LoginAct::WaitFor(selectors()?),
        "press" => LoginAct::Press(text()?.to_owned()),
        "fill" => {
            let (selector, value) = filled(value, source)?;
            LoginAct::Fill(vec![vec![selector]], value)
        }
        other => return Err(format!("there is no step {}: write {STEPS}", Quoted(other))),
    };
    Ok(LoginStep { number, name: name(kind, &act), wait_ms: USUAL_WAIT, act })
}

/// `fill = { selector = CSS, value = TEXT }`.
fn filled(value: &Value, source: &ValueSource<'_>) -> Result<(String, String), String> {
    let form = "write fill = { selector = \"CSS\", value = \"TEXT\" }";
    let table = value.as_table().ok_or(form)?;
    if let Some(other) = table.keys().find(|name| !["selector", "value"].contains(&name.as_str())) {
        return Err(format!("there is no setting {} of fill: {form}", Quoted(other)));
    }
    let text = |name: &str| table.get(name).and_then(Value::as_str).ok_or(form);
    Ok((text("selector")?.to_owned(), source.value(text("value")?)?))
}

/// What a step is called in messages: its kind and its first selector.
pub fn name(kind: &str, act: &LoginAct) -> String {
    let selectors: Option<&ElementSelectors> = match act {
        LoginAct::Fill(selectors, _)
        | LoginAct::Click(selectors)
        | LoginAct::DoubleClick(selectors)
        | LoginAct::Hover(selectors)
        | LoginAct::WaitFor(selectors) => Some(selectors),
        LoginAct::Open(_) | LoginAct::Press(_) | LoginAct::KeyDown(_) | LoginAct::KeyUp(_) => None,
    };
    let first = selectors.and_then(|selectors| selectors.first()).map(|path| path.join(" "));
    first.map_or(kind.to_owned(), |first| format!("{kind} {}", Quoted(&first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn check(text: &str) -> Result<Vec<LoginStep>, String> {
        let scope = Scope::of("http://app.test/x").unwrap();
        read(text, Path::new("/no/such/login.toml"), &scope).map(|script| script.steps)
    }

    #[test]
    fn the_short_form_has_a_step_in_each_line() {
        let steps = check(
            r##"
            steps = [
              { open = "/login?a=b" },
              { fill = { selector = "#user", value = "${env:PATH}" } },
              { click = "button" },
              { press = "Enter" },
              { wait-for = "#home" },
            ]
            "##,
        )
        .unwrap();
        let names: Vec<_> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(
            names,
            ["open", "fill \"#user\"", "click \"button\"", "press", "wait-for \"#home\""]
        );
        assert!(steps[0].act == LoginAct::Open("http://app.test/login?a=b".to_owned()));
        let path = std::env::var("PATH").unwrap();
        assert!(steps[1].act == LoginAct::Fill(vec![vec!["#user".to_owned()]], path));
    }

    #[test]
    fn a_mistake_is_named_without_the_values() {
        for (text, expected) in [
            ("steps = [", "neither a recording (JSON) nor TOML: line 1"),
            ("a = 1\n\nsteps = [{ open = \"/\" }", "nor TOML: line 3"),
            ("pass = \"whisper\"", "there is no setting \"pass\""),
            ("steps = []", "it has no step"),
            ("steps = [{ clik = \"#go\" }]", "step 1: there is no step \"clik\": write open, fill"),
            ("steps = [{ open = \"login\" }]", "step 1: it opens no web address"),
            ("steps = [{ open = 3 }]", "write a text after open"),
            ("steps = [{ open = \"/\", click = \"a\" }]", "step 1: write one of open"),
            ("steps = [{ fill = \"whisper\" }]", "write fill = { selector"),
            (
                "steps = [{ fill = { selector = \"#a\", text = \"whisper\" } }]",
                "there is no setting \"text\" of fill",
            ),
            (
                "steps = [{ fill = { selector = \"#a\", value = \"${env:NO_SUCH_NAME}\" } }]",
                "step 1: the environment has no variable NO_SUCH_NAME",
            ),
            (
                "steps = [{ fill = { selector = \"#a\", value = \"${file:secret}\" } }]",
                "cannot read /no/such/secret",
            ),
        ] {
            let error = check(text).err().unwrap();
            assert!(error.contains(expected) && !error.contains("whisper"), "{error}");
        }
    }
}
