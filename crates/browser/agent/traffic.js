// @ts-check
// What the page waits for. Requests to the application's own site hold the page, and so do
// scripts, style sheets and frames that were inserted. Sockets, streams and outside hosts do not.
import { shared } from "./context.js";
import { apply, beforeCalls, native, replace } from "./natives.js";

/** @type {Traffic} */
export const traffic = shared.traffic ?? {
  pending: new Map(),
  endless: new Set(settings.endless),
  next: 1,
  wake: null,
  activity: 0,
  workers: new Map(),
};
shared.traffic = traffic;

/**
 * Whether a request to an address holds the page.
 * @param {string} address
 */
export function isInside(address) {
  try {
    const url = new URL(address, document.baseURI);
    if (url.protocol === "blob:" || url.protocol === "data:") return true;
    const { site } = settings;
    const isOwn = url.hostname === site || url.hostname.endsWith(`.${site}`);
    return isOwn && !traffic.endless.has(withoutQuery(url));
  } catch {
    return false;
  }
}

/**
 * An address without what changes from request to request.
 * @param {URL} url
 */
function withoutQuery(url) {
  return url.origin + url.pathname;
}

/**
 * Holds the page until `release` gets the token; 0 if the address does not hold it.
 * @param {string} address
 */
function holdFor(address) {
  if (!isInside(address)) return 0;
  return holdAs(withoutQuery(new URL(address, document.baseURI)));
}

/**
 * @param {string} reason
 */
export function holdAs(reason) {
  const token = traffic.next++;
  traffic.pending.set(token, reason);
  return token;
}

/**
 * @param {number} token
 */
export function release(token) {
  if (traffic.pending.delete(token)) traffic.wake?.();
}

/**
 * Waits until something ends, but not longer than some milliseconds. The timer is cleared with
 * it: every timer that fires wakes the page's process.
 * @param {number} longest
 * @returns {Promise<void>}
 */
export function trafficChange(longest) {
  return new native.Promise((resolve) => {
    const timer = apply(native.timeout, window, [resolve, longest]);
    traffic.wake = () => {
      apply(native.clearTimeout, window, [timer]);
      resolve();
    };
  });
}

// Workers answer soon or not at all, so each message holds the page this many milliseconds.
const WORKER_ANSWER = 200;

export function areWorkersBusy() {
  for (const [worker, since] of traffic.workers) {
    if (native.clock() - since < WORKER_ANSWER) return true;
    traffic.workers.delete(worker);
  }
  return false;
}

/** The number of changes so far: a different number means that the page has changed. */
export function countChanges() {
  for (const observer of shared.observers) onMutations(observer.takeRecords());
  return traffic.activity;
}

/**
 * @param {MutationRecord[]} records
 */
function onMutations(records) {
  traffic.activity += records.length;
  for (const record of records) {
    for (const node of record.addedNodes) {
      if (node.nodeType === 1) onElementAdded(/** @type {Element} */ (node));
    }
  }
}

/**
 * Counts the changes of a document or a shadow root.
 * @param {Node} root
 */
export function observeChanges(root) {
  const observer = new MutationObserver(onMutations);
  const everything = { childList: true, subtree: true, attributes: true, characterData: true };
  observer.observe(root, everything);
  shared.observers.push(observer);
}

/**
 * @param {Element} element
 */
function onElementAdded(element) {
  awaitLoad(element);
  if (!element.firstElementChild) return;
  const loaded = "script[src],link[rel~=stylesheet],iframe";
  for (const inner of element.querySelectorAll(loaded)) awaitLoad(inner);
}

/** @type {WeakSet<Element>} */
const awaited = new WeakSet();

/**
 * Holds the page while an inserted script, style sheet or frame loads.
 * @param {Element} element
 */
function awaitLoad(element) {
  const address = loadAddress(element);
  if (address === null || awaited.has(element) || document.readyState === "loading") return;
  awaited.add(element);
  const token = holdFor(address);
  if (!token) return;
  const done = () => release(token);
  apply(native.add, element, ["load", done, { once: true }]);
  apply(native.add, element, ["error", done, { once: true }]);
}

/**
 * The address that an element loads once it is inserted.
 * @param {any} element
 * @returns {string | null}
 */
function loadAddress(element) {
  switch (element.localName) {
    case "script":
      return element.src && /^$|javascript|^module$/.test(element.type) ? element.src : null;
    case "link":
      return element.relList?.contains("stylesheet") && element.href ? element.href : null;
    case "iframe":
      return element.srcdoc ? location.href : element.src || null;
    default:
      return null;
  }
}

(function hookTraffic() {
  shared.observers ??= [];
  observeChanges(document);

  replace(window, "fetch", (old) => {
    return function (...args) {
      const request = args[0];
      const hasUrl = typeof request === "object" && request !== null && "url" in request;
      const token = holdFor(hasUrl ? request.url : String(request));
      return releaseAfter(apply(old, this, args), token);
    };
  });
  for (const name of ["json", "text", "arrayBuffer", "blob", "formData", "bytes"]) {
    replace(Response.prototype, name, (old) => {
      return function () {
        const token = holdFor(this.url || location.href);
        return releaseAfter(apply(old, this, []), token);
      };
    });
  }
  hookRequests();
  beforeCalls(MessagePort.prototype, "postMessage", () => {
    traffic.activity++;
  });
  beforeCalls(Worker.prototype, "postMessage", (worker) => {
    if (!traffic.workers.has(worker)) {
      const onAnswer = () => traffic.workers.delete(worker);
      apply(native.add, worker, ["message", onAnswer, { once: true }]);
    }
    traffic.workers.set(worker, native.clock());
  });
})();

/**
 * @param {Promise<unknown>} answer
 * @param {number} token
 */
function releaseAfter(answer, token) {
  const done = () => release(token);
  if (token) answer.then(done, done);
  return answer;
}

function hookRequests() {
  /** @type {WeakMap<XMLHttpRequest, string | null>} */
  const addresses = new WeakMap();
  beforeCalls(XMLHttpRequest.prototype, "open", (request, [, address, isAsynchronous]) => {
    addresses.set(request, isAsynchronous === false ? null : String(address));
  });
  replace(XMLHttpRequest.prototype, "send", (old) => {
    return function (...args) {
      const address = addresses.get(this);
      const token = address == null ? 0 : holdFor(address);
      if (token) apply(native.add, this, ["loadend", () => release(token), { once: true }]);
      try {
        return apply(old, this, args);
      } catch (error) {
        release(token);
        throw error;
      }
    };
  });
}
