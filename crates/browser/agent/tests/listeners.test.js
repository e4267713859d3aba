// @ts-check
import { shared } from "../context.js";
import { EVENTS, hooked, listenersOf, shadowOf } from "../listeners.js";
import { equal, show } from "./check.js";

const nothing = () => {};

export const cases = {
  "a listener is recorded once and forgotten when it is removed": () => {
    const button = show("<button>");
    button.addEventListener("click", nothing);
    button.addEventListener("click", nothing, false);
    equal(listenersOf(button, "click").length, 1);
    button.addEventListener("click", nothing, { capture: true });
    equal(listenersOf(button, "click").length, 2);
    button.removeEventListener("click", nothing);
    button.removeEventListener("click", nothing, true);
    equal(listenersOf(button, "click").length, 0);
    equal(hooked.types.has("click"), true);
  },
  "a listener for one event is forgotten after it": () => {
    const button = show("<button>");
    button.addEventListener("click", nothing, { once: true });
    equal(listenersOf(button, "click").length, 1);
    button.click();
    equal(listenersOf(button, "click").length, 0);
  },
  "a listener is forgotten with its signal": () => {
    const button = show("<button>");
    const controller = new AbortController();
    button.addEventListener("click", nothing, { signal: controller.signal });
    controller.abort();
    equal(listenersOf(button, "click").length, 0);
    button.addEventListener("click", nothing, { signal: controller.signal });
    equal(listenersOf(button, "click").length, 0);
  },
  "handlers set as properties replace each other": () => {
    const button = show("<button>");
    let clicks = 0;
    button.onclick = nothing;
    button.onclick = () => clicks++;
    equal(listenersOf(button, "click").length, 1);
    button.click();
    button.onclick = null;
    equal([clicks, listenersOf(button, "click").length], [1, 0]);
  },
  "listeners above the elements are kept apart": () => {
    window.addEventListener("keydown", nothing);
    document.addEventListener("click", nothing);
    show("<button>").addEventListener("click", nothing);
    equal([hooked.roots.has(window), hooked.roots.has(document)], [true, true]);
    equal(hooked.roots.has(document.body.children[0]), false);
  },
  "closed shadow roots are known": () => {
    const host = show("<div></div>");
    equal([shadowOf(host), hooked.hasShadows], [null, false]);
    const root = host.attachShadow({ mode: "closed" });
    equal([host.shadowRoot, shadowOf(host) === root, hooked.hasShadows], [null, true, true]);
  },
  "observers and animations are recorded": () => {
    const element = show("<div></div>");
    new ResizeObserver(nothing).observe(element);
    equal([hooked.observes, hooked.intersects], [true, false]);
    new IntersectionObserver(nothing).observe(element);
    element.animate([], 10);
    equal([hooked.intersects, hooked.animates], [true, true]);
  },
  "in a tab without frames scroll listeners and fonts need frames": () => {
    settings.frames = false;
    window.addEventListener("keydown", nothing);
    equal(shared.unframed, false);
    window.addEventListener("scroll", nothing);
    equal(shared.unframed, true);
    shared.unframed = false;
    equal([typeof document.fonts, shared.unframed], ["object", true]);
  },
  "the events whose handlers count include those of every kind of action": () => {
    for (const type of ["click", "dblclick", "mouseover", "keydown", "drop"]) {
      equal(EVENTS.has(type), true);
    }
  },
};
