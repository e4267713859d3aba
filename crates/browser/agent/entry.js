// @ts-check
// What argiope calls. One call performs a whole path and says where it ended; it stops at the
// first step that does not lead to the expected page.
import { shared } from "./context.js";
import { look } from "./look.js";
import { defineProperty, native } from "./natives.js";
import { boxOf } from "./operable.js";
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
    ...known,
  };
}

function beginStep() {
  shared.opened = countOpen();
  shared.notes = [];
  shared.linked = null;
  shared.mayOpen = true;
  shared.leftAt = undefined;
  stayOnPage();
}

const agent = {
  shared,

  /**
   * Performs steps; after each but the last the page must be the expected one. Notes of first-time
   * steps are reported, also of those that further steps follow.
   * @param {PathStep[]} steps
   */
  async run(steps) {
    const result = newResult({});
    const began = native.clock();
    let first = false;
    if (result.held) {
      // The page wants to leave by itself, before any step.
      result.missing = true;
      return result;
    }
    for (const step of steps) {
      beginStep();
      if (!(await perform(step))) {
        result.missing = true;
        break;
      }
      if (first) result.passed.push(result.notes);
      first = step.first === true;
      result.settled = await settle(native.clock() + settings.cap, false);
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
    return result;
  },

  /** Waits until the page has settled: after a load, or after the browser's input. */
  async settle() {
    const settled = await settle(native.clock() + settings.cap, true);
    return newResult({
      raw: rawHash(),
      settled,
      notes: shared.notes,
      link: shared.linked,
      unframed: shared.unframed,
      endless: settled ? [] : [...traffic.endless],
    });
  },

  look,

  /**
   * Scrolls an element into view and says where its middle is in the window.
   * @param {string} place
   */
  aim(place) {
    beginStep();
    const element = findAgain(place.split(">")[0]);
    if (!element) return null;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = boxOf(element);
    if (!box) return null;
    let [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    for (let view = element.ownerDocument.defaultView; view !== window; view = view.parent) {
      const frame = view.frameElement.getBoundingClientRect();
      x += frame.left + view.frameElement.clientLeft;
      y += frame.top + view.frameElement.clientTop;
    }
    shared.pointed = true;
    return { x, y };
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

defineProperty(window, settings.secret, { value: agent });
