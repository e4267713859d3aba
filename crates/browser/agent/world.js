// @ts-check
// What the page wants of the world outside: dialogs, windows, downloads and other addresses. Each
// is answered or refused here, and noted.
import { isMain, isRoot, shared } from "./context.js";
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
export function note(...texts) {
  if (shared.notes.length >= MOST_NOTES) return;
  shared.notes.push(texts.map((text) => wellFormed(String(text).slice(0, LONGEST_NOTE))));
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

(function hookDialogs() {
  replace(window, "alert", () => (message) => {
    note("dialog", "alert", message ?? "");
  });
  replace(window, "confirm", () => (message) => {
    note("dialog", "confirm", message ?? "");
    return true;
  });
  replace(window, "prompt", () => (message, preset) => {
    note("dialog", "prompt", message ?? "");
    return preset === undefined || preset === "" ? "argiope" : String(preset);
  });
  replace(window, "print", () => () => {
    note("dialog", "print", "");
  });
  replace(window, "open", () => (address) => {
    note("window", toAbsolute(address ?? "about:blank"));
    return null;
  });
})();

(function hookNavigation() {
  // The browser goes through its history some time after the call.
  for (const name of ["back", "forward", "go"]) {
    beforeCalls(History.prototype, name, () => awaitEvent(window, "popstate"));
  }
  apply(native.add, window.navigation, ["navigate", onNavigate]);
})();

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
  } else if (!isAllowed(address)) {
    note("out-of-scope", address);
    event.preventDefault();
  } else if (!shared.released) {
    shared.leaving = true;
    traffic.wake?.();
    if (event.sourceElement?.closest?.("a[href],area[href]")) shared.linked = address;
    if (isRoot) note("route", address);
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
  const field = document.createElement("input");
  if (button?.name) {
    [field.type, field.name, field.value] = ["hidden", button.name, button.value];
    form.append(field);
  }
  if (button?.hasAttribute("formaction")) form.setAttribute("action", button.formAction);
  apply(native.submit, form, []);
  field.remove();
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
 * Whether the application's own pages are at an address.
 * @param {string} address
 */
function isAllowed(address) {
  try {
    const { origin, protocol } = new URL(address, document.baseURI);
    return origin === settings.origin || protocol === "about:" || protocol === "javascript:";
  } catch {
    return false;
  }
}
