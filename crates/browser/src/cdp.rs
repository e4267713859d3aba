//! The protocol's methods that argiope calls, one type each: its parameters serialise, its answer
//! is named in [the table](ProtocolCall). No other module spells a method. Knows nothing of how
//! calls travel (see [`crate::connection`]) or of what they are for.
//!
//! <https://chromedevtools.github.io/devtools-protocol/> describes every method.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::browser::{ContextId, TargetId};
use crate::connection::{CallError, SessionId};

pub(crate) mod events;

/// A method of the protocol with its parameters.
pub trait ProtocolCall: Serialize {
    /// The protocol's name of the method.
    const METHOD: &'static str;
    /// What the browser answers.
    type Answer: ProtocolAnswer;
}

/// What the browser answers to a call.
pub trait ProtocolAnswer: Sized {
    /// Reads it from the answer's text.
    fn read(answer: Box<RawValue>) -> Result<Self, CallError>;
}

/// An answer that only says that the call was performed.
impl ProtocolAnswer for () {
    fn read(_: Box<RawValue>) -> Result<Self, CallError> {
        Ok(())
    }
}

/// An answer as text.
impl ProtocolAnswer for Box<RawValue> {
    fn read(answer: Box<RawValue>) -> Result<Self, CallError> {
        Ok(answer)
    }
}

/// Connects each call with its method and its answer.
macro_rules! protocol_calls {
    ($($call:ident $(<$life:lifetime>)? = $method:literal -> $answer:ty;)*) => {
        $(impl $(<$life>)? ProtocolCall for $call $(<$life>)? {
            const METHOD: &'static str = $method;
            type Answer = $answer;
        })*
    };
}

protocol_calls! {
    GetVersion = "Browser.getVersion" -> BrowserVersion;
    CloseBrowser = "Browser.close" -> ();
    SetDiscoverTargets<'a> = "Target.setDiscoverTargets" -> ();
    CreateBrowserContext = "Target.createBrowserContext" -> CreatedContext;
    DisposeBrowserContext<'a> = "Target.disposeBrowserContext" -> ();
    CreateTarget<'a> = "Target.createTarget" -> CreatedTarget;
    AttachToTarget<'a> = "Target.attachToTarget" -> AttachedTarget;
    EnablePage = "Page.enable" -> ();
    Navigate<'a> = "Page.navigate" -> NavigationResult;
    AddScript<'a> = "Page.addScriptToEvaluateOnNewDocument" -> AddedScript;
    RemoveScript<'a> = "Page.removeScriptToEvaluateOnNewDocument" -> ();
    SetDownloadBehavior<'a> = "Page.setDownloadBehavior" -> ();
    CaptureScreenshot<'a> = "Page.captureScreenshot" -> Screenshot;
    HandleDialog = "Page.handleJavaScriptDialog" -> ();
    EnableRuntime = "Runtime.enable" -> ();
    Evaluate<'a> = "Runtime.evaluate" -> Evaluation;
    TerminateExecution = "Runtime.terminateExecution" -> ();
    EnableLog = "Log.enable" -> ();
    SetFocusEmulation = "Emulation.setFocusEmulationEnabled" -> ();
    SetDeviceMetrics = "Emulation.setDeviceMetricsOverride" -> ();
    ClearCookies<'a> = "Storage.clearCookies" -> ();
    ClearOriginData<'a> = "Storage.clearDataForOrigin" -> ();
    EnableFetch<'a> = "Fetch.enable" -> ();
    ContinueRequest<'a> = "Fetch.continueRequest" -> ();
    FailRequest<'a> = "Fetch.failRequest" -> ();
    DispatchMouseEvent<'a> = "Input.dispatchMouseEvent" -> ();
    DispatchKeyEvent<'a> = "Input.dispatchKeyEvent" -> ();
}

/// Answers that are read as JSON.
macro_rules! json_answers {
    ($($answer:ty),* $(,)?) => {
        $(impl ProtocolAnswer for $answer {
            fn read(answer: Box<RawValue>) -> Result<Self, CallError> {
                read_json(&answer)
            }
        })*
    };
}

json_answers![
    BrowserVersion,
    CreatedContext,
    CreatedTarget,
    AttachedTarget,
    NavigationResult,
    AddedScript,
    Screenshot,
];

fn read_json<T: DeserializeOwned>(answer: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(answer.get()).map_err(|error| CallError::Malformed(error.to_string()))
}

/// Asks for the browser's version.
#[derive(Debug, Serialize)]
pub struct GetVersion {}

/// The browser's version.
#[derive(Debug, Deserialize)]
pub struct BrowserVersion {
    /// Its name and version, for example `HeadlessChrome/156.0.8078.79`.
    pub product: String,
}

/// Asks the browser to end.
#[derive(Debug, Serialize)]
pub struct CloseBrowser {}

