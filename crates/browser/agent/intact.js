// @ts-check
// Whether the built-in functions that the agent uses are the browser's own. Where the page has
// replaced one, the agent puts the browser's back while it works, and the page's while the page
// does. What it cannot put back, and what the hooks use in the middle of the page's own code, is
// reported: the page may have deceived the agent. See decision 38.
import { shared } from "./context.js";
import { apply, bare, defineProperty, getOwnPropertyDescriptor, native } from "./natives.js";

const { ownKeys, deleteProperty, getPrototypeOf } = Reflect;

// A page can replace more than a report holds.
const MOST_TAMPERED = 20;

// What the hooks use without having saved it. They do not trim, and old libraries replace that.
const IN_HOOKS =
  /^(URL|RegExp|String(?!\.trim$)|Math)\.|^window\.(URL|String|Number|Math|Error|Element)$/;
// Not used by the agent under these names, or saved by it; libraries replace some of them.
const SAVED = "Promise Date WebSocket EventSource Worker XMLHttpRequest Response MutationObserver";

const ELEMENTS =
  "Anchor Area Button Dialog FieldSet Form Frame IFrame Image Input Label Legend Map OptGroup " +
  "Option Select TextArea Link Script Style Details Media";
const INTERFACES =
  "Node Element Document DocumentFragment ShadowRoot CharacterData Attr NamedNodeMap NodeList " +
  "HTMLCollection HTMLOptionsCollection HTMLFormControlsCollection DOMTokenList HTMLElement " +
  "SVGElement Event MutationObserver MutationRecord Performance PerformanceEntry URL Animation " +
  "AnimationEffect StyleSheet CSSStyleSheet CSSRuleList CSSRule CSSStyleRule CSSGroupingRule " +
  "CSSStyleDeclaration StyleSheetList DOMRectReadOnly DOMRectList DOMImplementation " +
  "Array String RegExp Object Function Number";

// Comparing takes time: about a tenth of a microsecond each. What every line of the agent uses is
// compared after each step, all the rest when a page is loaded or looked at, and now and then.
/** @type {WatchedBuiltin[]} */
const vital = [];
/** @type {WatchedBuiltin[]} */
const methods = [];
/** @type {WatchedBuiltin[]} */
const accessors = [];

/** Remembers every built-in function whose name is anywhere in the agent, and the hooks. */
export function watchBuiltins() {
  const used = new Set(words.split(" "));
  /** @type {any} */
  const view = window;
  for (const name of INTERFACES.split(" ")) watchOwner(name, view[name]?.prototype, used);
  for (const kind of ELEMENTS.split(" ")) {
    watchOwner(`HTML${kind}Element`, view[`HTML${kind}Element`]?.prototype, used);
  }
  for (const name of ["Array", "Object", "Math", "Number", "String", "CSS"]) {
    watchOwner(name, view[name], used);
  }
  const iterators = [[].values(), new Map().keys(), new Set().values(), nothing()];
  for (const iterator of [...iterators, ""[Symbol.iterator]()]) {
    for (let owner = getPrototypeOf(iterator); owner; owner = getPrototypeOf(owner)) {
      if (owner !== Object.prototype) watchIterator(owner);
    }
  }
  const saved = new Set(SAVED.split(" "));
  for (const name of used) {
    if (/^[A-Z]|^getComputedStyle$/.test(name) && !saved.has(name)) watchKey("window", view, name);
  }
}

function* nothing() {}

/**
 * @param {object} owner
 */
function watchIterator(owner) {
  watchKey("iterator", owner, "next");
  watchKey("iterator", owner, Symbol.iterator);
}

/**
 * @param {string} name
 * @param {any} owner
 * @param {Set<string>} used
 */
function watchOwner(name, owner, used) {
  if (!owner) return;
  for (const key of ownKeys(owner)) {
    const isUsed = typeof key === "symbol" ? key !== Symbol.species : used.has(key);
    if (isUsed && key !== "constructor") watchKey(name, owner, key);
  }
}

/**
 * @param {string} name
 * @param {any} owner
 * @param {string | symbol} key
 */
function watchKey(name, owner, key) {
  const descriptor = getOwnPropertyDescriptor(owner, key);
  if (!descriptor?.configurable) return;
  // What a page adds to all objects is no part of it.
  bare(descriptor);
  const { value, get } = descriptor;
  const full = `${name}.${typeof key === "symbol" ? key.description : key}`;
  const inHooks = IN_HOOKS.test(full);
  const known = { name: full, owner, key, descriptor, inHooks, theirs: undefined };
  if (get) accessors.push(known);
  else if (/^(Array|iterator)\./.test(full)) vital.push(known);
  else if (typeof value === "function" || typeof value === "object") methods.push(known);
}

