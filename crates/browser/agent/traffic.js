// @ts-check
// What the page waits for. Requests to the application's own site hold the page, and so do
// scripts, style sheets and frames that were inserted. Outside hosts do not, nor do addresses whose
// requests were found to be endless. Sockets and event streams: see streams.js.
import { shared } from "./context.js";
import {
  apply,
  beforeCalls,
  construct,
  defineProperty,
  disguise,
  getOrInsert,
  native,
  replace,
} from "./natives.js";
import { handOverReady, inTurn, orderEvents } from "./ordering.js";
import { expectAnswer, onStreamMessage, streams } from "./streams.js";

/** @type {Traffic} */
export const traffic = shared.traffic ?? {
  pending: new Map(),
  spent: new Map(),
  endless: new Set(settings.endless),
  next: 1,
  requests: 0,
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
  return isOwn(address) && !isEndless(address);
}

/**
 * Whether an address belongs to the application's own site.
 * @param {string} address
 */
export function isOwn(address) {
  try {
    const { hostname, protocol } = new URL(address, document.baseURI);
    if (protocol === "blob:" || protocol === "data:") return true;
    const { site } = settings;
    return hostname === site || hostname.endsWith(`.${site}`);
  } catch {
    return false;
  }
}

/**
 * Whether requests to an address were found to be endless.
 * @param {string} address
 */
