// @ts-check
// What argiope calls. One call performs a whole path and says where it ended; it stops at the
// first step that does not lead to the expected page.
import { advancePath } from "./chance.js";
import { pause } from "./clock.js";
import { isScriptless, shared } from "./context.js";
import {
  asAgent,
  checkBuiltins,
  enterAgent,
  leaveAgent,
  recheckBuiltins,
  tamperedBuiltins,
  watchBuiltins,
} from "./intact.js";
import { look } from "./look.js";
import { apply, bare, defineProperty, native } from "./natives.js";
import { innerBoxOf } from "./operable.js";
import { perform } from "./perform.js";
import { rawHash } from "./raw.js";
import { countOpen, settle } from "./settle.js";
import { learnEndless, traffic } from "./traffic.js";
import { findAgain } from "./traits.js";
import "./rewriting.js";
import "./sockets.js";
import { holdsNavigation, refuseRefresh, releaseNavigations, stayOnPage } from "./world.js";

// How long first-time steps share one call, in milliseconds: argiope waits for news of them.
const FIRST_TIME_BATCH = 500;

/**
 * The one constructor of results.
 * @param {Partial<RunResult>} known
 * @returns {RunResult}
 */
function newResult(known) {
  return {
    done: 0,
    missing: false,
    raw: "",
    settled: true,
    notes: [],
    passed: [],
    link: null,
    leaving: false,
    held: holdsNavigation(),
    unframed: false,
    endless: [],
    tampered: tamperedBuiltins(),
    outside: false,
    ...known,
  };
}

/** Whether the page lacks what every page shows while its session lasts. */
function isOutside() {
  return settings.inside !== "" && apply(native.query, document, [settings.inside]) === null;
}

/**
 * Does the agent's part of a call with the browser's own functions. Its promise has a method of its
 * own: the browser calls it.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
function guarded(work) {
  checkBuiltins(false);
  const answer = (async () => {
    enterAgent();
    try {
      return await work();
    } finally {
      leaveAgent();
    }
  })();
  defineProperty(answer, "then", bare({ value: native.follow }));
  return answer;
}

/**
 * @param {string} kind
 * @param {string} place
 * @param {boolean} isTrusted
 */
function beginStep(kind, place, isTrusted) {
  pause();
  advancePath(kind, place, isTrusted);
  shared.opened = countOpen();
  shared.notes = [];
  shared.linked = null;
  shared.mayOpen = true;
  shared.leavingPolls = undefined;
  stayOnPage();
}

/**
 * @param {PathStep[]} steps
 * @returns {Promise<RunResult>}
 */
async function runSteps(steps) {
  const result = newResult({});
  const began = native.clock();
  let first = false;
  if (result.held) {
    // The page wants to leave by itself, before any step.
    result.missing = true;
    return result;
  }
  for (const step of steps) {
    beginStep(step.kind, step.place, false);
    if (!(await perform(step))) {
      result.missing = true;
      break;
    }
    if (first) result.passed.push(result.notes);
    first = step.first === true;
    result.settled = await settle(native.clock() + settings.cap, false);
    if (recheckBuiltins()) {
      // The wait may have gone wrong.
      result.settled = await settle(native.clock() + settings.cap, false);
    }
    result.unframed = shared.unframed;
    if (result.unframed) break;
    result.link = shared.linked;
    result.notes = shared.notes;
    result.leaving = shared.leaving;
    result.held = holdsNavigation();
    result.done++;
    if (result.leaving) break;
    result.raw = rawHash();
    if (!result.settled) result.endless = [...traffic.endless];
    if (step.expect !== undefined && step.expect !== result.raw) break;
    const isLate = native.clock() - began > FIRST_TIME_BATCH;
    if (first && (result.link !== null || !result.settled || isLate)) break;
  }
  if (result.done === 0) result.raw = rawHash();
  result.outside = !result.leaving && isOutside();
  result.tampered = tamperedBuiltins();
  return result;
}

/**
 * Nothing if the document cannot wait, because none of its timers fires: argiope then asks again.
 * @returns {Promise<RunResult | undefined>}
 */
async function settleDocument() {
  if (isScriptless && document.readyState !== "complete") return undefined;
  let settled = await settle(native.clock() + settings.cap, true);
  if (recheckBuiltins(true)) settled = await settle(native.clock() + settings.cap, true);
  return newResult({
    raw: rawHash(),
    settled,
    notes: shared.notes,
    link: shared.linked,
    unframed: shared.unframed,
    endless: settled ? [] : [...traffic.endless],
    outside: isOutside(),
  });
}

/**
 * @param {string} kind
 * @param {string} place
 */
function aimAt(kind, place) {
  beginStep(kind, place, true);
  const element = findAgain(place.split(">")[0]);
  if (!element) return null;
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = innerBoxOf(element);
  if (!box) return null;
  let [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  for (let view = element.ownerDocument.defaultView; view !== window; view = view.parent) {
    const frame = view.frameElement.getBoundingClientRect();
    x += frame.left + view.frameElement.clientLeft;
    y += frame.top + view.frameElement.clientTop;
  }
  shared.pointed = true;
  return { x, y };
}

const agent = {
  shared,

  /**
   * Performs steps; after each but the last the page must be the expected one. Notes of first-time
   * steps are reported, also of those that further steps follow.
   * @param {PathStep[]} steps
   */
  run(steps) {
    return guarded(() => runSteps(steps));
  },

  /** Waits until the page has settled: after a load, or after the browser's input. */
  settle() {
    return guarded(settleDocument);
  },

  look() {
    checkBuiltins(true);
    return asAgent(look);
  },

  /**
   * Scrolls an element into view and says where its middle is in the window.
   * @param {string} kind
   * @param {string} place
   */
  aim(kind, place) {
    checkBuiltins(false);
    return asAgent(() => aimAt(kind, place));
  },

  /** Argiope watches navigations from now on. */
  guard() {
    releaseNavigations();
    return true;
  },

  stayed: stayOnPage,

  refuse: refuseRefresh,

  /**
   * Follows a refresh now: waiting for it brings nothing.
   * @param {string} address
   */
  refresh(address) {
    location.replace(address);
    return true;
  },

  /**
   * Requests to these addresses do not end, as another page or another tab has found out.
   * @param {string[]} addresses
   */
  learn(addresses) {
    addresses.forEach(learnEndless);
    return true;
  },

  /**
   * Before the page is left for good: nothing of it may be there the next time. What argiope
   * clears from outside reaches the page's process later.
   */
  clear() {
    for (const name of /** @type {const} */ (["sessionStorage", "localStorage"])) {
      try {
        window[name].clear();
      } catch {
        // A document without an origin has no storage.
      }
    }
    return true;
  },
};

watchBuiltins();
// A page finds this function if it looks, and does not have the key.
const gate = (/** @type {unknown} */ key) => (key === settings.key ? agent : undefined);
defineProperty(window, settings.secret, { value: Object.freeze(gate) });
