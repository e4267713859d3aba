// @ts-check
// What sockets, event streams and long polls bring soon after they were opened or used: it belongs
// to the step that caused it. They never hold the page otherwise. Must not know what a stream is.
import { shared } from "./context.js";
import { native } from "./natives.js";

// How long an answer holds the page that a stream may bring, in real milliseconds: before the first
// message, after each message, and altogether in one step.
const ANSWER = 200;
const QUIET = 50;
const LONGEST = 1000;

/** @type {Streams} */
export const streams = shared.streams ?? { open: new Set(), due: new Map(), requests: 0 };
shared.streams = streams;

/**
 * A stream may answer soon.
 * @param {object} stream
 */
export function expectAnswer(stream) {
  const now = native.clock();
  const longest = streams.due.get(stream)?.longest ?? now + LONGEST;
  streams.due.set(stream, { until: Math.min(now + ANSWER, longest), longest });
}

/**
 * A stream has brought something. More may follow at once.
 * @param {object} stream
 */
export function onStreamMessage(stream) {
  const due = streams.due.get(stream);
  if (due) due.until = Math.min(native.clock() + QUIET, due.longest);
}

/**
 * @param {object} stream
 */
export function closeStream(stream) {
  streams.open.delete(stream);
  streams.due.delete(stream);
}

/**
 * How long the page still waits for streams, in real milliseconds. The answer to a request may
 * come by any stream that is open.
 * @param {number} requests The number of requests so far.
 */
export function awaitStreams(requests) {
  if (streams.requests !== requests) {
    streams.requests = requests;
    streams.open.forEach(expectAnswer);
  }
  let rest = 0;
  const now = native.clock();
  for (const { until } of streams.due.values()) rest = Math.max(rest, until - now);
  return rest;
}

/** The wait is over: what comes now belongs to no step. */
export function endStreams() {
  streams.due.clear();
}
