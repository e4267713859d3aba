// @ts-check
import { shared } from "../context.js";
import { needFrames, paint, paintObserved } from "../rendering.js";
import { traffic } from "../traffic.js";
import { equal } from "./check.js";

export const cases = {
  "a tab that makes frames needs no other": () => {
    equal([needFrames(), shared.unframed], [false, false]);
  },
  "a tab without frames says that the page needs some, and wakes the wait": () => {
    settings.frames = false;
    let woken = 0;
    traffic.wake = () => {
      woken++;
    };
    equal([needFrames(), shared.unframed, woken], [true, true, 1]);
  },
  "painting waits for an animation frame": async () => {
    let frames = 0;
    requestAnimationFrame(() => {
      frames++;
    });
    await paint();
    equal(frames, 1);
  },
  "observers of the page are called before the next turn": async () => {
    let seen = 0;
    const observer = new IntersectionObserver(() => {
      seen++;
    });
    observer.observe(document.body);
    await paintObserved();
    await new Promise((resolve) => setTimeout(resolve, 0));
    equal(seen, 1);
  },
};
