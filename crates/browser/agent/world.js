// @ts-check
// What the page wants of the world outside: dialogs, windows, downloads and other addresses. Each
// is answered or refused here, and noted.
import { isMain, shared } from "./context.js";
import { asAgent } from "./intact.js";
import { hooked } from "./listeners.js";
import { apply, beforeCalls, native, replace, wellFormed } from "./natives.js";
import { holdAs, release, traffic } from "./traffic.js";

shared.notes ??= [];

// A page can ask for more than a report holds.
const MOST_NOTES = 100;
const LONGEST_NOTE = 2000;

/**
 * @param {unknown[]} texts
 */
function note(...texts) {
  if (shared.notes.length >= MOST_NOTES) return;
  const noted = [];
  for (let at = 0; at < texts.length; at++) {
    noted[at] = wellFormed(apply(native.slice, String(texts[at]), [0, LONGEST_NOTE]));
  }
  shared.notes[shared.notes.length] = noted;
}

// How long an event that the browser has promised holds the page, in real milliseconds.
const PROMISED_EVENT = 300;

/**
 * Holds the page until an event that the browser has promised.
 * @param {EventTarget} target
 * @param {string} type
 */
function awaitEvent(target, type) {
  if (!hooked.types.has(type)) return;
  const token = holdAs(`event:${type}`);
  const done = () => release(token);
  apply(native.add, target, [type, done, { once: true }]);
  apply(native.timeout, window, [done, PROMISED_EVENT]);
}

/**
 * Whether a question asks for something that the crawl leaves alone. The answer cannot wait, so the
 * phrases of the rule (the crate `explore`) are here.
 * @param {string} question
 */
function asksForDanger(question) {
  const plain = question
    .toLowerCase()
    .replaceAll("ё", "е")
    .replace(/[^\p{L}\p{N}]+/gu, " ");
  const said = ` ${plain} `;
  const isSaid = (/** @type {string} */ phrase) => {
    // Some languages write no spaces.
    const isUnspaced = /[\u3040-\u30ff\u3400-\u9fff]/.test(phrase);
    return phrase !== "" && said.includes(isUnspaced ? phrase : ` ${phrase} `);
  };
  return settings.braked.split("|").some(isSaid) && !settings.allowed.split("|").some(isSaid);
}

(function hookDialogs() {
  replace(window, "alert", () => (message) => {
    note("dialog", "alert", message ?? "");
  });
  replace(window, "confirm", () => (message) => {
    const question = String(message ?? "");
    const isRefused = asksForDanger(question);
    note("dialog", isRefused ? "refused confirm" : "confirm", question);
    return !isRefused;
  });
  replace(window, "prompt", () => (message, preset) => {
    note("dialog", "prompt", message ?? "");
    return preset === undefined || preset === "" ? "argiope" : String(preset);
  });
  replace(window, "print", () => () => {
    note("dialog", "print", "");
  });
  replace(window, "open", (old) => (address, target, ...more) => {
    const name = String(target ?? "_blank");
    if (asAgent(() => !opensWindow(name))) return apply(old, window, [address, name, more[0]]);
    return asAgent(() => openHere(toAbsolute(address || "about:blank"))) ? window : null;
  });
})();

/**
 * Whether a target names neither this window nor a frame.
 * @param {string} target
 */
function opensWindow(target) {
  if (/^(|_self|_top|_parent)$/i.test(target)) return false;
  const frames = document.querySelectorAll("iframe[name],frame[name]");
  return ![...frames].some((frame) => frame.getAttribute("name") === target);
}

/**
 * Where a link or a form leads, if not to this window.
 * @param {any} element
 */
function targetOf(element) {
  /** @type {any} */
  const base = document.head?.querySelector("base[target]");
  return String(element.target || base?.target || "");
}

/**
 * Opens an address of the application in this tab instead of a new window; false if that is
 * refused and noted. Only an action opens windows, and only one: a browser too blocks the others.
 * @param {string} address
 */
