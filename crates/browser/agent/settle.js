// @ts-check
// Waits until a page has done what it was going to do. Each round asks what is still to come, and
// brings it about or waits for exactly that. It waits for events where the browser sends them, and
// otherwise polls until the deadline.
import { clock, fireOne, HORIZON, nextDue } from "./clock.js";
import { isScriptless, shared } from "./context.js";
import { documents, shadowRoots } from "./documents.js";
import { away, recheckBuiltins } from "./intact.js";
import { hooked } from "./listeners.js";
import { native, sleep, turn } from "./natives.js";
import { needFrames, paint, paintObserved } from "./rendering.js";
import { awaitStreams, endStreams } from "./streams.js";
import {
  areWorkersBusy,
  countChanges,
  giveUpPending,
  isEndless,
  isInside,
  isPending,
  learnEndless,
  traffic,
  trafficChange,
} from "./traffic.js";
import { holdsNavigation, stayOnPage } from "./world.js";

// How often the agent looks whether a document that is being left is still here, and the real
// milliseconds between two looks. The looks count, not the time: a busy machine is late with each
// of them, as it is late with the next document.
const LEAVING = 300;
const LEAVING_POLL = 10;
// How often the agent polls whether documents are loaded and workers have answered.
const POLL = 50;
// While a request is pending, virtual time follows real time, and this many milliseconds behind it:
// a timer fires before an answer only if it is due long before. So a busy machine, which answers a
// little later, does not change the order. A document that loads delays timers longer, because its
// scripts come in any order.
const LAG = 1000;
const LOADING_LAG = 1500;
// How long the timers may take that a pending request held back, in real milliseconds.
const AFTERWARDS = 1000;

/**
 * Whether the page settled before the deadline. Ends at once when the document is being left,
 * unless `stay` asks to wait for what becomes of that.
 * @param {number} deadline
 * @param {boolean} stay
 */
export async function settle(deadline, stay) {
  const settled = await settleWithin(new Wait(deadline), stay);
  endStreams();
  return settled;
}

/**
 * @param {Wait} wait
 * @param {boolean} stay
 */
async function settleWithin(wait, stay) {
  if (isScriptless) return true;
  for (;;) {
    await away(turn());
    // While a document loads, its scripts begin to run.
    if (stay) recheckBuiltins();
    if (shared.unframed) return false;
    if (native.clock() > wait.deadline && !wait.extend()) return false;
    if (shared.leaving) {
      if (!stay || holdsNavigation()) return wait.isInTime;
      // The document is about to go. If it does not (no content, a download), the page stays.
      await away(sleep(LEAVING_POLL));
      shared.leavingPolls = (shared.leavingPolls ?? 0) + 1;
      if (shared.leavingPolls < LEAVING) continue;
      stayOnPage();
    }
    if (areWorkersBusy()) {
      await away(trafficChange(POLL));
      continue;
    }
    const isBusy = isLoading();
    if (isBusy || isPending()) {
      await wait.hold(isBusy ? LOADING_LAG : LAG);
      continue;
    }
    const rest = awaitStreams(traffic.requests);
    if (rest > 0) {
      await away(trafficChange(rest));
      continue;
    }
    const now = countChanges();
    if (now !== wait.changes) {
      wait.changes = now;
      continue;
    }
    if (!settings.frames && shared.checked !== now) {
      shared.checked = now;
      if (hasDrawnElements() && needFrames()) return false;
    }
    if (wait.fireNext()) continue;
    if (!(await paintOnce(wait, now))) return wait.isInTime;
  }
}

/** One wait for the page. */
class Wait {
  /** @param {number} deadline */
  constructor(deadline) {
    this.began = native.clock();
    this.deadline = deadline;
    /** Whether nothing was pending at the deadline. */
    this.isInTime = true;
    /** The number of changes when the page was last seen to stand still. */
    this.changes = -1;
    /** The number of changes at the last frame. */
    this.painted = shared.paintFirst ? -1 : countChanges();
    /** Up to when timers fire, in virtual time. */
    this.until = clock.at + HORIZON;
    /** The virtual time that requests hold back, before any time that they took. */
    this.reached = clock.at;
    /** How long requests have held the page, in real milliseconds. */
    this.held = 0;
    shared.paintFirst = false;
    traffic.spent.clear();
  }

  /**
   * The deadline has come: what is pending does not hold the page any longer. True if timers that
   * it has held back may now fire.
   */
  extend() {
    if (!this.isInTime || !(isPending() || isLoading())) return false;
    giveUpPending(this.deadline - this.began);
    giveUpLoading();
    this.isInTime = false;
    this.deadline = native.clock() + AFTERWARDS;
    return true;
  }

  /** Fires the next timer; false if the page waits for none. */
  fireNext() {
    const due = nextDue(this.until);
    if (due === Infinity) return false;
    const before = clock.at;
    drawBefore();
    fireOne(due);
    this.reached += clock.at - before;
    return true;
  }

  /**
   * Waits for requests, or fires the next timer if real time has come so far.
   * @param {number} lag
   */
  async hold(lag) {
    const began = native.clock();
    const due = nextDue(this.until);
    const rest = due - this.reached - this.held + lag;
    if (rest <= 0) {
      drawBefore();
      fireOne(due);
      return;
    }
    await away(trafficChange(Math.min(rest, POLL, this.deadline - began + 1)));
    this.held += native.clock() - began;
  }
}

/**
 * Paints if animations, observers or opened elements need a frame; false if nothing does.
 * @param {{ painted: number }} wait
 * @param {number} now
 */
