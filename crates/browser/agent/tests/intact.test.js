// @ts-check
import {
  asAgent,
  asPage,
  away,
  callPage,
  checkBuiltins,
  enterAgent,
  leaveAgent,
  recheckBuiltins,
  tamperedBuiltins,
  watchBuiltins,
} from "../intact.js";
import { equal } from "./check.js";

/** @type {any} */
const page = window;

/**
 * Replaces a method as a page does.
 * @param {any} owner
 * @param {string | symbol} key
 * @param {any} value
 */
function replaceBy(owner, key, value) {
  Object.defineProperty(owner, key, { value, configurable: true, writable: true });
}

export const cases = {
  "what the page replaced is the browser's own while the agent works": () => {
    watchBuiltins();
    replaceBy(Array.prototype, Symbol.iterator, function* () {});
    replaceBy(Array.prototype, "map", () => ["wrong"]);
    checkBuiltins(true);
    equal(
      Array.prototype.map.call([1], (one) => one),
      ["wrong"],
    );
    const [seen, mapped] = asAgent(() => {
      /** @type {number[]} */
      const all = [];
      for (const one of [1, 2]) all.push(one);
      const made = [1, 2].map((one) => one + 1);
      // Read by number: the page's iterator is back by then.
      return {
        0: all,
        1: made,
        *[Symbol.iterator]() {
          yield all;
          yield made;
        },
      };
    });
    equal([seen.length, mapped.length], [2, 2]);
    equal(
      Array.prototype.map.call([1], (one) => one),
      ["wrong"],
    );
    equal(tamperedBuiltins().length, 0);
  },
  "an accessor that the page replaced is the browser's own while the agent works": () => {
    watchBuiltins();
    const get = () => "wrong";
    Object.defineProperty(Element.prototype, "outerHTML", { get, configurable: true });
    checkBuiltins(true);
    equal(document.body.outerHTML, "wrong");
    equal(
      asAgent(() => document.body.outerHTML.includes("<body")),
      true,
    );
    equal(document.body.outerHTML, "wrong");
  },
  "a function that the page has removed is there while the agent works": () => {
    watchBuiltins();
    Reflect.deleteProperty(Array.prototype, "push");
    checkBuiltins(true);
    const all = /** @type {number[]} */ ([]);
    asAgent(() => all.push(1));
    equal([all.length, "push" in Array.prototype], [1, false]);
  },
  "code of the page gets its own functions in the middle of the agent's work": async () => {
    watchBuiltins();
    replaceBy(Array.prototype, "join", () => "the page's");
    checkBuiltins(false);
    const join = () => [1, 2].join("-");
    const joined = asAgent(() => `${join()} ${asPage(join)} ${join()}`);
    equal(joined, "1-2 the page's 1-2");
    equal(
      asAgent(() => callPage(join, null, [])),
      "the page's",
    );
    enterAgent();
    equal(await away(Promise.resolve().then(join)), "the page's");
    equal(join(), "1-2");
    leaveAgent();
    equal(join(), "the page's");
  },
  "what a function of the page throws is reported to the page": () => {
    /** @type {string[]} */
    const reported = [];
    window.addEventListener("error", (event) => reported.push(event.message));
    const thrower = () => {
      throw new Error("thrown by the page");
    };
    equal(callPage(thrower, window, []), undefined);
    equal(reported, ["Uncaught Error: thrown by the page"]);
    equal(callPage(Math.max, Math, [1, 2]), 2);
  },
  "what is replaced later is found later": () => {
    watchBuiltins();
    checkBuiltins(true);
    enterAgent();
    equal(recheckBuiltins(), false);
    replaceBy(Array.prototype, "join", () => "the page's");
    equal([recheckBuiltins(), [1, 2].join("-")], [true, "1-2"]);
    leaveAgent();
    equal([1, 2].join("-"), "the page's");
  },
  "what cannot be put back is reported": () => {
    watchBuiltins();
    Object.defineProperty(Array.prototype, "some", { value: () => false, configurable: false });
    checkBuiltins(true);
    asAgent(() => {});
    equal(tamperedBuiltins(), ["Array.some"]);
  },
  "what hooks use is reported, also if it can be put back": () => {
    watchBuiltins();
    replaceBy(page, "URL", class {});
    checkBuiltins(true);
    equal(tamperedBuiltins(), ["window.URL"]);
  },
  "trimming is the browser's own again, and no hook uses it": () => {
    watchBuiltins();
    replaceBy(String.prototype, "trim", () => "the page's");
    checkBuiltins(true);
    equal([asAgent(() => " a ".trim()), " a ".trim()], ["a", "the page's"]);
    equal(tamperedBuiltins(), []);
  },
  "what a page adds to all objects does not disturb": () => {
    watchBuiltins();
    replaceBy(Array.prototype, "join", () => "the page's");
    const all = /** @type {any} */ (Object.prototype);
    for (const name of ["get", "set", "value"]) all[name] = () => "wrong";
    checkBuiltins(true);
    equal(
      asAgent(() => [1, 2].join("-")),
      "1-2",
    );
    for (const name of ["get", "set", "value"]) Reflect.deleteProperty(Object.prototype, name);
  },
  "the collections of the agent do not depend on the page's": () => {
    const map = new Map([["key", 1]]);
    const weak = new WeakMap([[document, 2]]);
    replaceBy(page.Map.prototype, "get", () => "wrong");
    replaceBy(page.WeakMap.prototype, "get", () => "wrong");
    equal([map.get("key"), weak.get(document), [...map.keys()]], [1, 2, ["key"]]);
  },
};