function openHere(address) {
  return mayOpen(address) && replaceBy(address);
}

/**
 * Whether the action may open a window with this address; if not, that is noted.
 * @param {string} address
 */
function mayOpen(address) {
  const may = shared.mayOpen && /^https?:/.test(address) && isAllowed(address);
  if (may) shared.mayOpen = false;
  else note("window", address);
  return may;
}

/**
 * @param {string} address
 */
function replaceBy(address) {
  try {
    (window.top ?? window).location.assign(address);
    return true;
  } catch {
    note("window", address);
    stayOnPage();
    return false;
  }
}

// After this many milliseconds argiope has the answer that a link was followed. The page could be
// gone before if it were left at once.
const ANSWERED = 20;

/**
 * Follows a link that would open a new window, after a click that no script has prevented; false if
 * the link opens none.
 * @param {Element} element
 */
export function followWindow(element) {
  /** @type {HTMLAnchorElement | null} */
  const link = element.closest("a[href],area[href]");
  if (!link || link.hasAttribute("download") || !opensWindow(targetOf(link))) return false;
  const address = link.href;
  if (mayOpen(address)) {
    shared.linked = address;
    shared.leaving = true;
    traffic.wake?.();
    apply(native.timeout, window, [() => asAgent(() => replaceBy(address)), ANSWERED]);
  }
  return true;
}

/**
 * A form whose answer would open a new window opens it here. The browser reads the target as soon
 * as the event has passed, so the form is put back as it was.
 * @param {any} form
 * @param {any} button
 */
function retarget(form, button) {
  const element = button?.hasAttribute("formtarget") ? button : form;
  const name = element === form ? "target" : "formtarget";
  const target = element === form ? targetOf(form) : button.formTarget;
  const action = button?.hasAttribute("formaction") ? button.formAction : form.action;
  if (!opensWindow(target) || !isAllowed(action)) return;
  const before = element.getAttribute(name);
  element.setAttribute(name, "_self");
  const restore = () => {
    if (before === null) element.removeAttribute(name);
    else element.setAttribute(name, before);
  };
  apply(native.timeout, window, [restore, 0]);
}

/** Listens where the page has had its say. A document that is written anew removes listeners. */
export function listenToWindow() {
  apply(native.add, window, ["click", onClicked]);
  apply(native.add, window, ["submit", onSubmitted]);
}

/**
 * A click by the browser's own input; after its own, the agent follows the link itself.
 * @param {Event} event
 */
function onClicked(event) {
  if (!event.isTrusted || event.defaultPrevented || !(event.target instanceof Element)) return;
  const { target } = event;
  if (asAgent(() => followWindow(target))) event.preventDefault();
}

/**
 * @param {any} event
 */
function onSubmitted(event) {
  if (!event.defaultPrevented) asAgent(() => retarget(event.target, event.submitter));
}

(function hookNavigation() {
  // The browser goes through its history some time after the call.
  for (const name of ["back", "forward", "go"]) {
    beforeCalls(History.prototype, name, () => awaitEvent(window, "popstate"));
  }
  const onEvent = (/** @type {any} */ event) => asAgent(() => onNavigate(event));
  apply(native.add, window.navigation, ["navigate", onEvent]);
  beforeCalls(HTMLFormElement.prototype, "submit", (form) => asAgent(() => retarget(form, null)));
  listenToWindow();
})();

/**
 * Refreshes to an address are refused: argiope follows those that come soon, and no others happen.
 * @param {string} address
 */
export function refuseRefresh(address) {
  shared.refused = address;
}

/**
 * Whether the browser itself refreshes the page: neither a script nor an element is behind the
 * event. It would do so in the middle of any step.
 * @param {any} event
 */
function isRefresh(event) {
  if (event.sourceElement || event.userInitiated || event.formData) return false;
  if (event.navigationType === "traverse") return false;
  const isAnnounced = shared.refused === event.destination.url;
  if (!isAnnounced && !document.querySelector('meta[http-equiv="refresh" i]')) return false;
  // The listener itself, what it calls, and this function are the only frames.
  return (String(new Error().stack).match(/^\s+at /gm) ?? []).length <= 5;
}