async function paintOnce(wait, now) {
  if (finishAnimations()) {
    await away(paint());
    wait.painted = countChanges();
    return true;
  }
  if (hooked.observes && wait.painted !== now) {
    wait.painted = now;
    await away(paintObserved());
    return true;
  }
  const open = countOpen();
  if (open !== (shared.opened ?? 0)) {
    shared.opened = open;
    await away(paint());
    return true;
  }
  return false;
}

// Elements that act by themselves when they are drawn.
const DRAWN =
  "[autofocus],[loading=lazy],[onscroll],[onscrollend],marquee,video[autoplay],audio[autoplay]";

function hasDrawnElements() {
  for (const { document: page } of documents()) if (page.querySelector(DRAWN)) return true;
  return false;
}

/**
 * How many dialogs, details and popovers are open. The events of one that was closed or opened
 * come late, but not later than the next frame.
 */
export function countOpen() {
  const open = "dialog[open],details[open],:popover-open";
  let count = 0;
  for (const { document: page } of documents()) count += page.querySelectorAll(open).length;
  return count;
}

// After this many milliseconds a document with a complete tree does not wait for outside hosts.
const OUTSIDE_RESOURCES = 1500;

/**
 * Documents that were still being read at the deadline.
 * @type {WeakSet<Document>}
 */
const givenUp = new WeakSet();

/** Whether a document is still being read. */
function isLoading() {
  for (const { document: page, since } of documents()) {
    if (page.readyState === "complete" || givenUp.has(page)) continue;
    if (shared.rewritten.has(page) && awaitedResources(page).length === 0) continue;
    const isLate = native.clock() - since > OUTSIDE_RESOURCES;
    if (isLate && isEndless(page.URL)) continue;
    if (page.readyState === "interactive" && isLate && awaitedResources(page).length === 0) {
      continue;
    }
    return true;
  }
  return false;
}

/** Documents that are still being read do not hold the page again, and why is remembered. */
function giveUpLoading() {
  for (const { document: page } of documents()) {
    if (page.readyState === "complete" || givenUp.has(page)) continue;
    givenUp.add(page);
    // Without a complete tree the document itself does not end.
    const isRead = page.readyState !== "loading";
    for (const address of isRead ? awaitedResources(page) : [page.URL]) {
      learnEndless(address.replace(/[?#].*/, ""));
    }
  }
}

/**
 * Resources of the application itself that may still be on their way: those that are in the tree
 * but have no entry among what was received.
 * @param {Document} page
 */
function awaitedResources(page) {
  const { performance } = /** @type {PageWindow} */ (page.defaultView);
  const entries = performance.getEntriesByType("resource");
  const received = new Set(entries.map((entry) => entry.name));
  const resources = `script[src],link[rel~=stylesheet][href],:is(img,iframe)[src]:not([loading=lazy])`;
  /** @type {string[]} */
  const awaited = [];
  for (const element of page.querySelectorAll(resources)) {
    const { src, href } = /** @type {any} */ (element);
    const address = src || href;
    if (isInside(address) && !received.has(address)) awaited.push(address);
  }
  return awaited;
}

/** Brings animations to their end, so that their events fire; endless ones are stopped. */
function finishAnimations() {
  let hasFinished = false;
  for (const { document: page } of documents()) {
    if (!canAnimate(page)) continue;
    // Whether a change is animated depends on what was drawn before.
    if (needFrames()) return true;
    const roots = hooked.hasShadows ? [page, ...shadowRoots(page)] : [page];
    for (const root of roots) {
      for (const animation of root.getAnimations()) hasFinished = finish(animation) || hasFinished;
    }
  }
  return hasFinished;
}

/**
 * Before a timer or a frame of the page runs, the page has been drawn. Real frames come at any
 * time, and a change is animated only if the styles before it were computed: so they always are.
 */
function drawBefore() {
  for (const { document: page } of documents()) {
    if (canAnimate(page)) page.documentElement?.getBoundingClientRect();
  }
}

/** @type {WeakMap<Document, { rules: number, animates: boolean }>} */
const knownAnimations = new WeakMap();
const ANIMATED = "[style*=transition],[style*=animation],svg animate";

/**
 * Whether anything on the page can be animated, or looks otherwise when it is drawn. Asking for
 * the animations costs a pass over the styles in every step, so the agent reads the style sheets
 * instead, and again only when their number of rules changes.
 * @param {Document} page
 */
function canAnimate(page) {
  if (hooked.animates || hooked.hasShadows || page.querySelector(ANIMATED)) return true;
  let rules = page.adoptedStyleSheets.length;
  try {
    for (const sheet of page.styleSheets) rules += 1 + sheet.cssRules.length;
  } catch {
    // A style sheet of another origin cannot be read.
    return true;
  }
  const known = knownAnimations.get(page);
  if (known?.rules === rules) return known.animates;
  const sheets = [...page.styleSheets, ...page.adoptedStyleSheets];
  const texts = sheets.flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText));
  const animating = /transition|animation|content-visibility|scroll-state/;
  const animates = texts.some((text) => animating.test(text));
  knownAnimations.set(page, { rules, animates });
  return animates;
}

/**
 * @param {Animation} animation
 */
function finish(animation) {
  if (animation.playState !== "running") return false;
  try {
    const end = animation.effect?.getComputedTiming().endTime;
    if (end === Infinity || !(animation.playbackRate > 0)) {
      animation.pause();
      return false;
    }
    animation.finish();
    return true;
  } catch {
    animation.cancel();
    return true;
  }
}
