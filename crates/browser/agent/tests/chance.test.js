// @ts-check
import { advancePath } from "../chance.js";
import { shared } from "../context.js";
import { addFrame, equal } from "./check.js";

/** What a page may draw. */
function draw() {
  const bytes = crypto.getRandomValues(new Uint8Array(4));
  return [Math.random(), Math.random(), [...bytes], crypto.randomUUID()];
}

/**
 * @param {string[]} places
 */
function walk(...places) {
  shared.path = { ...shared.path, at: 0, before: 0, last: "", steps: shared.path.steps + 1 };
  for (const place of places) advancePath("click", place, false);
  return draw();
}

export const cases = {
  "the same path draws the same numbers, whatever was drawn before": () => {
    const first = walk("1/0", "1/1");
    draw();
    equal(walk("1/0", "1/1"), first);
    equal(walk("1/0~a.b", "1/1~c.d"), first);
  },
  "other paths draw other numbers": () => {
    const drawn = [walk(), walk("1/0"), walk("1/1"), walk("1/0", "1/1"), walk("1/1", "1/0")];
    equal(new Set(drawn.map((one) => JSON.stringify(one))).size, 5);
  },
  "a step that the browser's own input repeats is one step of the path": () => {
    walk("1/0", "1/1");
    advancePath("click", "1/1", true);
    const repeated = draw();
    walk("1/0");
    advancePath("click", "1/1", true);
    equal(draw(), repeated);
    advancePath("click", "1/1", true);
    equal(JSON.stringify(draw()) === JSON.stringify(repeated), false);
  },
  "random ids have the form of random ids, and arrays of numbers are filled": () => {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const ids = Array.from({ length: 50 }, () => crypto.randomUUID());
    equal(ids.filter((id) => form.test(id)).length, 50);
    equal(new Set(ids).size, 50);
    const words = crypto.getRandomValues(new Uint32Array(8).subarray(2, 6));
    equal([words.length, new Set(words).size], [4, 4]);
    const bytes = crypto.getRandomValues(new Uint8Array(1000));
    equal(new Set(bytes).size > 200, true);
  },
  "wrong arguments are refused as before": () => {
    for (const wrong of [new Float32Array(1), null, new Uint8Array(65537)]) {
      let error = "";
      try {
        crypto.getRandomValues(/** @type {any} */ (wrong));
      } catch (thrown) {
        error = String(thrown);
      }
      equal(error !== "", true);
    }
  },
  "frames draw numbers of their own, the same each time": async () => {
    const frame = await addFrame("<p>frame</p>");
    const view = /** @type {any} */ (frame.defaultView);
    const drawn = Array.from({ length: 3 }, () => view.Math.random());
    equal(
      drawn.every((one) => one >= 0 && one < 1),
      true,
    );
  },
  "the sources of chance look native": () => {
    for (const hooked of [Math.random, crypto.getRandomValues, crypto.randomUUID]) {
      equal(hooked.toString().includes("[native code]"), true);
    }
    equal([Math.random.length, crypto.getRandomValues.name], [0, "getRandomValues"]);
  },
};