/**
 * @param {any} event
 */
function onNavigate(event) {
  const address = event.destination.url;
  if (event.downloadRequest !== null && event.downloadRequest !== undefined) {
    note("download", address);
    event.preventDefault();
  } else if (event.destination.sameDocument) {
    note("route", address);
    if (event.hashChange) awaitEvent(window, "hashchange");
    if (event.navigationType === "traverse") awaitEvent(window, "popstate");
  } else if (isMain && isRefresh(event)) {
    event.preventDefault();
  } else if (!isAllowed(address)) {
    note("out-of-scope", address);
    event.preventDefault();
  } else if (!shared.released) {
    shared.leaving = true;
    traffic.wake?.();
    if (event.sourceElement?.closest?.("a[href],area[href]")) shared.linked = address;
    if (isMain && !settings.guarded && event.cancelable) holdNavigation(event);
  }
}

// Argiope must see where redirects lead before a document is left. Watching costs every request of
// the page, so it begins only when a page is left for the first time: that navigation is held.
/** @type {(() => void)[]} */
const heldNavigations = [];

export function holdsNavigation() {
  return heldNavigations.length > 0;
}

/**
 * @param {any} event
 */
function holdNavigation(event) {
  const { destination, navigationType, formData, sourceElement } = event;
  const { url } = destination;
  event.preventDefault();
  if (formData && sourceElement) heldNavigations.push(() => sendForm(sourceElement));
  else if (navigationType === "reload") heldNavigations.push(() => location.reload());
  else if (navigationType === "replace") heldNavigations.push(() => location.replace(url));
  else heldNavigations.push(() => location.assign(url));
}

/** Argiope watches navigations from now on: those that were held go on. */
export function releaseNavigations() {
  settings.guarded = true;
  shared.released = holdsNavigation();
  shared.leaving = shared.released;
  for (const navigate of heldNavigations.splice(0)) navigate();
}

/** The document that was being left stays: the answer was a download, or was refused. */
export function stayOnPage() {
  shared.leaving = false;
  shared.released = false;
}

/**
 * Sends a form that was checked and whose `submit` event the page has seen; what the button adds
 * goes along. The browser copies the fields at once, so the form is put back as it was.
 * @param {any} source
 */
function sendForm(source) {
  const form = source.form ?? source;
  const button = source === form ? null : source;
  const action = form.getAttribute("action");
  const target = form.getAttribute("target");
  const field = document.createElement("input");
  if (button?.name) {
    [field.type, field.name, field.value] = ["hidden", button.name, button.value];
    form.append(field);
  }
  if (button?.hasAttribute("formaction")) form.setAttribute("action", button.formAction);
  // The navigation was of this window.
  form.setAttribute("target", "_self");
  apply(native.submit, form, []);
  field.remove();
  if (target === null) form.removeAttribute("target");
  else form.setAttribute("target", target);
  if (action === null) form.removeAttribute("action");
  else form.setAttribute("action", action);
}

/**
 * @param {unknown} address
 */
function toAbsolute(address) {
  try {
    return new URL(String(address), document.baseURI).href;
  } catch {
    return String(address);
  }
}

/**
 * @param {string} address
 * @param {string[]} expressions
 */
function isAmong(address, expressions) {
  return expressions.some((expression) => new RegExp(expression).test(address));
}

/**
 * Whether the application's own pages are at an address.
 * @param {string} address
 */
export function isAllowed(address) {
  try {
    const url = new URL(address, document.baseURI);
    if (url.protocol === "about:" || url.protocol === "javascript:") return true;
    if (url.protocol === "blob:") return url.origin === settings.origin;
    url.hash = "";
    return isAmong(url.href, settings.included) && !isAmong(url.href, settings.excluded);
  } catch {
    return false;
  }
}