/// Asks for the events of targets that come, crash and go.
#[derive(Debug, Serialize)]
pub struct SetDiscoverTargets<'a> {
    /// Whether to send them.
    pub discover: bool,
    /// Of which targets.
    pub filter: &'a [TargetFilter<'a>],
}

/// Which targets a call is about.
#[derive(Debug, Serialize)]
pub struct TargetFilter<'a> {
    /// For example `page`.
    #[serde(rename = "type")]
    pub kind: &'a str,
}

/// Creates a context.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateBrowserContext {
    /// The context ends with the connection.
    pub dispose_on_detach: bool,
}

/// The context that was created.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedContext {
    /// Its name.
    pub browser_context_id: ContextId,
}

/// Closes a context with all of its tabs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisposeBrowserContext<'a> {
    /// Which one.
    pub browser_context_id: &'a ContextId,
}

/// Creates a tab.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTarget<'a> {
    /// Its first address.
    pub url: &'a str,
    /// Its context.
    pub browser_context_id: &'a ContextId,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// The browser makes frames only on request.
    pub enable_begin_frame_control: bool,
}

/// The tab that was created.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedTarget {
    /// Its name.
    pub target_id: TargetId,
}

/// Attaches to a tab.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachToTarget<'a> {
    /// Which one.
    pub target_id: &'a TargetId,
    /// Messages of the session carry its name instead of being wrapped.
    pub flatten: bool,
}

/// The session of a tab that was attached to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedTarget {
    /// Its name.
    pub session_id: SessionId,
}

/// Asks for the events of a page.
#[derive(Debug, Serialize)]
pub struct EnablePage {}

/// Loads an address.
#[derive(Debug, Serialize)]
pub struct Navigate<'a> {
    /// Which one.
    pub url: &'a str,
}

/// How a navigation began.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigationResult {
    /// Why it failed, for example `net::ERR_NAME_NOT_RESOLVED`.
    pub error_text: Option<String>,
}

/// Adds a script that runs first in every new document.
#[derive(Debug, Serialize)]
pub struct AddScript<'a> {
    /// Its text.
    pub source: &'a str,
}

/// The script that was added.
#[derive(Debug, Deserialize)]
pub struct AddedScript {
    /// Its name.
    pub identifier: String,
}

/// Removes such a script.
#[derive(Debug, Serialize)]
pub struct RemoveScript<'a> {
    /// Its name.
    pub identifier: &'a str,
}

/// Says what becomes of downloads.
#[derive(Debug, Serialize)]
pub struct SetDownloadBehavior<'a> {
    /// For example `deny`.
    pub behavior: &'a str,
}

/// Takes a picture of what is in view.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureScreenshot<'a> {
    /// For example `png`.
    pub format: &'a str,
    /// A larger picture that costs less time.
    pub optimize_for_speed: bool,
}

/// A picture.
#[derive(Debug, Deserialize)]
pub struct Screenshot {
    /// In base64.
    pub data: String,
}

/// Answers a dialog of the browser.
#[derive(Debug, Serialize)]
pub struct HandleDialog {
    /// As with its OK button.
    pub accept: bool,
}

/// Asks for the events of a page's scripts.
#[derive(Debug, Serialize)]
pub struct EnableRuntime {}

/// Evaluates an expression in a page.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate<'a> {
    /// What to evaluate.
    pub expression: &'a str,
    /// Answers when the promise that it gives is settled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub await_promise: bool,
    /// Answers with the value as JSON instead of a reference to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_by_value: bool,
    /// An exception is answered, but neither reported as an event nor a reason to pause.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

impl<'a> Evaluate<'a> {
    /// Evaluates, and answers before a promise is settled, without the value.
    pub fn new(expression: &'a str) -> Self {
        Self { expression, ..Self::default() }
    }

    /// Evaluates, waits for a promise, and answers with the value.
    pub fn value(expression: &'a str) -> Self {
        Self { expression, await_promise: true, return_by_value: true, silent: false }
    }
}

/// How an evaluation ended. The value is read only when it is asked for: it can be large.
#[derive(Debug)]
pub struct Evaluation(Box<RawValue>);

impl ProtocolAnswer for Evaluation {
    fn read(answer: Box<RawValue>) -> Result<Self, CallError> {
        Ok(Self(answer))
    }
}

impl Evaluation {
    /// The exception that the expression threw, as text.
    pub fn exception(&self) -> Result<Option<String>, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Thrown {
            exception_details: Option<Details>,
        }
        #[derive(Deserialize)]
        struct Details {
            text: String,
            exception: Option<Exception>,
        }
        #[derive(Deserialize)]
        struct Exception {
            description: Option<String>,
        }
        let thrown: Thrown = read_json(&self.0)?;
        Ok(thrown.exception_details.map(|details| {
            let described = details.exception.and_then(|exception| exception.description);
            described.unwrap_or(details.text)
        }))
    }

    /// The value; `None` if it is undefined.
    pub fn value<T: DeserializeOwned>(&self) -> Result<Option<T>, CallError> {
        #[derive(Deserialize)]
        struct Evaluated<T> {
            result: Remote<T>,
        }
        #[derive(Deserialize)]
        struct Remote<T> {
            value: Option<T>,
        }
        let evaluated: Evaluated<T> = read_json(&self.0)?;
        Ok(evaluated.result.value)
    }

    /// Whether the expression threw.
    pub fn has_thrown(&self) -> Result<bool, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Thrown {
            exception_details: Option<IgnoredAny>,
        }
        Ok(read_json::<Thrown>(&self.0)?.exception_details.is_some())
    }
}

