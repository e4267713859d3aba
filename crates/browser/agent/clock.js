// The page agent, part 3: virtual time. Timers and animation frames of the page run only while the agent
// settles it, at once and in the order of their due times; between steps the page stands still. Dates run
// ahead of the real ones by the time that was skipped.
const HORIZON = settings.horizon;
const FRAME = 1000 / 60;
// A timeout that re-arms itself this often without changing the page is an interval in disguise.
const REPEATS = { timeout: 3, frame: 60 };

const clock = shared.clock ?? {
  // Virtual milliseconds since the document began.
  at: 0,
  next: 1,
  timers: new Map(),
  running: null,
  // Counts what changed the page; `touched` at a timer's start tells whether it changed something.
  start: 0,
};
shared.clock = clock;

function alive(timer) {
  return timer.document.defaultView !== null;
}

function arm(owner, kind, callback, args, delay, period) {
  const parent = clock.running;
  let repeats = 0;
  if (parent && parent.kind === kind && !period && sameCallback(parent.callback, callback)) repeats = parent.repeats + 1;
  const id = clock.next++;
  delay = Math.max(Number(delay) || 0, repeats > 4 ? 4 : 0);
  const due = kind === "frame" ? (Math.floor(clock.at / FRAME + 1e-6) + 1) * FRAME : clock.at + delay;
  clock.timers.set(id, { id, owner, document, kind, callback, args, due, period, repeats, delay, idle: repeats ? parent.idle : 0 });
  return id;
}

function sameCallback(one, other) {
  if (one === other) return true;
  if (typeof one !== "function" || typeof other !== "function" || one.name !== other.name) return false;
  return apply(native.text, one, []) === apply(native.text, other, []);
}

// Whether a page must be waited for because of this timer.
function holds(timer, until) {
  if (timer.period || timer.delay > HORIZON || timer.due > until || !alive(timer)) return false;
  return timer.idle < REPEATS[timer.kind];
}

// The next moment at which a timer is due that the page must be waited for.
function nextDue(until) {
  let due = Infinity;
  for (const timer of clock.timers.values()) if (timer.due < due && holds(timer, until)) due = timer.due;
  return due;
}

// Runs the earliest of the timers that are due by then; frames that are due together run together.
function fireOne(by) {
  let first = null;
  for (const timer of clock.timers.values()) {
    if (timer.due <= by && timer.delay <= HORIZON && (!first || timer.due < first.due)) first = timer;
  }
  if (!first) return false;
  clock.at = Math.max(clock.at, first.due);
  if (first.kind !== "frame") {
    fire(first);
    return true;
  }
  for (const timer of [...clock.timers.values()]) if (timer.kind === "frame" && timer.due <= first.due) fire(timer);
  return true;
}

function fire(timer) {
  if (!clock.timers.has(timer.id)) return;
  if (timer.period) timer.due += Math.max(timer.period, 1);
  else clock.timers.delete(timer.id);
  if (!alive(timer)) {
    clock.timers.delete(timer.id);
    return;
  }
  const before = changes();
  clock.running = timer;
  const args = timer.kind === "frame" ? [timer.owner.performance.now()] : timer.args;
  if (typeof timer.callback === "function") callPage(timer.callback, timer.owner, args);
  else callPage(timer.owner.eval, timer.owner, [String(timer.callback)]);
  clock.running = null;
  const idle = changes() === before ? timer.idle + 1 : 0;
  for (const next of clock.timers.values()) if (next.repeats > 0 && next.id > timer.id && next.callback === timer.callback) next.idle = idle;
}

// Lets virtual time pass, as a press that lasts does.
async function pass(milliseconds) {
  const by = clock.at + milliseconds;
  for (let fired = 0; fired < 1000 && fireOne(by); fired++) await turn();
  clock.at = Math.max(clock.at, by);
}

(function hookTimers() {
  const own = { timeout: "setTimeout", interval: "setInterval" };
  replace(window, own.timeout, () => function setTimeout(callback, delay, ...args) {
    return arm(window, "timeout", callback, args, delay, 0);
  });
  replace(window, own.interval, () => function setInterval(callback, delay, ...args) {
    return arm(window, "timeout", callback, args, delay, Math.max(Number(delay) || 0, 1));
  });
  for (const name of ["clearTimeout", "clearInterval", "cancelAnimationFrame", "cancelIdleCallback"]) {
    replace(window, name, () => function (id) {
      clock.timers.delete(Number(id));
    });
  }
  replace(window, "requestAnimationFrame", () => function (callback) {
    return arm(window, "frame", callback, [], 0, 0);
  });
  replace(window, "requestIdleCallback", () => function (callback) {
    const deadline = { didTimeout: false, timeRemaining: () => 10 };
    return arm(window, "timeout", callback, [deadline], 1, 0);
  });

  const frozen = settings.freeze;
  const present = () => (frozen === null ? native.now() + Math.floor(clock.at) : frozen + Math.floor(clock.at));
  const Dated = new Proxy(native.Date, {
    construct(target, args, wanted) {
      return construct(target, args.length ? args : [present()], wanted === Dated ? target : wanted);
    },
    apply() {
      return new native.Date(present()).toString();
    },
  });
  native.Date.now = function now() {
    return present();
  };
  disguised.set(native.Date.now, native.now);
  defineProperty(native.Date.prototype, "constructor", { value: Dated, writable: true, configurable: true });
  defineProperty(window, "Date", { value: Dated, writable: true, configurable: true });
  disguised.set(Dated, native.Date);
  replace(Performance.prototype, "now", (old) => function () {
    return apply(old, this, []) + clock.at;
  });

  // The same page draws the same numbers each time it is loaded.
  let seed = settings.seed >>> 0;
  replace(Math, "random", () => function () {
    seed = (seed + 0x6d2b79f5) >>> 0;
    let word = Math.imul(seed ^ (seed >>> 15), seed | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 4294967296;
  });
})();
