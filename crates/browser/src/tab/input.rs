//! The browser's own input, which a page cannot tell from a user's.

use argiope_explore::page::Kind;

use super::{ANSWER, PathStep, Point, Tab, TabError, TabPosition};
use crate::cdp::{DispatchKeyEvent, DispatchMouseEvent};
use crate::connection::PendingReply;

impl Tab {
    /// Performs one step by the browser's input: aim, act, settle.
    pub(super) async fn run_trusted(&mut self, step: &PathStep) -> Result<TabPosition, TabError> {
        // A move of the pointer has no effect before the next frame or the next press.
        if !self.settings.frames && step.kind == Kind::Hover {
            return Err(self.needs_frames());
        }
        let [kind, place] = [serde_json::to_string(&step.kind), serde_json::to_string(&step.place)]
            .map(|text| text.map_err(|error| TabError::Confused(error.to_string())));
        let point: Option<Point> = self.ask(&format!("aim({},{})", kind?, place?), 1).await?;
        let Some(point) = point else {
            return Ok(TabPosition { missing: true, ..self.settle().await? });
        };
        self.pointed = true;
        if step.kind == Kind::Key {
            self.press_key(&step.argument).await?;
        } else {
            self.use_mouse(step.kind, point).await?;
        }
        let there = self.settle().await?;
        Ok(TabPosition { done: 1, ..there })
    }

    pub(super) async fn use_mouse(
        &self,
        kind: Kind,
        Point { x, y }: Point,
    ) -> Result<(), TabError> {
        let mouse = |kind, button, click_count| {
            self.call(&DispatchMouseEvent { kind, x, y, button, click_count })
        };
        let click = |button, count| {
            [mouse("mousePressed", button, count), mouse("mouseReleased", button, count)]
        };
        let mut replies = vec![mouse("mouseMoved", "none", 0)];
        match kind {
            Kind::DoubleClick => {
                replies.extend(click("left", 1));
                replies.extend(click("left", 2));
            }
            Kind::ContextMenu => replies.extend(click("right", 1)),
            Kind::Hover => {}
            _ => replies.extend(click("left", 1)),
        }
        for reply in replies {
            reply.within(ANSWER).await?;
        }
        Ok(())
    }

    /// Presses and releases a key.
    pub(super) async fn press_key(&self, key: &str) -> Result<(), TabError> {
        let replies = ["keyDown", "keyUp"].map(|kind| self.key_event(kind, key));
        for reply in replies {
            reply.within(ANSWER).await?;
        }
        Ok(())
    }

    /// Presses or releases a key.
    pub(super) async fn send_key(&self, kind: &str, key: &str) -> Result<(), TabError> {
        Ok(self.key_event(kind, key).within(ANSWER).await?)
    }

    fn key_event(&self, kind: &str, key: &str) -> PendingReply<()> {
        let windows_virtual_key_code = match key {
            "Backspace" => 8,
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            " " => 32,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let is_character = key.chars().count() == 1;
        let text = match key {
            "Enter" => "\r",
            _ if is_character => key,
            _ => "",
        };
        let text = if kind == "keyDown" { text } else { "" };
        let code = if is_character { "" } else { key };
        self.call(&DispatchKeyEvent { kind, key, code, windows_virtual_key_code, text })
    }

    /// Moves the pointer out of the window, so that it is not on the next page.
    pub(super) fn point_away(&self) {
        let (kind, button) = ("mouseMoved", "none");
        let away = DispatchMouseEvent { kind, x: -10.0, y: -10.0, button, click_count: 0 };
        drop(self.call(&away));
    }
}
