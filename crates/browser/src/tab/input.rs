//! The browser's own input: what a page takes for a real user.

use argiope_explore::page::Kind;
use serde_json::{Value, json};

use super::{ANSWER, PathStep, Point, Tab, TabError, TabPosition};

impl Tab {
    /// One step by the browser's input: aim, act, settle.
    pub(super) async fn run_trusted(&mut self, step: &PathStep) -> Result<TabPosition, TabError> {
        // Moves of the pointer wait for the next frame, or for what is done after them.
        if !self.settings.frames && step.kind == Kind::Hover {
            return Err(self.needs_frames());
        }
        let place = serde_json::to_string(&step.place)
            .map_err(|error| TabError::Confused(error.to_string()))?;
        let point: Option<Point> = self.ask(&format!("aim({place})"), 1).await?;
        let Some(Point { x, y }) = point else {
            return Ok(TabPosition { missing: true, ..self.settle().await? });
        };
        self.pointed = true;
        let mouse = |kind: &str, button: &str, count: u32| {
            (
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count}),
            )
        };
        let moved = mouse("mouseMoved", "none", 0);
        let clicked = |button, count| {
            [mouse("mousePressed", button, count), mouse("mouseReleased", button, count)]
        };
        let mut calls = vec![moved];
        match step.kind {
            Kind::DoubleClick => {
                calls.extend(clicked("left", 1));
                calls.extend(clicked("left", 2));
            }
            Kind::ContextMenu => calls.extend(clicked("right", 1)),
            Kind::Hover => {}
            Kind::Key => calls = keys(&step.argument),
            _ => calls.extend(clicked("left", 1)),
        }
        self.send_all(&calls).await?;
        let there = self.settle().await?;
        Ok(TabPosition { done: 1, ..there })
    }

    async fn send_all(&self, calls: &[(&str, Value)]) -> Result<(), TabError> {
        let connection = self.browser.connection();
        let session = Some(&self.opened.session);
        let replies: Vec<_> =
            calls.iter().map(|(method, params)| connection.call(session, method, params)).collect();
        for reply in replies {
            reply.within(ANSWER).await?;
        }
        Ok(())
    }

    /// The pointer leaves the window, so that the next page is not under it.
    pub(super) fn point_away(&self) {
        let away = json!({"type": "mouseMoved", "x": -10, "y": -10});
        drop(self.browser.connection().call(
            Some(&self.opened.session),
            "Input.dispatchMouseEvent",
            &away,
        ));
    }
}

fn keys(name: &str) -> Vec<(&'static str, Value)> {
    let code = match name {
        "Enter" => 13,
        "Escape" => 27,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        _ => 40,
    };
    ["keyDown", "keyUp"]
        .map(|kind| {
            let text = if name == "Enter" && kind == "keyDown" { "\r" } else { "" };
            let key =
                json!({"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code, "text": text});
            ("Input.dispatchKeyEvent", key)
        })
        .to_vec()
}
