//! The protocol's methods that argiope calls, [one type each](ProtocolCall), with its parameters
//! and what the browser answers. No other module spells a method. Knows nothing of how calls travel
//! (see [`crate::connection`]) or of what they are for.
//!
//! <https://chromedevtools.github.io/devtools-protocol/> describes every method.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::access::SavedCookie;
use crate::browser::{ContextId, TargetId};
use crate::connection::{CallError, SessionId};

pub(crate) mod events;

/// A method of the protocol with its parameters.
pub trait ProtocolCall: Serialize {
    /// The protocol's name of the method.
    const METHOD: &'static str;
    /// Whether its content or its answer has a secret: the log shows neither.
    const HAS_SECRET: bool = false;
    /// What argiope uses of the browser's answer.
    type Answer;
    /// Reads it from the answer's text.
    fn read(answer: Box<RawValue>) -> Result<Self::Answer, CallError>;
}

/// Declares calls: `Type = "method" -> Answer as field { parameters }`. The field is the one of
/// the answer that argiope uses; `()` only says that the call was performed. `secret` before the
/// method keeps the call out of the log.
macro_rules! protocol_calls {
    ($(
        $(#[$about:meta])*
        $call:ident $(<$life:lifetime>)? = $($secret:ident)? $method:literal -> $answer:ty
            $(as $field:ident)? {
            $($(#[$meaning:meta])* $name:ident: $kind:ty,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $call $(<$life>)? {
            $($(#[$meaning])* pub $name: $kind,)*
        }

        impl $(<$life>)? ProtocolCall for $call $(<$life>)? {
            const METHOD: &'static str = $method;
            const HAS_SECRET: bool = {
                let marks: &[&str] = &[$(stringify!($secret))?];
                !marks.is_empty()
            };
            type Answer = $answer;
            fn read(answer: Box<RawValue>) -> Result<Self::Answer, CallError> {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Answered {
                    $($field: $answer,)?
                }
                let Answered { $($field)? } = read_json(&answer)?;
                Ok(($($field)?))
            }
        }
    )*};
}

protocol_calls! {
    /// Asks for the browser's name and version, for example `HeadlessChrome/156.0.8078.79`.
    GetVersion = "Browser.getVersion" -> String as product {}

    /// Asks the browser to end.
    CloseBrowser = "Browser.close" -> () {}

    /// Asks for the events of targets that come, crash and go.
    SetDiscoverTargets<'a> = "Target.setDiscoverTargets" -> () {
        /// Whether to send them.
        discover: bool,
        /// Of which targets.
        filter: &'a [TargetFilter<'a>],
    }

    /// Creates a context.
    CreateBrowserContext<'a> = "Target.createBrowserContext" -> ContextId as browser_context_id {
        /// The context ends with the connection.
        dispose_on_detach: bool,
        /// The proxy through which it reaches the network.
        #[serde(skip_serializing_if = "Option::is_none")]
        proxy_server: Option<&'a str>,
        /// Which servers it reaches without the proxy.
        #[serde(skip_serializing_if = "Option::is_none")]
        proxy_bypass_list: Option<&'a str>,
    }

    /// Closes a context with all of its tabs.
    DisposeBrowserContext<'a> = "Target.disposeBrowserContext" -> () {
        /// Which one.
        browser_context_id: &'a ContextId,
    }

    /// Creates a tab.
    CreateTarget<'a> = "Target.createTarget" -> TargetId as target_id {
        /// Its first address.
        url: &'a str,
        /// Its context.
        browser_context_id: &'a ContextId,
        /// Its width in pixels.
        width: u32,
        /// Its height in pixels.
        height: u32,
        /// The browser makes frames only on request.
        enable_begin_frame_control: bool,
    }

    /// Attaches to a tab.
    AttachToTarget<'a> = "Target.attachToTarget" -> SessionId as session_id {
        /// Which one.
        target_id: &'a TargetId,
        /// Messages of the session carry its name instead of being wrapped.
        flatten: bool,
    }

    /// Attaches to what a tab starts in a process or a thread of its own, such as workers.
    SetAutoAttach<'a> = "Target.setAutoAttach" -> () {
        /// Whether to attach.
        auto_attach: bool,
        /// Each waits until it is told to run.
        wait_for_debugger_on_start: bool,
        /// Messages of the sessions carry their names instead of being wrapped.
        flatten: bool,
        /// To which targets; to all without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        filter: Option<&'a [TargetFilter<'a>]>,
    }

    /// Lets a target run that waits.
    RunIfWaiting = "Runtime.runIfWaitingForDebugger" -> () {}

    /// Asks for the events of a page.
    EnablePage = "Page.enable" -> () {}

    /// Loads an address. The answer says why that failed, for example `net::ERR_NAME_NOT_RESOLVED`.
    Navigate<'a> = "Page.navigate" -> Option<String> as error_text {
        /// Which one.
        url: &'a str,
    }

    /// Adds a script that runs first in every new document. The answer is its name.
    AddScript<'a> = "Page.addScriptToEvaluateOnNewDocument" -> String as identifier {
        /// Its text.
        source: &'a str,
    }

    /// Adds a script with values of a session.
    AddSecretScript<'a> = secret "Page.addScriptToEvaluateOnNewDocument"
        -> String as identifier {
        /// Its text.
        source: &'a str,
    }

    /// Removes such a script.
    RemoveScript<'a> = "Page.removeScriptToEvaluateOnNewDocument" -> () {
        /// Its name.
        identifier: &'a str,
    }

    /// Says what becomes of downloads.
    SetDownloadBehavior<'a> = "Page.setDownloadBehavior" -> () {
        /// For example `deny`.
        behavior: &'a str,
    }

    /// Takes a picture of what is in view. The answer is in base64.
    CaptureScreenshot<'a> = "Page.captureScreenshot" -> String as data {
        /// For example `png`.
        format: &'a str,
        /// A larger picture that costs less time.
        optimize_for_speed: bool,
    }

    /// Answers a dialog of the browser.
    HandleDialog = "Page.handleJavaScriptDialog" -> () {
        /// As with its OK button.
        accept: bool,
    }

    /// Ends the script that a page runs.
    TerminateExecution = "Runtime.terminateExecution" -> () {}

    /// Asks for the entries of a page's log.
    EnableLog = "Log.enable" -> () {}

    /// Lets a page believe that it has the focus.
    SetFocusEmulation = "Emulation.setFocusEmulationEnabled" -> () {
        /// Whether it does.
        enabled: bool,
    }

    /// Sets the size of the viewport.
    SetDeviceMetrics = "Emulation.setDeviceMetricsOverride" -> () {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
        /// Device pixels for each pixel.
        device_scale_factor: u32,
        /// As on a telephone.
        mobile: bool,
    }

    /// Removes the cookies of a context.
    ClearCookies<'a> = "Storage.clearCookies" -> () {
        /// Which one.
        browser_context_id: &'a ContextId,
    }

    /// Sets cookies of a context.
    SetCookies<'a> = secret "Storage.setCookies" -> () {
        /// Which ones.
        cookies: &'a [CookieParam<'a>],
        /// The context.
        browser_context_id: &'a ContextId,
    }

    /// Asks for the cookies of a context.
    GetCookies<'a> = secret "Storage.getCookies" -> Vec<SavedCookie> as cookies {
        /// Which one.
        browser_context_id: &'a ContextId,
    }

    /// Removes what an origin has stored.
    ClearOriginData<'a> = "Storage.clearDataForOrigin" -> () {
        /// Which one.
        origin: &'a str,
        /// The kinds of storage, with commas between them.
        storage_types: &'a str,
    }

    /// Holds requests until they are continued or failed.
    EnableFetch<'a> = "Fetch.enable" -> () {
        /// Which ones.
        patterns: &'a [RequestPattern<'a>],
        /// Asks what to answer when a held request needs a login.
        handle_auth_requests: bool,
    }

    /// Holds no requests any longer.
    DisableFetch = "Fetch.disable" -> () {}

    /// Answers a held request.
    FulfillRequest<'a> = "Fetch.fulfillRequest" -> () {
        /// Which one.
        request_id: &'a str,
        /// The status.
        response_code: u16,
        /// The headers.
        response_headers: &'a [HeaderEntry<'a>],
        /// The body, in base64.
        body: &'a str,
    }

    /// Answers an application that demands a login.
    ContinueWithAuth<'a> = secret "Fetch.continueWithAuth" -> () {
        /// The request that it is demanded for.
        request_id: &'a str,
        /// The answer.
        auth_challenge_response: AuthAnswer<'a>,
    }

    /// Lets a held request go on.
    ContinueRequest<'a> = "Fetch.continueRequest" -> () {
        /// Which one.
        request_id: &'a str,
    }

    /// Lets a held request go on with other headers.
    ContinueWithHeaders<'a> = secret "Fetch.continueRequest" -> () {
        /// Which one.
        request_id: &'a str,
        /// All of its headers.
        headers: &'a [HeaderEntry<'a>],
    }

    /// Refuses a held request.
    FailRequest<'a> = "Fetch.failRequest" -> () {
        /// Which one.
        request_id: &'a str,
        /// The error that the page gets.
        error_reason: &'a str,
    }

    /// Moves or presses the mouse.
    DispatchMouseEvent<'a> = "Input.dispatchMouseEvent" -> () {
        /// `mouseMoved`, `mousePressed` or `mouseReleased`.
        #[serde(rename = "type")]
        kind: &'a str,
        /// In pixels of the viewport.
        x: f64,
        /// In pixels of the viewport.
        y: f64,
        /// `none`, `left` or `right`.
        button: &'a str,
        /// 2 for the second press of a double click.
        click_count: u32,
    }

    /// Types a text where the focus is.
    InsertText<'a> = secret "Input.insertText" -> () {
        /// The text.
        text: &'a str,
    }

    /// Presses or releases a key.
    DispatchKeyEvent<'a> = "Input.dispatchKeyEvent" -> () {
        /// `keyDown` or `keyUp`.
        #[serde(rename = "type")]
        kind: &'a str,
        /// What the key means.
        key: &'a str,
        /// Which key it is.
        code: &'a str,
        /// Its number.
        windows_virtual_key_code: u32,
        /// The text that it types.
        text: &'a str,
    }
}

