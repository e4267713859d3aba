// @ts-check
import { clock, fireOne, HORIZON, nextDue, passTime, pause } from "../clock.js";
import { equal } from "./check.js";

/** Fires what the page must be waited for. */
function runAll() {
  const until = clock.at + HORIZON;
  let fired = 0;
  for (let due = nextDue(until); due < Infinity && fired < 500; due = nextDue(until)) {
    fireOne(due);
    fired++;
  }
  return fired;
}

export const cases = {
  "timers run in the order of their due times": () => {
    /** @type {string[]} */
    const order = [];
    setTimeout(() => order.push("late"), 200);
    setTimeout((/** @type {string} */ text) => order.push(text), 100, "early");
    setTimeout(() => order.push("first"));
    runAll();
    equal(order, ["first", "early", "late"]);
    equal(clock.at, 200);
  },
  "times of events agree with the clock of the page, and do not change": () => {
    const early = new Event("x");
    const first = early.timeStamp;
    setTimeout(() => {}, 3000);
    runAll();
    pause();
    const before = performance.now();
    const late = new Event("x");
    equal(late.timeStamp >= before && late.timeStamp <= performance.now(), true);
    equal([early.timeStamp, late.timeStamp - first >= 4000], [first, true]);
  },
  "a pause runs no timer": () => {
    let runs = 0;
    setTimeout(() => runs++, 10);
    const before = Date.now();
    pause();
    equal([runs, Date.now() - before >= 1000], [0, true]);
  },
  "a cleared timer does not run": () => {
    let runs = 0;
    clearTimeout(setTimeout(() => runs++, 10));
    cancelAnimationFrame(requestAnimationFrame(() => runs++));
    equal([runAll(), runs], [0, 0]);
  },
  "a timer beyond the horizon is not waited for": () => {
    setTimeout(() => {}, HORIZON + 1);
    equal(nextDue(clock.at + HORIZON), Infinity);
  },
  "an interval without effect is waited for once, but runs as time passes": async () => {
    let runs = 0;
    setInterval(() => runs++, 100);
    equal(runAll(), 1);
    await passTime(350);
    equal([runs, clock.at], [4, 450]);
  },
  "an interval that changes the page is waited for until it ends": () => {
    document.body.replaceChildren();
    const filling = setInterval(() => {
      document.body.append("x");
      if (document.body.childNodes.length === 7) clearInterval(filling);
    }, 100);
    equal([runAll(), document.body.childNodes.length], [7, 7]);
  },
  "an interval that does not end is waited for until the horizon, once": () => {
    setInterval(() => document.body.append("x"), 1000);
    equal([runAll(), runAll()], [5, 0]);
  },
  "a timeout that re-arms itself without effect is not waited for": () => {
    let runs = 0;
    const poll = () => {
      runs++;
      setTimeout(poll, 10);
    };
    poll();
    runAll();
    equal(runs, 4);
  },
  "a timeout that re-arms itself and changes the page is waited for": () => {
    const grow = () => {
      document.body.append("x");
      if (document.body.childNodes.length < 20) setTimeout(grow, 10);
    };
    document.body.replaceChildren();
    grow();
    runAll();
    equal(document.body.childNodes.length, 20);
  },
  "frames that are due together run together": () => {
    const times = new Set();
    requestAnimationFrame((time) => times.add(time));
    requestAnimationFrame((time) => times.add(time));
    equal([fireOne(Infinity), clock.timers.size], [true, 0]);
    equal(fireOne(Infinity), false);
  },
  "a timeout in text is evaluated in the page": () => {
    setTimeout("window.evaluated = 1", 0);
    runAll();
    equal(/** @type {any} */ (window).evaluated, 1);
  },
  "what a timer throws does not stop the others": () => {
    let runs = 0;
    setTimeout(() => {
      throw new Error("thrown by the page");
    });
    setTimeout(() => runs++, 1);
    runAll();
    equal(runs, 1);
  },
  "dates run ahead by the virtual time": async () => {
    const before = Date.now();
    await passTime(3_600_000);
    const now = new Date();
    const passed = now.getTime() - before;
    equal(passed >= 3_600_000 && passed < 3_660_000, true);
    equal(performance.now() > 3_600_000, true);
    equal(new Date(0).getTime(), 0);
    equal(new Date() instanceof Date, true);
  },
  "a frozen clock moves with virtual time only": async () => {
    settings.freeze = 1000;
    equal(Date.now(), 1000);
    await passTime(5);
    const now = new Date();
    equal([Date.now(), now.getTime()], [1005, 1005]);
  },
  "hooked functions look native": () => {
    for (const hooked of [setTimeout, requestAnimationFrame, Date, Date.now]) {
      equal(hooked.toString().includes("[native code]"), true);
    }
  },
};