/** @type {BuiltinGuard} */
const guard = shared.guard ?? {
  realms: [],
  replaced: [],
  inside: false,
  checkedAt: 0,
  tampered: new Set(),
};
shared.guard = guard;
guard.realms[guard.realms.length] = { document, find };

/**
 * Finds what this document's page has replaced.
 * @param {boolean} thorough
 * @param {WatchedBuiltin[]} found
 */
function find(thorough, found) {
  findAmong(vital, found);
  if (!thorough) return;
  findAmong(methods, found);
  for (let at = 0; at < accessors.length; at++) {
    const known = accessors[at];
    const now = getOwnPropertyDescriptor(known.owner, known.key);
    if (now?.get !== known.descriptor.get) found[found.length] = known;
  }
}

/**
 * @param {WatchedBuiltin[]} all
 * @param {WatchedBuiltin[]} found
 */
function findAmong(all, found) {
  for (let at = 0; at < all.length; at++) {
    const known = all[at];
    if (known.owner[known.key] !== known.descriptor.value) found[found.length] = known;
  }
}

// How often everything is compared, in real milliseconds.
const OFTEN = 200;

/**
 * Compares the built-in functions with the browser's own, in all documents of the page.
 * @param {boolean} wholly
 */
export function checkBuiltins(wholly) {
  if (guard.inside) return;
  const now = native.clock();
  const thorough = wholly || now - guard.checkedAt > OFTEN;
  if (thorough) guard.checkedAt = now;
  const before = guard.replaced;
  /** @type {WatchedBuiltin[]} */
  const found = [];
  /** @type {BuiltinGuard["realms"]} */
  const realms = [];
  for (let at = 0; at < guard.realms.length; at++) {
    const realm = guard.realms[at];
    if (realm.document.defaultView === null) continue;
    realms[realms.length] = realm;
    realm.find(thorough || before.length > 0, found);
  }
  guard.realms = realms;
  guard.replaced = found;
  for (let at = 0; at < found.length; at++) if (found[at].inHooks) report(found[at].name);
}

/**
 * Compares again in the middle of the agent's work. True if the page has replaced more.
 * @param {boolean} [wholly]
 */
export function recheckBuiltins(wholly = false) {
  const before = guard.replaced.length;
  leaveAgent();
  checkBuiltins(wholly);
  enterAgent();
  return guard.replaced.length > before;
}

/**
 * @param {string} name
 */
function report(name) {
  if (guard.tampered.size < MOST_TAMPERED) guard.tampered.add(name);
}

/** The agent works from here on: it uses the browser's own functions. */
export function enterAgent() {
  if (guard.inside) return;
  guard.inside = true;
  for (let at = 0; at < guard.replaced.length; at++) {
    const known = guard.replaced[at];
    known.theirs = getOwnPropertyDescriptor(known.owner, known.key);
    if (known.theirs) bare(known.theirs);
    if (!defineProperty(known.owner, known.key, known.descriptor)) report(known.name);
  }
}

/** The page works from here on. */
export function leaveAgent() {
  if (!guard.inside) return;
  guard.inside = false;
  for (let at = guard.replaced.length - 1; at >= 0; at--) {
    const { owner, key, theirs } = guard.replaced[at];
    if (theirs) defineProperty(owner, key, theirs);
    else deleteProperty(owner, key);
  }
}

/**
 * Runs code of the agent.
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
export function asAgent(work) {
  if (guard.inside) return work();
  enterAgent();
  try {
    return work();
  } finally {
    leaveAgent();
  }
}

/**
 * Runs code of the page in the middle of the agent's.
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
export function asPage(work) {
  if (!guard.inside || guard.replaced.length === 0) return work();
  leaveAgent();
  try {
    return work();
  } finally {
    enterAgent();
  }
}

/**
 * Waits in the middle of the agent's work: meanwhile the page works.
 * @template T
 * @param {Promise<T>} waiting
 * @returns {Promise<T>}
 */
export function away(waiting) {
  return guard.inside && guard.replaced.length > 0 ? awayWhile(waiting) : waiting;
}

/**
 * @template T
 * @param {Promise<T>} waiting
 * @returns {Promise<T>}
 */
async function awayWhile(waiting) {
  leaveAgent();
  const result = await waiting;
  checkBuiltins(false);
  enterAgent();
  return result;
}

/**
 * Calls a function of the page; what it throws is reported as the browser itself would.
 * @param {Function} callback
 * @param {unknown} self
 * @param {unknown[]} args
 */
export function callPage(callback, self, args) {
  try {
    return asPage(() => apply(callback, self, args));
  } catch (error) {
    try {
      apply(native.report, window, [error]);
    } catch {
      // A window that is gone takes no reports.
    }
  }
}

/** Built-in functions that the page has replaced and that may have deceived the agent. */
export function tamperedBuiltins() {
  return [...guard.tampered];
}
