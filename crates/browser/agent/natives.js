// The page agent, part 1: what the page had before any script ran. The agent uses only these, so that a
// page which replaces built-in functions (by accident or on purpose) does not disturb it.
const native = {
  add: EventTarget.prototype.addEventListener,
  remove: EventTarget.prototype.removeEventListener,
  dispatch: EventTarget.prototype.dispatchEvent,
  fetch: window.fetch,
  frame: window.requestAnimationFrame,
  timeout: window.setTimeout,
  clearTimeout: window.clearTimeout,
  attachShadow: Element.prototype.attachShadow,
  text: Function.prototype.toString,
  now: Date.now,
  json: JSON.stringify,
  submit: HTMLFormElement.prototype.submit,
  clock: performance.now.bind(performance),
  report: window.reportError,
  observe: IntersectionObserver.prototype.observe,
  Channel: MessageChannel,
  Observer: IntersectionObserver,
  Date,
  Promise,
};
const { apply, construct, getOwnPropertyDescriptor, defineProperty, ownKeys } = Reflect;
const ownNames = Object.getOwnPropertyNames;
const ownSymbols = Object.getOwnPropertySymbols;

// Calls a function of the page; what it throws is reported as the browser itself would.
function callPage(callback, self, args) {
  try {
    return apply(callback, self, args);
  } catch (error) {
    try {
      apply(native.report, window, [error]);
    } catch {}
  }
}

// Replaces a method so that the page sees a function of the same name and length.
function replace(owner, name, make) {
  const old = owner[name];
  if (typeof old !== "function") return;
  const wrapped = make(old);
  defineProperty(wrapped, "name", { value: old.name, configurable: true });
  defineProperty(wrapped, "length", { value: old.length, configurable: true });
  disguised.set(wrapped, old);
  const descriptor = getOwnPropertyDescriptor(owner, name);
  defineProperty(owner, name, descriptor ? { ...descriptor, value: wrapped } : { value: wrapped, writable: true, configurable: true });
}

// Libraries look at the source of a function to see whether it is the browser's own.
const disguised = new WeakMap();
Function.prototype.toString = {
  toString() {
    return apply(native.text, disguised.get(this) ?? this, []);
  },
}.toString;
disguised.set(Function.prototype.toString, native.text);

// One turn of the event loop. A message is not throttled as a timer is.
const turns = new native.Channel();
let turned = null;
turns.port1.onmessage = () => {
  const resume = turned;
  turned = null;
  resume?.();
};
const postTurn = turns.port2.postMessage.bind(turns.port2);
function turn() {
  return new native.Promise((resolve) => {
    turned = resolve;
    postTurn(0);
  });
}

// Real time, for waiting on what only real time brings.
function sleep(milliseconds) {
  return new native.Promise((resolve) => apply(native.timeout, window, [resolve, milliseconds]));
}

// A page that is not painted gets no frames; one on a busy machine gets them late.
const LATE_FRAME = 2000;

// What waits for a frame has to be shown where frames are made: it is asked for from outside, and nothing more is done here.
function needFrames() {
  if (settings.frames) return false;
  shared.unframed = true;
  traffic.wake?.();
  return true;
}

// One real frame: animation events come with it.
async function paint() {
  if (needFrames()) return;
  return nextFrame();
}

function nextFrame() {
  return new native.Promise((resolve) => {
    apply(native.frame, window, [resolve]);
    apply(native.timeout, window, [resolve, LATE_FRAME]);
  });
}

// One real frame and what its observers hear of it. They are told after the frame, some time, but all at once: when an
// observer of our own has heard, the others hear before the next turn.
async function observed() {
  if (needFrames()) return;
  const page = document.documentElement;
  if (!page) return nextFrame();
  return new native.Promise((resolve) => {
    const observer = new native.Observer(() => {
      observer.disconnect();
      resolve();
    });
    apply(native.observe, observer, [page]);
    apply(native.timeout, window, [resolve, LATE_FRAME]);
  });
}