/// Ends the script that a page runs.
#[derive(Debug, Serialize)]
pub struct TerminateExecution {}

/// Asks for the entries of a page's log.
#[derive(Debug, Serialize)]
pub struct EnableLog {}

/// Lets a page believe that it has the focus.
#[derive(Debug, Serialize)]
pub struct SetFocusEmulation {
    /// Whether it does.
    pub enabled: bool,
}

/// Sets the size of the viewport.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDeviceMetrics {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Device pixels for each pixel.
    pub device_scale_factor: u32,
    /// As on a telephone.
    pub mobile: bool,
}

/// Removes the cookies of a context.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearCookies<'a> {
    /// Which one.
    pub browser_context_id: &'a ContextId,
}

/// Removes what an origin has stored.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearOriginData<'a> {
    /// Which one.
    pub origin: &'a str,
    /// The kinds of storage, with commas between them.
    pub storage_types: &'a str,
}

/// Holds requests until they are continued or failed.
#[derive(Debug, Serialize)]
pub struct EnableFetch<'a> {
    /// Which ones.
    pub patterns: &'a [RequestPattern<'a>],
}

/// Which requests are held.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPattern<'a> {
    /// Addresses, with `*` for any text.
    pub url_pattern: &'a str,
    /// For example `Document`.
    pub resource_type: &'a str,
    /// Before the request, or before its answer is read.
    pub request_stage: &'a str,
}

/// Lets a held request go on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueRequest<'a> {
    /// Which one.
    pub request_id: &'a str,
}

/// Refuses a held request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailRequest<'a> {
    /// Which one.
    pub request_id: &'a str,
    /// The error that the page gets.
    pub error_reason: &'a str,
}

/// Moves or presses the mouse.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchMouseEvent<'a> {
    /// `mouseMoved`, `mousePressed` or `mouseReleased`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// In pixels of the viewport.
    pub x: f64,
    /// In pixels of the viewport.
    pub y: f64,
    /// `none`, `left` or `right`.
    pub button: &'a str,
    /// 2 for the second press of a double click.
    pub click_count: u32,
}

/// Presses or releases a key.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchKeyEvent<'a> {
    /// `keyDown` or `keyUp`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// What the key means.
    pub key: &'a str,
    /// Which key it is.
    pub code: &'a str,
    /// Its number.
    pub windows_virtual_key_code: u32,
    /// The text that it types.
    pub text: &'a str,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn evaluation(answer: &serde_json::Value) -> Evaluation {
        Evaluation(RawValue::from_string(answer.to_string()).unwrap())
    }

    #[test]
    fn parameters_are_spelled_as_the_protocol_spells_them() {
        let context = ContextId("C".to_owned());
        let target = CreateTarget {
            url: "about:blank",
            browser_context_id: &context,
            width: 1,
            height: 2,
            enable_begin_frame_control: true,
        };
        let expected = json!({
            "url": "about:blank", "browserContextId": "C", "width": 1, "height": 2,
            "enableBeginFrameControl": true,
        });
        assert_eq!(serde_json::to_value(target).unwrap(), expected);
        assert_eq!(serde_json::to_value(GetVersion {}).unwrap(), json!({}));
        let evaluate = serde_json::to_value(Evaluate::value("1")).unwrap();
        let expected = json!({"expression": "1", "awaitPromise": true, "returnByValue": true});
        assert_eq!(evaluate, expected);
    }

    #[test]
    fn an_evaluation_has_a_value_or_an_exception() {
        let two = evaluation(&json!({"result": {"type": "number", "value": 2}}));
        assert_eq!(two.value::<u32>(), Ok(Some(2)));
        assert_eq!((two.exception(), two.has_thrown()), (Ok(None), Ok(false)));
        let undefined = evaluation(&json!({"result": {"type": "undefined"}}));
        assert_eq!(undefined.value::<u32>(), Ok(None));
        let thrown = json!({
            "result": {"type": "object"},
            "exceptionDetails": {"text": "Uncaught", "exception": {"description": "Error: no"}},
        });
        let thrown = evaluation(&thrown);
        assert_eq!(thrown.exception(), Ok(Some("Error: no".to_owned())));
        assert_eq!(thrown.has_thrown(), Ok(true));
    }
}