fn read_json<T: DeserializeOwned>(answer: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(answer.get()).map_err(|error| CallError::Malformed(error.to_string()))
}

/// Which targets a call is about.
#[derive(Debug, Serialize)]
pub struct TargetFilter<'a> {
    /// For example `page`.
    #[serde(rename = "type")]
    pub kind: &'a str,
}

/// Which requests are held.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPattern<'a> {
    /// Addresses, with `*` for any text.
    pub url_pattern: &'a str,
    /// For example `Document`; requests of all types without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<&'a str>,
    /// Before the request, or before its answer is read.
    pub request_stage: &'a str,
}

/// A header of a request or of an answer.
#[derive(Clone, Copy, Serialize)]
pub struct HeaderEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl std::fmt::Debug for HeaderEntry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A cookie to set.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CookieParam<'a> {
    name: &'a str,
    value: &'a str,
    domain: &'a str,
    path: &'a str,
    secure: bool,
    http_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_site: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<f64>,
}

impl<'a> CookieParam<'a> {
    /// Sets this cookie.
    pub fn of(cookie: &'a SavedCookie) -> Self {
        Self {
            name: &cookie.name,
            value: &cookie.value,
            domain: &cookie.domain,
            path: &cookie.path,
            secure: cookie.secure,
            http_only: cookie.http_only,
            same_site: cookie.same_site.as_deref(),
            // Without a time it ends with the session.
            expires: Some(cookie.expires).filter(|&time| time >= 0.0),
        }
    }
}

