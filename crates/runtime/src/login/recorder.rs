//! Recordings of Chrome's DevTools Recorder. A step that argiope cannot perform is refused by its
//! name, so that no login is half done. Expressions are never evaluated.

use argiope_browser::access::{ElementSelectors, LoginAct, LoginStep};
use argiope_explore::quoted::Quoted;
use serde_json::Value;

use super::steps::{USUAL_WAIT, ValueSource, name};

/// The longest time that a step may wait, in milliseconds.
const LONGEST_WAIT: u64 = 120_000;

/// The steps of a recording.
pub fn read(text: &str, source: &ValueSource<'_>) -> Result<Vec<LoginStep>, String> {
    let recording: Value = serde_json::from_str(text).map_err(|error| {
        format!("it is not JSON: line {}, column {}", error.line(), error.column())
    })?;
    let steps = recording.get("steps").and_then(Value::as_array);
    let steps =
        steps.ok_or("it is not a recording of Chrome's Recorder: it has no list `steps`")?;
    let wait = wait_of(&recording).unwrap_or(USUAL_WAIT);
    let mut read = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let kind = step.get("type").and_then(Value::as_str).unwrap_or_default();
        let failed = |why: String| format!("step {} ({}): {why}", at + 1, Quoted(kind));
        if let Some(act) = act_of(kind, step, source).map_err(failed)? {
            let wait_ms = wait_of(step).unwrap_or(wait);
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            read.push(LoginStep { number, name: name(kind, &act), wait_ms, act });
        }
    }
    Ok(read)
}

/// The time that a step or a recording gives to each step.
fn wait_of(value: &Value) -> Option<u32> {
    let wait = value.get("timeout").and_then(Value::as_u64)?;
    u32::try_from(wait.clamp(100, LONGEST_WAIT)).ok()
}

/// What a step does; `None` if it does nothing that matters to a login.
fn act_of(kind: &str, step: &Value, source: &ValueSource<'_>) -> Result<Option<LoginAct>, String> {
    let text = |name: &str| step.get(name).and_then(Value::as_str);
    if text("target").is_some_and(|target| target != "main") {
        return Err("it is in another window, which is not supported".to_owned());
    }
    if step.get("frame").and_then(Value::as_array).is_some_and(|frame| !frame.is_empty()) {
        return Err("it is in a frame, which is not supported".to_owned());
    }
    let key = || text("key").map(str::to_owned).ok_or("it names no key".to_owned());
    Ok(Some(match kind {
        // Every tab has the same viewport, and elements are scrolled into view.
        "setViewport" | "scroll" => return Ok(None),
        "navigate" => LoginAct::Open(source.address(text("url").ok_or("it has no url")?)?),
        "click" if text("button").is_some_and(|button| button == "secondary") => {
            return Err("it uses the right button, which is not supported".to_owned());
        }
        "click" => LoginAct::Click(selectors_of(step)?),
        "doubleClick" => LoginAct::DoubleClick(selectors_of(step)?),
        "hover" => LoginAct::Hover(selectors_of(step)?),
        "change" => {
            let value = source.value(text("value").ok_or("it has no value")?)?;
            LoginAct::Fill(selectors_of(step)?, value)
        }
        "keyDown" => LoginAct::KeyDown(key()?),
        "keyUp" => LoginAct::KeyUp(key()?),
        "waitForElement" => wait_for(step)?,
        "waitForExpression" => {
            return Err("argiope evaluates no expressions: use waitForElement".to_owned());
        }
        "" => return Err("it has no type".to_owned()),
        _ => return Err("argiope knows no such step: leave it out of the recording".to_owned()),
    }))
}

fn wait_for(step: &Value) -> Result<LoginAct, String> {
    for (name, usual) in [("operator", ">="), ("count", "1"), ("visible", "true")] {
        let written =
            step.get(name).map(|value| value.as_str().map_or(value.to_string(), Into::into));
        let is_usual =
            |written: &String| written == usual || (name == "operator" && written == "==");
        if written.as_ref().is_some_and(|written| !is_usual(written)) {
            return Err(format!("its {name} is not supported: it waits for one element"));
        }
    }
    Ok(LoginAct::WaitFor(selectors_of(step)?))
}

