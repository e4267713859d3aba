// @ts-check
// Virtual time. Timers and animation frames of the page run only while the agent settles it, at
// once and in the order of their due times; between steps the page stands still. Dates run ahead
// of the real ones by the time that was skipped.
import { shared } from "./context.js";
import { callPage } from "./intact.js";
import {
  apply,
  bare,
  construct,
  defineProperty,
  disguise,
  getOrInsert,
  getOwnPropertyDescriptor,
  native,
  replace,
  turn,
} from "./natives.js";
import { countChanges } from "./traffic.js";

export const HORIZON = settings.horizon;
const FRAME = 1000 / 60;
// A timeout that re-arms itself this often without changing the page is an interval in disguise.
const REPEATS = { timeout: 3, frame: 60 };
// How long a user pauses before an action, in virtual milliseconds: longer than pages wait for the
// second press of a double click or tap. Without it, how fast the machine is would decide.
const PAUSE = 1000;

/** @type {VirtualClock} */
export const clock = shared.clock ?? {
  at: 0,
  paused: 0,
  next: 1,
  timers: new Map(),
  running: null,
};
shared.clock = clock;

/**
 * @param {Timer} timer
 */
function isAlive(timer) {
  return timer.document.defaultView !== null;
}

/**
 * @param {Timer["kind"]} kind
 * @param {unknown} callback
 * @param {unknown[]} args
 * @param {unknown} wanted
 * @param {number} period
 */
function arm(kind, callback, args, wanted, period) {
  const parent = clock.running;
  let repeats = 0;
  let idle = 0;
  if (parent?.kind === kind && !period && isSameCallback(parent.callback, callback)) {
    repeats = parent.repeats + 1;
    idle = parent.idle;
  }
  const id = clock.next++;
  const delay = Math.max(Number(wanted) || 0, repeats > 4 ? 4 : 0);
  const due = kind === "frame" ? nextFrameTime() : clock.at + delay;
  const owner = window;
  const times = { due, period, repeats, delay, idle, endless: false };
  clock.timers.set(id, { id, owner, document, kind, callback, args, ...times });
  return id;
}

function nextFrameTime() {
  return (Math.floor(clock.at / FRAME + 1e-6) + 1) * FRAME;
}

/**
 * Whether two callbacks are one, or closures with the same source.
 * @param {unknown} one
 * @param {unknown} other
 */
function isSameCallback(one, other) {
  if (one === other) return true;
  if (typeof one !== "function" || typeof other !== "function" || one.name !== other.name) {
    return false;
  }
  return apply(native.text, one, []) === apply(native.text, other, []);
}

/**
 * Whether the page is not settled because of this timer. An interval that changes the page may end
 * by itself (a bar that fills), so it is awaited until the horizon of the step that began it.
 * @param {Timer} timer
 * @param {number} until
 */
function isAwaited(timer, until) {
  if (timer.endless || timer.delay > HORIZON || !isAlive(timer)) return false;
  if (timer.due > until) {
    timer.endless = timer.period > 0;
    return false;
  }
  return timer.idle < (timer.period ? 1 : REPEATS[timer.kind]);
}

/**
 * When the next timer is due that must fire before the page is settled.
 * @param {number} until
 */
export function nextDue(until) {
  let due = Infinity;
  for (const timer of clock.timers.values()) {
    if (timer.due < due && isAwaited(timer, until)) due = timer.due;
  }
  return due;
}

/**
 * Runs the earliest of the timers that are due by then; frames that are due together run together.
 * @param {number} by
 */
export function fireOne(by) {
  /** @type {Timer | null} */
  let first = null;
  for (const timer of clock.timers.values()) {
    if (timer.due <= by && timer.delay <= HORIZON && (!first || timer.due < first.due)) {
      first = timer;
    }
  }
  if (!first) return false;
  clock.at = Math.max(clock.at, first.due);
  if (first.kind !== "frame") {
    fire(first);
    return true;
  }
  for (const timer of [...clock.timers.values()]) {
    if (timer.kind === "frame" && timer.due <= first.due) fire(timer);
  }
  return true;
}