impl std::fmt::Debug for CookieParam<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.domain)
    }
}

/// What to answer an application that demands a login.
#[derive(Clone, Copy, Serialize)]
pub struct AuthAnswer<'a> {
    /// `ProvideCredentials` or `CancelAuth`.
    pub response: &'a str,
    /// The user name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<&'a str>,
    /// The password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<&'a str>,
}

impl std::fmt::Debug for AuthAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.response)
    }
}

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

impl ProtocolCall for Evaluate<'_> {
    const METHOD: &'static str = "Runtime.evaluate";
    type Answer = Evaluation;
    fn read(answer: Box<RawValue>) -> Result<Evaluation, CallError> {
        Ok(Evaluation(answer))
    }
}

/// How an evaluation ended. The value is read only when it is asked for: it can be large.
#[derive(Debug)]
pub struct Evaluation(Box<RawValue>);

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
        #[serde(bound(deserialize = "T: Deserialize<'de>"))]
        struct Remote<T> {
            #[serde(default, deserialize_with = "defined")]
            value: Option<T>,
        }
        /// A value of null is one, too.
        fn defined<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
            value: D,
        ) -> Result<Option<T>, D::Error> {
            T::deserialize(value).map(Some)
        }
        let evaluated: Evaluated<T> = read_json(&self.0)?;
        Ok(evaluated.result.value)
    }
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
        assert_eq!(two.exception(), Ok(None));
        let undefined = evaluation(&json!({"result": {"type": "undefined"}}));
        assert_eq!(undefined.value::<u32>(), Ok(None));
        let null = evaluation(&json!({"result": {"type": "object", "value": null}}));
        assert_eq!(null.value::<Option<u32>>(), Ok(Some(None)));
        let thrown = json!({
            "result": {"type": "object"},
            "exceptionDetails": {"text": "Uncaught", "exception": {"description": "Error: no"}},
        });
        assert_eq!(evaluation(&thrown).exception(), Ok(Some("Error: no".to_owned())));
    }
}
