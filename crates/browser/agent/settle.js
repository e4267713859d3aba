// @ts-check
// Waits until a page has done what it was going to do. Each round asks what is still to come, and
// brings it about or waits for exactly that. It waits for events where the browser sends them, and
// otherwise polls until the deadline.
import { clock, fireOne, HORIZON, nextDue } from "./clock.js";
import { shared } from "./context.js";
import { documents, shadowRoots } from "./documents.js";
import { hooked } from "./listeners.js";
import { native, sleep, turn } from "./natives.js";
import { needFrames, paint, paintObserved } from "./rendering.js";
import { areWorkersBusy, countChanges, isInside, traffic, trafficChange } from "./traffic.js";
import { holdsNavigation, stayOnPage } from "./world.js";

// How long a document that is being left may still be here, in real milliseconds.
const LEAVING = 3000;
// How often the agent polls whether documents are loaded and workers have answered.
const POLL = 50;

/**
 * Whether the page settled before the deadline. Ends at once when the document is being left,
 * unless `stay` asks to wait for what becomes of that.
 * @param {number} deadline
 * @param {boolean} stay
 */
export async function settle(deadline, stay) {
  const until = clock.at + HORIZON;
  const rounds = { last: -1, painted: shared.paintFirst ? -1 : countChanges() };
  shared.paintFirst = false;
  for (;;) {
    await turn();
    if (shared.unframed) return false;
    if (native.clock() > deadline) {
      for (const address of traffic.pending.values()) traffic.endless.add(address);
      return false;
    }
    if (shared.leaving) {
      if (!stay || holdsNavigation()) return true;
      // The document is about to go. If it does not (no content, a download), the page stays.
      await sleep(10);
      shared.leftAt ??= native.clock();
      if (native.clock() - shared.leftAt < LEAVING) continue;
      stayOnPage();
    }
    if (isLoading() || areWorkersBusy()) {
      await trafficChange(POLL);
      continue;
    }
    if (traffic.pending.size > 0) {
      await trafficChange(deadline - native.clock() + 1);
      continue;
    }
    const now = countChanges();
    if (now !== rounds.last) {
      rounds.last = now;
      continue;
    }
    if (!settings.frames && shared.checked !== now) {
      shared.checked = now;
      if (hasDrawnElements() && needFrames()) return false;
    }
    const due = nextDue(until);
    if (due < Infinity) {
      fireOne(due);
      continue;
    }
    if (!(await paintOnce(rounds, now))) return true;
  }
}

/**
 * Paints if animations, observers or opened elements need a frame; false if nothing does.
 * @param {{ painted: number }} rounds
 * @param {number} now
 */
async function paintOnce(rounds, now) {
  if (finishAnimations()) {
    await paint();
    rounds.painted = countChanges();
    return true;
  }
  if (hooked.observes && rounds.painted !== now) {
    rounds.painted = now;
    await paintObserved();
    return true;
  }
  const open = countOpen();
  if (open !== (shared.opened ?? 0)) {
    shared.opened = open;
    await paint();
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

/** Whether a document is still being read. */
function isLoading() {
  for (const { document: page, since } of documents()) {
    if (page.readyState === "complete") continue;
    const isLate = native.clock() - since > OUTSIDE_RESOURCES;
    if (page.readyState === "interactive" && isLate && !awaitsOwnResources(page)) continue;
    return true;
  }
  return false;
}

/**
 * Whether a resource of the application itself may still be on its way: one that is in the tree
 * but has no entry among what was received.
 * @param {Document} page
 */
function awaitsOwnResources(page) {
  const { performance } = /** @type {PageWindow} */ (page.defaultView);
  const entries = performance.getEntriesByType("resource");
  const received = new Set(entries.map((entry) => entry.name));
  const resources = "script[src],link[rel~=stylesheet][href],img[src]";
  for (const element of page.querySelectorAll(resources)) {
    const { src, href } = /** @type {any} */ (element);
    const address = src || href;
    if (isInside(address) && !received.has(address)) return true;
  }
  return false;
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
