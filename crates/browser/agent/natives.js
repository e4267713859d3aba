// @ts-check
// What the page had before any script ran. The agent calls these, so that a page that replaces
// built-in functions, by accident or on purpose, does not disturb it. Must not know the page.

export const native = {
  add: EventTarget.prototype.addEventListener,
  dispatch: EventTarget.prototype.dispatchEvent,
  frame: window.requestAnimationFrame,
  timeout: window.setTimeout,
  clearTimeout: window.clearTimeout,
  text: Function.prototype.toString,
  now: Date.now,
  json: JSON.stringify,
  submit: HTMLFormElement.prototype.submit,
  clock: performance.now.bind(performance),
  report: window.reportError,
  observe: IntersectionObserver.prototype.observe,
  charCode: String.prototype.charCodeAt,
  slice: String.prototype.slice,
  wellFormed: String.prototype.toWellFormed,
  follow: Promise.prototype.then,
  imul: Math.imul,
  stop: Event.prototype.stopImmediatePropagation,
  Event,
  ProgressEvent,
  Bytes: Uint8Array,
  query: Document.prototype.querySelector,
  Channel: MessageChannel,
  Observer: IntersectionObserver,
  Date,
  Promise,
};
export const { apply, construct, getOwnPropertyDescriptor, defineProperty } = Reflect;
export const ownNames = Object.getOwnPropertyNames;

const { setPrototypeOf } = Reflect;

/**
 * A descriptor without what a page has added to all objects.
 * @param {PropertyDescriptor} descriptor
 */
export function bare(descriptor) {
  setPrototypeOf(descriptor, null);
  return descriptor;
}

/**
 * A collection whose methods are its own: a page that replaces those of `Map.prototype` and the
 * like does not reach the agent's.
 * @template {{ new (...args: any[]): any, prototype: any }} C
 * @param {C} original
 * @returns {C}
 */
function harden(original) {
  const hardened = class extends original {};
  for (const key of Reflect.ownKeys(original.prototype)) {
    const descriptor = getOwnPropertyDescriptor(original.prototype, key);
    if (descriptor && key !== "constructor") defineProperty(hardened.prototype, key, descriptor);
  }
  setPrototypeOf(hardened.prototype, null);
  return hardened;
}

// All modules after this one share these names.
// biome-ignore-start lint/suspicious/noShadowRestrictedNames: that is the point
const Map = harden(window.Map);
const Set = harden(window.Set);
const WeakMap = harden(window.WeakMap);
const WeakSet = harden(window.WeakSet);
// biome-ignore-end lint/suspicious/noShadowRestrictedNames: that is the point
void [Map, Set, WeakSet];

// Libraries read the source of a function to see whether it is the browser's own.
/** @type {WeakMap<object, Function>} */
const disguised = new WeakMap();
Function.prototype.toString = {
  toString() {
    return apply(native.text, disguised.get(this) ?? this, []);
  },
}.toString;
disguise(Function.prototype.toString, native.text);

/**
 * Gives a replacement the source text of the original.
 * @param {object} replacement
 * @param {Function} original
 */
export function disguise(replacement, original) {
  disguised.set(replacement, original);
}

/**
 * Replaces a method so that the page sees a function of the same name, length and source.
 * @param {any} owner
 * @param {string} name
 * @param {(old: Function) => (this: any, ...args: any[]) => any} make
 */
export function replace(owner, name, make) {
  const old = owner[name];
  if (typeof old !== "function") return;
  const value = make(old);
  defineProperty(value, "name", { value: old.name, configurable: true });
  defineProperty(value, "length", { value: old.length, configurable: true });
  disguise(value, old);
  const descriptor = getOwnPropertyDescriptor(owner, name);
  const created = { value, writable: true, configurable: true };
  defineProperty(owner, name, descriptor ? { ...descriptor, value } : created);
}

/**
 * Replaces a method so that the agent hears of each call before the page's own method runs.
 * @param {any} owner
 * @param {string} name
 * @param {(self: any, args: any[]) => void} onCall
 */
export function beforeCalls(owner, name, onCall) {
  replace(owner, name, (old) => {
    return function (...args) {
      onCall(this, args);
      return apply(old, this, args);
    };
  });
}

/**
 * The value of a key, which is made where the map has none.
 * @template K, V
 * @param {{ get(key: K): V | undefined, set(key: K, value: V): unknown }} map
 * @param {K} key
 * @param {() => V} make
 * @returns {V}
 */
export function getOrInsert(map, key, make) {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const turns = new native.Channel();
/** @type {(() => void) | null} */
let resumeTurn = null;
turns.port1.onmessage = () => {
  const resume = resumeTurn;
  resumeTurn = null;
  resume?.();
};
const postTurn = turns.port2.postMessage.bind(turns.port2);

/**
 * One turn of the event loop. The browser throttles timers, but not messages.
 * @returns {Promise<void>}
 */
export function turn() {
  return new native.Promise((resolve) => {
    resumeTurn = resolve;
    postTurn(0);
  });
}

/**
 * Waits in real time, for what only real time brings.
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
export function sleep(milliseconds) {
  return new native.Promise((resolve) => apply(native.timeout, window, [resolve, milliseconds]));
}

/**
 * Half a surrogate pair is not text outside of a browser.
 * @param {string} text
 */
export function wellFormed(text) {
  return apply(native.wellFormed, text, []);
}