export function isEndless(address) {
  if (traffic.endless.size === 0) return false;
  try {
    return traffic.endless.has(withoutQuery(new URL(address, document.baseURI)));
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
 * Holds the page until `release` gets the token; 0 if the address does not hold it. A request to an
 * endless address is a stream: what it brings soon belongs to the step.
 * @param {string} address
 * @param {boolean} [ordered] whether later answers wait for this one: see ordering.js
 */
export function holdFor(address, ordered = false) {
  if (!isOwn(address)) return 0;
  if (isEndless(address)) return openPoll();
  traffic.requests++;
  const token = holdAs(withoutQuery(new URL(address, document.baseURI)));
  const request = traffic.pending.get(token);
  if (request) request.ordered = ordered;
  return token;
}

/** The tokens of endless requests are negative. */
function openPoll() {
  const token = -traffic.next++;
  const poll = { token };
  polls.set(token, poll);
  streams.open.add(poll);
  expectAnswer(poll);
  return token;
}

/** @type {Map<number, object>} */
const polls = new Map();

/**
 * @param {string} reason
 */
export function holdAs(reason) {
  const token = traffic.next++;
  traffic.pending.set(token, { reason, since: native.clock(), document });
  return token;
}

/**
 * @param {number} token
 */
export function release(token) {
  const poll = polls.get(token);
  if (poll) {
    polls.delete(token);
    onStreamMessage(poll);
    streams.open.delete(poll);
    traffic.activity++;
    traffic.wake?.();
  }
  const request = traffic.pending.get(token);
  if (!request) return;
  traffic.pending.delete(token);
  addTime(request);
  handOverReady();
  traffic.wake?.();
}

/**
 * @param {PendingRequest} request
 */
function addTime({ reason, since }) {
  const before = getOrInsert(traffic.spent, reason, () => 0);
  traffic.spent.set(reason, before + native.clock() - since);
}

/** Whether a request holds the page. Those of a frame that is gone never end, and hold nothing. */
export function isPending() {
  for (const [token, { document: page }] of traffic.pending) {
    if (page.defaultView === null) traffic.pending.delete(token);
  }
  return traffic.pending.size > 0;
}

// A page may make up addresses, and each is reported.
const MOST_ENDLESS = 100;
const LONGEST_ADDRESS = 1000;

/**
 * Learns that requests to an address do not end: they never hold a page again.
 * @param {string} address
 */
export function learnEndless(address) {
  if (traffic.endless.size >= MOST_ENDLESS || address.length > LONGEST_ADDRESS) return;
  if (/^https?:/.test(address)) traffic.endless.add(address);
}

/**
 * Nothing that is pending holds the page any longer. An address that was busy for at least half of
 * the wait is endless: a long poll, or a stream. The others are slow, and the wait was too short.
 * @param {number} waited
 */
export function giveUpPending(waited) {
  for (const request of traffic.pending.values()) addTime(request);
  for (const { reason } of traffic.pending.values()) {
    if ((traffic.spent.get(reason) ?? 0) >= waited / 2) learnEndless(reason);
  }
  traffic.pending.clear();
  handOverReady();
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
  const known = observers.get(root);
  const observer = known ?? new MutationObserver(onMutations);
  const everything = { childList: true, subtree: true, attributes: true, characterData: true };
  observer.observe(root, everything);
  if (known) return;
  observers.set(root, observer);
  shared.observers.push(observer);
}

/**
 * Nothing that was inserted into a document before it was written anew holds the page.
 * @param {Document} page
 */
export function forgetInserted(page) {
  for (const [token, { element }] of traffic.pending) {
    if (element?.ownerDocument === page) traffic.pending.delete(token);
  }
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
  const isParsed = document.readyState === "loading" && !shared.rewritten.has(document);
  if (address === null || awaited.has(element) || isParsed) return;
  awaited.add(element);
  const token = holdFor(address);
  if (!token) return;
  const request = traffic.pending.get(token);
  if (request) request.element = element;
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

/** @type {WeakMap<Node, MutationObserver>} */
const observers = new WeakMap();

(function hookTraffic() {
  shared.observers ??= [];
  shared.rewritten ??= new WeakSet();
  observeChanges(document);

  replace(window, "fetch", (old) => {
    return function (...args) {
      const request = args[0];
      const hasUrl = typeof request === "object" && request !== null && "url" in request;
      const token = holdFor(hasUrl ? request.url : String(request), true);
      return releaseAfter(apply(old, this, args), token);
    };
  });
  for (const name of ["json", "text", "arrayBuffer", "blob", "formData", "bytes"]) {
    replace(Response.prototype, name, (old) => {
      return function () {
        const token = holdFor(this.url || location.href, true);
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
 * Releases a request with its answer, which the page gets when it is its turn.
 * @param {Promise<unknown>} answer
 * @param {number} token
 * @returns {Promise<unknown>}
 */
export function releaseAfter(answer, token) {
  if (!token) return answer;
  return new native.Promise((resolve, reject) => {
    /** @type {(settle: (value: any) => void) => (value: unknown) => void} */
    const handing = (settle) => (value) =>
      inTurn(token, () => {
        settle(value);
        release(token);
      });
    apply(native.follow, answer, [handing(resolve), handing(reject)]);
  });
}

function hookRequests() {
  /** @type {WeakMap<XMLHttpRequest, OpenRequest>} */
  const requests = new WeakMap();
  const fresh = () => ({ address: /** @type {string | null} */ (null), token: 0, isInTurn: false });
  const original = XMLHttpRequest;
  // A request calls its listeners in the order in which they were added: the agent's is the first.
  /** @type {any} */
  const replacement = new Proxy(original, {
    construct(target, args, wanted) {
      const request = construct(target, args, wanted === replacement ? target : wanted);
      const state = fresh();
      requests.set(request, state);
      orderEvents(request, state);
      return request;
    },
  });
  const property = { value: replacement, writable: true, configurable: true };
  defineProperty(original.prototype, "constructor", property);
  defineProperty(window, "XMLHttpRequest", property);
  disguise(replacement, original);
  beforeCalls(original.prototype, "open", (request, args) => {
    const state = getOrInsert(requests, request, fresh);
    state.address = args[2] === false ? null : String(args[1]);
    state.token = 0;
    state.isInTurn = false;
  });
  replace(original.prototype, "send", (old) => {
    return function (...args) {
      const state = requests.get(this);
      const token = state?.address == null ? 0 : holdFor(state.address, true);
      if (state) state.token = token;
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
