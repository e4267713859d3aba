// @ts-check
import "../traffic.js";
import { shared } from "../context.js";
import { handOverReady, inTurn, orderEvents } from "../ordering.js";
import { equal } from "./check.js";

/**
 * @param {number} token
 * @param {string} reason
 */
function pend(token, reason) {
  shared.traffic.pending.set(token, { reason, since: 0, document, ordered: true });
}

/** @param {number} milliseconds */
const passed = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const cases = {
  "answers are handed over in the order of their requests": () => {
    /** @type {number[]} */
    const order = [];
    const end = (/** @type {number} */ token) =>
      inTurn(token, () => {
        order.push(token);
        shared.traffic.pending.delete(token);
        handOverReady();
      });
    for (const token of [1, 2, 3]) pend(token, `http://a/${token}`);
    end(3);
    end(2);
    equal(order, []);
    end(1);
    equal(order, [1, 2, 3]);
  },
  "an answer does not wait for what no answer waits for": () => {
    let isOver = false;
    shared.traffic.pending.set(1, { reason: "event:popstate", since: 0, document });
    pend(2, "http://a/");
    inTurn(2, () => {
      isOver = true;
    });
    equal(isOver, true);
  },
  "an answer waits for a while, and not again for a late address": async () => {
    /** @type {number[]} */
    const order = [];
    pend(1, "http://a/poll");
    pend(2, "http://a/data");
    inTurn(2, () => order.push(2));
    equal(order, []);
    await passed(1300);
    equal(order, [2]);
    shared.traffic.pending.delete(2);
    pend(3, "http://a/data");
    inTurn(3, () => order.push(3));
    equal(order, [2, 3]);
  },
  "the last events of a request wait for earlier answers": async () => {
    pend(1, "http://a/first");
    pend(2, "http://a/second");
    const request = new XMLHttpRequest();
    const state = { address: "/", token: 2, isInTurn: false };
    orderEvents(request, state);
    /** @type {string[]} */
    const heard = [];
    for (const type of ["readystatechange", "load", "loadend"]) {
      request.addEventListener(type, () => heard.push(`${type} ${request.readyState}`));
    }
    request.onload = () => heard.push("onload");
    request.open("GET", "/");
    state.token = 2;
    request.send();
    await passed(300);
    equal(
      heard.filter((one) => one.endsWith("4") || one === "onload"),
      [],
    );
    shared.traffic.pending.delete(1);
    handOverReady();
    equal(heard.slice(-4), ["readystatechange 4", "load 4", "onload", "loadend 4"]);
  },
};
