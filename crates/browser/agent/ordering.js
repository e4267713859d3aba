// @ts-check
// The order of answers. A page gets the answers to its requests in the order of the requests, so
// that the network does not decide which of two answers has the last word. An answer waits for an
// earlier one only for a while, and never again for an address that was late.
import { shared } from "./context.js";
import { apply, native } from "./natives.js";

// How long an answer waits for earlier ones, in real milliseconds. A page that waits for all of
// its answers settles no later for it.
const LONGEST_WAIT = 1000;

/** @type {AnswerOrder} */
const order = shared.order ?? { waiting: new Map(), late: new Set() };
shared.order = order;

/**
 * Whether an earlier request is still without an answer.
 * @param {number} token
 */
function isOvertaking(token) {
  if (!shared.traffic.pending.get(token)?.ordered) return false;
  let isAwaited = false;
  // Called in the page's own code: `forEach` is the agent's own, iterators are not.
  shared.traffic.pending.forEach(({ reason, ordered }, earlier) => {
    if (earlier < token && ordered && !order.late.has(reason)) isAwaited = true;
  });
  return isAwaited;
}

/**
 * Hands an answer over once no earlier one is awaited.
 * @param {number} token
 * @param {() => void} handOver
 */
export function inTurn(token, handOver) {
  if (!isOvertaking(token)) {
    handOver();
    return;
  }
  order.waiting.set(token, handOver);
  apply(native.timeout, window, [() => giveWay(token), LONGEST_WAIT]);
}

/**
 * An answer has waited long enough: what it waited for is late.
 * @param {number} token
 */
function giveWay(token) {
  if (!order.waiting.has(token)) return;
  shared.traffic.pending.forEach(({ reason, ordered }, earlier) => {
    if (earlier < token && ordered && !order.waiting.has(earlier)) order.late.add(reason);
  });
  handOverReady();
}

/** A request has ended, or is not awaited any longer: answers behind it may be handed over. */
export function handOverReady() {
  while (order.waiting.size > 0) {
    // Tokens grow, but answers do not come in their order.
    let first = Infinity;
    order.waiting.forEach((_, token) => {
      if (token < first) first = token;
    });
    const handOver = order.waiting.get(first);
    if (!handOver || isOvertaking(first)) return;
    order.waiting.delete(first);
    handOver();
  }
}

const ENDS = ["readystatechange", "load", "error", "timeout", "loadend"];

/**
 * Holds back the last events of a new request until it is its turn. The agent's listener is the
 * first one, so that no listener of the page has heard of what is held back.
 * @param {XMLHttpRequest} request
 * @param {OpenRequest} state
 */
export function orderEvents(request, state) {
  /** @type {Event[]} */
  let held = [];
  const handOver = () => {
    const events = held;
    held = [];
    state.isInTurn = true;
    for (let at = 0; at < events.length; at++) sendAgain(request, events[at]);
  };
  /** @param {Event} event */
  const onEnd = (event) => {
    if (state.token <= 0 || state.isInTurn || request.readyState !== 4) return;
    if (held.length === 0) {
      state.isInTurn = !isOvertaking(state.token);
      if (state.isInTurn) return;
      inTurn(state.token, handOver);
    }
    apply(native.stop, event, []);
    held[held.length] = event;
  };
  for (let at = 0; at < ENDS.length; at++) {
    apply(native.add, request, [ENDS[at], onEnd]);
  }
}

/**
 * @param {XMLHttpRequest} request
 * @param {Event} event
 */
function sendAgain(request, event) {
  const { lengthComputable, loaded, total } = /** @type {ProgressEvent} */ (event);
  const copy =
    event.type === "readystatechange"
      ? new native.Event(event.type)
      : new native.ProgressEvent(event.type, { lengthComputable, loaded, total });
  apply(native.dispatch, request, [copy]);
}
