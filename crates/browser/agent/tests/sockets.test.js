// @ts-check
import { native } from "../natives.js";
import { settle } from "../settle.js";
import "../sockets.js";
import { streams } from "../streams.js";
import { traffic } from "../traffic.js";
import { equal } from "./check.js";

/** @param {number} milliseconds */
const settleWithin = (milliseconds) => settle(native.clock() + milliseconds, false);
const socketAddress = `${location.origin.replace("http", "ws")}/socket`;

export const cases = {
  "what a socket answers belongs to the step that asked": async () => {
    const socket = new WebSocket(socketAddress);
    socket.onopen = () => socket.send("hello");
    socket.onmessage = ({ data }) => document.body.append(data);
    equal([await settleWithin(5000), document.body.textContent], [true, "hello"]);
    socket.send(" again");
    equal([await settleWithin(5000), document.body.textContent], [true, "hello again"]);
    socket.close();
  },
  "what an event stream brings at first belongs to the load": async () => {
    const source = new EventSource("/events");
    source.onmessage = ({ data }) => document.body.append(data);
    equal([await settleWithin(5000), document.body.textContent], [true, "one"]);
    source.close();
  },
  "a socket to another host holds nothing": () => {
    const socket = new WebSocket("ws://outside.invalid/");
    equal([streams.open.size, streams.due.size], [0, 0]);
    socket.close();
  },
  "constructors look as they did": () => {
    const socket = new WebSocket(socketAddress);
    equal([socket instanceof WebSocket, socket.constructor === WebSocket], [true, true]);
    equal([WebSocket.OPEN, String(EventSource).includes("[native code]")], [1, true]);
    socket.close();
  },
  "an answer that is read piece by piece holds the page": async () => {
    const answer = await fetch("/answer");
    const reader = /** @type {ReadableStream} */ (answer.body).getReader();
    const piece = reader.read();
    equal(
      [...traffic.pending.values()].map(({ reason }) => reason),
      [`${location.origin}/answer`],
    );
    await piece;
    equal(traffic.pending.size, 0);
  },
};
