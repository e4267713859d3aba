// @ts-check
// Hooks on sockets and event streams, and on answers that are read piece by piece.
import {
  apply,
  beforeCalls,
  construct,
  defineProperty,
  disguise,
  getOwnPropertyDescriptor,
  native,
  replace,
} from "./natives.js";
import { closeStream, expectAnswer, onStreamMessage, streams } from "./streams.js";
import { holdFor, isOwn, releaseAfter, traffic } from "./traffic.js";

(function hookSockets() {
  for (const name of /** @type {const} */ (["WebSocket", "EventSource"])) {
    const original = window[name];
    if (original) hookConstructor(name, original);
  }
  beforeCalls(WebSocket.prototype, "send", (socket) => {
    if (streams.open.has(socket)) expectAnswer(socket);
  });
})();

/**
 * Watches every stream that the page opens to its own site.
 * @param {string} name
 * @param {any} original
 */
function hookConstructor(name, original) {
  /** @type {any} */
  const replacement = new Proxy(original, {
    construct(target, args, wanted) {
      const stream = construct(target, args, wanted === replacement ? target : wanted);
      if (isOwn(stream.url)) watch(stream);
      return stream;
    },
  });
  const property = { value: replacement, writable: true, configurable: true };
  defineProperty(original.prototype, "constructor", property);
  defineProperty(window, name, property);
  disguise(replacement, original);
}

/**
 * @param {EventTarget} stream
 */
function watch(stream) {
  streams.open.add(stream);
  expectAnswer(stream);
  const onMessage = () => {
    traffic.activity++;
    onStreamMessage(stream);
    traffic.wake?.();
  };
  const onEnd = () => {
    // An event stream that lost its connection opens it again by itself.
    if (/** @type {any} */ (stream).readyState >= 2) closeStream(stream);
    traffic.wake?.();
  };
  apply(native.add, stream, ["open", () => expectAnswer(stream)]);
  apply(native.add, stream, ["message", onMessage]);
  for (const type of ["close", "error"]) apply(native.add, stream, [type, onEnd]);
}

// An answer that is read piece by piece holds the page while a piece is awaited, like any answer.
(function hookReaders() {
  /** @type {WeakMap<object, string>} */
  const addresses = new WeakMap();
  const body = getOwnPropertyDescriptor(Response.prototype, "body");
  const getter = body?.get;
  if (!getter) return;
  defineProperty(Response.prototype, "body", {
    ...body,
    get() {
      const stream = apply(getter, this, []);
      if (stream && this.url) addresses.set(stream, this.url);
      return stream;
    },
  });
  /** @type {(from: object, to: object) => void} */
  const derive = (from, to) => {
    const address = addresses.get(from);
    if (address !== undefined) addresses.set(to, address);
  };
  replace(ReadableStream.prototype, "getReader", (old) => {
    return function (...args) {
      const reader = apply(old, this, args);
      derive(this, reader);
      return reader;
    };
  });
  replace(ReadableStream.prototype, "pipeThrough", (old) => {
    return function (...args) {
      const piped = apply(old, this, args);
      derive(this, piped);
      return piped;
    };
  });
  replace(ReadableStreamDefaultReader.prototype, "read", (old) => {
    return function (...args) {
      const address = addresses.get(this);
      const answer = apply(old, this, args);
      return address === undefined ? answer : releaseAfter(answer, holdFor(address));
    };
  });
})();
