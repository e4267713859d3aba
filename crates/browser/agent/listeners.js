// @ts-check
// What the page listens for, where its shadow roots are, and whether it observes or animates.
// The hooks record it as the page does it; what it means for a crawl is decided elsewhere.
import { shared } from "./context.js";
import {
  apply,
  beforeCalls,
  defineProperty,
  getOrInsert,
  getOwnPropertyDescriptor,
  native,
  ownNames,
  replace,
} from "./natives.js";
import { needFrames } from "./rendering.js";
import { observeChanges } from "./traffic.js";

// The events whose handlers (`onclick` and the like) count as listeners.
export const EVENTS = new Set(
  (
    "click dblclick contextmenu mousedown mouseup mouseover mouseout mouseenter mouseleave " +
    "mousemove pointerdown pointerup pointerover pointerenter pointerleave pointermove " +
    "pointercancel touchstart touchend focus focusin blur keydown keyup keypress input change " +
    "submit scroll dragstart drop dragover hashchange popstate"
  ).split(" "),
);
// Events that only come with a frame, beside those of animations.
const FRAMED = new Set([
  "scroll",
  "scrollend",
  "scrollsnapchange",
  "scrollsnapchanging",
  "contentvisibilityautostatechange",
  "fullscreenchange",
]);

// How many listeners of one target for one type are recorded.
const MOST_LISTENERS = 100;

/** @type {Hooked} */
export const hooked = shared.hooked ?? {
  targets: new WeakMap(),
  types: new Set(),
  roots: new Set(),
  shadows: new WeakMap(),
  hasShadows: false,
  observes: false,
  intersects: false,
  animates: false,
};
shared.hooked = hooked;

/**
 * Records a listener, once. `onRecorded` gets the function that forgets it again.
 * @param {EventTarget} target
 * @param {string} type
 * @param {unknown} listener
 * @param {boolean} capture
 * @param {(forget: () => void) => void} [onRecorded]
 */
function record(target, type, listener, capture, onRecorded) {
  if (!target || !listener) return;
  const types = getOrInsert(hooked.targets, target, () => new Map());
  /** @type {ListenerRecord[]} */
  const all = getOrInsert(types, type, () => []);
  // More listeners of one kind say nothing more, and each costs a comparison with all others.
  if (all.length >= MOST_LISTENERS) return;
  // Without methods of arrays: the page may have replaced them.
  for (let at = 0; at < all.length; at++) {
    if (all[at].listener === listener && all[at].capture === capture) return;
  }
  all[all.length] = { listener, capture };
  hooked.types.add(type);
  if (FRAMED.has(type)) needFrames();
  if (/** @type {Node} */ (target).nodeType !== 1) hooked.roots.add(target);
  onRecorded?.(() => forget(target, type, listener, capture));
}

/**
 * @param {EventTarget} target
 * @param {string} type
 * @param {unknown} listener
 * @param {boolean} capture
 */
function forget(target, type, listener, capture) {
  const types = hooked.targets.get(target);
  const all = types?.get(type);
  if (!types || !all) return;
  const rest = [];
  for (let at = 0; at < all.length; at++) {
    const one = all[at];
    if (one.listener !== listener || one.capture !== capture) rest[rest.length] = one;
  }
  if (rest.length) types.set(type, rest);
  else types.delete(type);
}

/**
 * The listeners of a target for a type.
 * @param {EventTarget} target
 * @param {string} type
 * @returns {ListenerRecord[]}
 */
export function listenersOf(target, type) {
  return hooked.targets.get(target)?.get(type) ?? [];
}

/**
 * The shadow root of an element, closed ones included.
 * @param {Element} element
 */
export function shadowOf(element) {
  return hooked.shadows.get(element) ?? element.shadowRoot;
}

(function hookListeners() {
  /** @param {any} options */
  const isCapture = (options) =>
    !!(typeof options === "object" && options !== null ? options.capture : options);
  replace(EventTarget.prototype, "addEventListener", (old) => {
    return function (type, listener, options) {
      const target = this ?? window;
      const capture = isCapture(options);
      // Pages add thousands of listeners, most of them without options: that must cost little.
      if (typeof options !== "object" || options === null) {
        record(target, String(type), listener, capture);
      } else if (!options.signal?.aborted) {
        record(target, String(type), listener, capture, (gone) => {
          if (options.once) apply(native.add, target, [type, gone, { once: true, capture }]);
          if (options.signal) apply(native.add, options.signal, ["abort", gone, { once: true }]);
        });
      }
      return apply(old, target, [type, listener, options]);
    };
  });
  beforeCalls(EventTarget.prototype, "removeEventListener", (self, args) => {
    forget(self ?? window, String(args[0]), args[1], isCapture(args[2]));
  });
  const owners = [HTMLElement.prototype, SVGElement.prototype, Document.prototype, window];
  for (const owner of owners) {
    for (const name of ownNames(owner)) {
      if (name.startsWith("on") && EVENTS.has(name.slice(2))) hookHandler(owner, name);
    }
  }
})();

/**
 * Records handlers that are set as properties, such as `element.onclick`.
 * @param {object} owner
 * @param {string} name
 */
function hookHandler(owner, name) {
  const type = name.slice(2);
  const descriptor = getOwnPropertyDescriptor(owner, name);
  const setter = descriptor?.set;
  if (!setter || !descriptor.configurable) return;
  /** @type {WeakMap<EventTarget, Function>} */
  const handlers = new WeakMap();
  defineProperty(owner, name, {
    ...descriptor,
    set(handler) {
      const target = this ?? window;
      const before = handlers.get(target);
      if (before) forget(target, type, before, false);
      if (typeof handler === "function") {
        handlers.set(target, handler);
        record(target, type, handler, false);
      }
      apply(setter, target, [handler]);
    },
  });
}

(function hookRendering() {
  replace(Element.prototype, "attachShadow", (old) => {
    return function (init) {
      const root = apply(old, this, [init]);
      hooked.hasShadows = true;
      hooked.shadows.set(this, root);
      observeChanges(root);
      return root;
    };
  });
  beforeCalls(Element.prototype, "animate", () => {
    hooked.animates = true;
  });
  /** @type {[Function, string][]} */
  const drawing = [
    [Document, "startViewTransition"],
    [Element, "requestFullscreen"],
    [HTMLImageElement, "decode"],
    [HTMLVideoElement, "requestVideoFrameCallback"],
    [PerformanceObserver, "observe"],
  ];
  for (const [{ prototype }, name] of drawing) beforeCalls(prototype, name, needFrames);
  const fonts = getOwnPropertyDescriptor(Document.prototype, "fonts");
  const getter = fonts?.get;
  if (getter) {
    defineProperty(Document.prototype, "fonts", {
      ...fonts,
      get() {
        needFrames();
        return apply(getter, this, []);
      },
    });
  }
  for (const observer of [native.Observer, ResizeObserver]) {
    beforeCalls(observer.prototype, "observe", () => {
      hooked.observes = true;
      needFrames();
      if (observer === native.Observer) hooked.intersects = true;
    });
  }
})();
