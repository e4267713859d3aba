// @ts-check
import {
  beforeCalls,
  disguise,
  getOrInsert,
  replace,
  sleep,
  turn,
  wellFormed,
} from "../natives.js";
import { equal } from "./check.js";

export const cases = {
  "a replaced method keeps name, length and source": () => {
    const before = [Element.prototype.closest.name, Element.prototype.closest.length];
    const source = Element.prototype.closest.toString();
    replace(Element.prototype, "closest", () => () => null);
    const { closest } = Element.prototype;
    equal([closest.name, closest.length], before);
    equal(closest.toString(), source);
    equal(document.body.closest("html"), null);
  },
  "what is not a method is not replaced": () => {
    const owner = { value: 1 };
    replace(owner, "value", () => () => 2);
    equal(owner.value, 1);
  },
  "the agent hears of a call before the method runs": () => {
    const owner = { add: (/** @type {number} */ one, /** @type {number} */ other) => one + other };
    /** @type {unknown[]} */
    const heard = [];
    beforeCalls(owner, "add", (self, args) => heard.push(self === owner, args));
    equal([owner.add(1, 2), heard], [3, [true, [1, 2]]]);
  },
  "a missing value is made once": () => {
    const map = new Map([["a", 1]]);
    equal([getOrInsert(map, "a", () => 2), getOrInsert(map, "b", () => 3)], [1, 3]);
    equal(
      getOrInsert(map, "b", () => 4),
      3,
    );
  },
  "the replaced toString is disguised itself": () => {
    equal(Function.prototype.toString.toString().includes("[native code]"), true);
  },
  "a disguised function shows the source of another": () => {
    const shown = () => "shown";
    const hidden = () => "hidden";
    disguise(hidden, shown);
    equal(hidden.toString(), '() => "shown"');
  },
  "a turn does not need the page's own functions": async () => {
    window.setTimeout = /** @type {any} */ (null);
    window.Promise = /** @type {any} */ (null);
    await turn();
    await sleep(1);
  },
  "half a surrogate pair is replaced": () => {
    equal(wellFormed("a\ud800b"), "a\ufffdb");
  },
};
