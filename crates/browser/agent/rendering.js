// @ts-check
// Real frames of the browser: what a page waits for that only comes with a frame. A tab without
// frames says that the page needs some; another tab then takes its place.
import { shared } from "./context.js";
import { apply, native } from "./natives.js";
import { traffic } from "./traffic.js";

// A page that is not painted gets no frames; on a busy machine frames come late.
const LATE_FRAME = 2000;

/** Whether this tab makes no frames; the page is then given up here. */
export function needFrames() {
  if (settings.frames) return false;
  shared.unframed = true;
  traffic.wake?.();
  return true;
}

/** Waits for one real frame: animation events come with it. */
export async function paint() {
  if (needFrames()) return;
  return nextFrame();
}

/** @returns {Promise<void>} */
function nextFrame() {
  return new native.Promise((resolve) => {
    apply(native.frame, window, [resolve]);
    apply(native.timeout, window, [resolve, LATE_FRAME]);
  });
}

/**
 * Waits for one real frame and for its observers. The browser calls all observers together, some
 * time after the frame: once the agent's own is called, the others are called before the next turn.
 * @returns {Promise<void>}
 */
export async function paintObserved() {
  if (needFrames()) return;
  const page = document.documentElement;
  if (!page) return nextFrame();
  return new native.Promise((resolve) => {
    const observer = new native.Observer(() => {
      observer.disconnect();
      resolve();
    });
    apply(native.observe, observer, [page]);
    apply(native.timeout, window, [resolve, LATE_FRAME]);
  });
}
