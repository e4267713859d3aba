// @ts-check
// Seeded chance. The numbers that a page draws follow from the crawl's seed, the address of the
// document, and the actions since the document began: the same path draws the same numbers in
// every tab and on every machine. Each step begins anew, so that what was drawn before (by a frame
// more or less of an animation) does not count. See decision 38.
import { shared } from "./context.js";
import { apply, native, replace } from "./natives.js";

shared.path ??= { at: 0, before: 0, last: "", steps: 0 };

const PRIME = 16777619;

/**
 * @param {number} hash
 * @param {string} text
 */
function mix(hash, text) {
  let mixed = hash;
  for (let at = 0; at < text.length; at++) {
    mixed = native.imul(mixed ^ apply(native.charCode, text, [at]), PRIME);
  }
  return native.imul(mixed ^ text.length, PRIME) >>> 0;
}

/**
 * A step begins. The browser's own input repeats an action that had no effect: the path has it
 * once, as on the next walk, which begins with the browser's input.
 * @param {string} kind
 * @param {string} place
 * @param {boolean} isTrusted
 */
export function advancePath(kind, place, isTrusted) {
  const { path } = shared;
  const step = `${kind} ${place.replace(/~.*/s, "")}`;
  if (!isTrusted || path.last !== step) path.before = path.at;
  path.at = mix(path.before + 1, step);
  path.steps++;
  path.last = isTrusted ? "" : step;
}

/**
 * A generator of 32-bit numbers.
 * @param {number} salt
 */
function generator(salt) {
  let drawnIn = -1;
  let state = 0;
  return () => {
    if (drawnIn !== shared.path.steps) {
      drawnIn = shared.path.steps;
      const address = location.pathname + location.search;
      state = mix(mix((settings.seed ?? 0) ^ salt, address) ^ shared.path.at, "");
    }
    state = (state + 0x6d2b79f5) >>> 0;
    let word = native.imul(state ^ (state >>> 15), state | 1);
    word ^= word + native.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
}

/**
 * Replaces the sources of chance of a window or a worker.
 * @param {() => number} number
 * @param {() => number} byte
 */
function hookChance(number, byte) {
  replace(Math, "random", () => () => number() / 4294967296);
  // Only secure contexts have the second.
  replace(Crypto.prototype, "getRandomValues", (old) => {
    return function (array) {
      // The browser's own function checks the argument.
      const filled = apply(old, this, [array]);
      const bytes = new native.Bytes(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = byte() >>> 11;
      return filled;
    };
  });
  replace(Crypto.prototype, "randomUUID", (old) => {
    return function () {
      apply(old, this, []);
      let id = "";
      for (let at = 0; at < 36; at++) {
        if (at === 8 || at === 13 || at === 18 || at === 23) id += "-";
        else if (at === 14) id += "4";
        else id += "0123456789abcdef"[at === 19 ? 8 | ((byte() >>> 11) & 3) : (byte() >>> 11) & 15];
      }
      return id;
    };
  });
}

if (settings.seed !== null) {
  hookChance(generator(0), generator(settings.probing ? 0x1b873593 : 0x5bd1e995));
}