/**
 * @param {Timer} timer
 */
function fire(timer) {
  if (!clock.timers.has(timer.id)) return;
  if (timer.period) timer.due += Math.max(timer.period, 1);
  else clock.timers.delete(timer.id);
  if (!isAlive(timer)) {
    clock.timers.delete(timer.id);
    return;
  }
  const before = countChanges();
  const { owner, callback } = timer;
  clock.running = timer;
  const args = timer.kind === "frame" ? [owner.performance.now()] : timer.args;
  if (typeof callback === "function") callPage(callback, owner, args);
  else callPage(owner.eval, owner, [String(callback)]);
  clock.running = null;
  const idle = countChanges() === before ? timer.idle + 1 : 0;
  if (timer.period) timer.idle = idle;
  for (const next of clock.timers.values()) {
    if (next.repeats > 0 && next.id > timer.id && next.callback === callback) next.idle = idle;
  }
}

/**
 * Lets virtual time pass, as during a long press.
 * @param {number} milliseconds
 */
export async function passTime(milliseconds) {
  const by = clock.at + milliseconds;
  for (let fired = 0; fired < 1000 && fireOne(by); fired++) await turn();
  clock.at = Math.max(clock.at, by);
}

/** The user pauses before an action. No timer runs: the page has settled. */
export function pause() {
  clock.paused += PAUSE;
}

(function hookTimers() {
  replace(window, "setTimeout", () => (callback, delay, ...args) => {
    return arm("timeout", callback, args, delay, 0);
  });
  replace(window, "setInterval", () => (callback, delay, ...args) => {
    return arm("timeout", callback, args, delay, Math.max(Number(delay) || 0, 1));
  });
  const clearing = ["clearTimeout", "clearInterval", "cancelAnimationFrame", "cancelIdleCallback"];
  for (const name of clearing) {
    replace(window, name, () => (id) => {
      clock.timers.delete(Number(id));
    });
  }
  replace(window, "requestAnimationFrame", () => (callback) => arm("frame", callback, [], 0, 0));
  replace(window, "requestIdleCallback", () => (callback) => {
    const deadline = { didTimeout: false, timeRemaining: () => 10 };
    return arm("timeout", callback, [deadline], 1, 0);
  });
})();

(function hookDates() {
  const present = () => (settings.freeze ?? native.now() + clock.paused) + Math.floor(clock.at);
  /** @type {DateConstructor} */
  const VirtualDate = new Proxy(native.Date, {
    construct(target, args, wanted) {
      const given = args.length ? args : [present()];
      return construct(target, given, wanted === VirtualDate ? target : wanted);
    },
    apply() {
      return new native.Date(present()).toString();
    },
  });
  replace(native.Date, "now", () => () => present());
  const property = { value: VirtualDate, writable: true, configurable: true };
  defineProperty(native.Date.prototype, "constructor", property);
  defineProperty(window, "Date", property);
  disguise(VirtualDate, native.Date);
  replace(Performance.prototype, "now", (old) => {
    return function () {
      return apply(old, this, []) + clock.at + clock.paused;
    };
  });
})();

// Pages compare the times of events with each other and with `performance.now()`.
(function hookTimesOfEvents() {
  const property = getOwnPropertyDescriptor(Event.prototype, "timeStamp");
  const read = property?.get;
  if (!read) return;
  /** @type {WeakMap<Event, number>} */
  const times = new WeakMap();
  const { get } = {
    /** @this {Event} */
    get() {
      return getOrInsert(times, this, () => apply(read, this, []) + clock.at + clock.paused);
    },
  };
  defineProperty(get, "name", { value: read.name, configurable: true });
  disguise(get, read);
  defineProperty(Event.prototype, "timeStamp", bare({ ...property, get }));
})();