/// The selectors of a step: alternatives, each a text or a list of texts.
fn selectors_of(step: &Value) -> Result<ElementSelectors, String> {
    let path = |value: &Value| match value {
        Value::String(selector) => Some(vec![selector.clone()]),
        Value::Array(inside) if !inside.is_empty() => {
            inside.iter().map(|one| one.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    let all = step.get("selectors").and_then(Value::as_array).filter(|all| !all.is_empty());
    let all = all.and_then(|all| all.iter().map(path).collect::<Option<ElementSelectors>>());
    let mut all = all.ok_or("it has no selectors")?;
    // Ids and attributes are exact; names are compared as this program computes them.
    all.sort_by_key(|path| {
        path.iter().any(|one| one.starts_with("aria/") || one.starts_with("text/"))
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::Scope;

    fn check(steps: &str) -> Result<Vec<LoginStep>, String> {
        let text = format!(r#"{{"title":"login","timeout":700,"steps":[{steps}]}}"#);
        let scope = Scope::of("http://app.test/").unwrap();
        super::super::steps::read(&text, Path::new("login.json"), &scope).map(|it| it.steps)
    }

    #[test]
    fn a_recording_becomes_steps() {
        let steps = check(
            r##"{"type":"setViewport","width":1,"height":2},
            {"type":"navigate","url":"http://app.test/login","assertedEvents":[]},
            {"type":"click","target":"main","selectors":[["aria/User"],["#user"]],"offsetX":3},
            {"type":"change","value":"ada","selectors":[["#user"]],"timeout":3},
            {"type":"keyDown","key":"Enter","target":"main"},{"type":"keyUp","key":"Enter"},
            {"type":"waitForElement","selectors":["#home"],"visible":true,"count":1}"##,
        )
        .unwrap();
        let names: Vec<_> = steps.iter().map(|step| step.name.as_str()).collect();
        let expected = [
            "navigate",
            "click \"#user\"",
            "change \"#user\"",
            "keyDown",
            "keyUp",
            "waitForElement \"#home\"",
        ];
        assert_eq!(names, expected);
        assert_eq!((steps[0].wait_ms, steps[2].wait_ms), (700, 100));
        assert_eq!((steps[0].number, steps[5].number), (2, 7), "as in the file");
    }

    #[test]
    fn a_step_that_cannot_be_performed_is_named() {
        for (step, expected) in [
            (r#"{"type":"customStep"}"#, "step 1 (\"customStep\"): argiope knows no such step"),
            (r#"{"type":"waitForExpression","expression":"whisper"}"#, "evaluates no expressions"),
            (r#"{"type":"click","frame":[0],"selectors":["a"]}"#, "in a frame"),
            (r#"{"type":"click","target":"http://b/","selectors":["a"]}"#, "in another window"),
            (r#"{"type":"click","button":"secondary","selectors":["a"]}"#, "the right button"),
            (r#"{"type":"click","selectors":[]}"#, "it has no selectors"),
            (r#"{"type":"change","selectors":["a"]}"#, "it has no value"),
            (r#"{"type":"navigate","url":"javascript:whisper"}"#, "it opens no web address"),
            (r#"{"type":"waitForElement","selectors":["a"],"count":2}"#, "its count"),
            (r#"{"type":"keyDown"}"#, "it names no key"),
            (r#"{}"#, "it has no type"),
        ] {
            let error = check(step).err().unwrap();
            assert!(error.contains(expected) && !error.contains("whisper"), "{error}");
        }
        let scope = Scope::of("http://app.test/").unwrap();
        for (text, expected) in [("{", "it is not JSON: line 1"), ("{}", "has no list `steps`")] {
            let error = super::super::steps::read(text, Path::new(""), &scope).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
