// @ts-check
import { shared } from "../context.js";
import { native, sleep } from "../natives.js";
import { countOpen, settle } from "../settle.js";
import { holdAs, isPending, traffic } from "../traffic.js";
import { addFrame, equal, show } from "./check.js";

/** @param {number} milliseconds */
const settleWithin = (milliseconds) => settle(native.clock() + milliseconds, false);

export const cases = {
  "a quiet page settles": async () => {
    equal(await settleWithin(5000), true);
  },
  "timers and requests have ended when a page has settled": async () => {
    const load = async () => {
      const answer = await fetch("/answer");
      document.title = await answer.text();
      setTimeout(() => document.body.replaceChildren("done"), 3000);
    };
    setTimeout(load, 1000);
    equal(await settleWithin(5000), true);
    equal([document.title.startsWith("GET /answer"), document.body.textContent], [true, "done"]);
  },
  "a request that does not end is not waited for again": async () => {
    const answer = fetch("/slow").catch(() => null);
    equal(await settleWithin(300), false);
    equal([...traffic.endless], [`${location.origin}/slow`]);
    await answer;
  },
  "a request that does not end holds back no timer that is due long before": async () => {
    const answer = fetch("/slow").catch(() => null);
    setTimeout(() => document.body.replaceChildren("done"), 100);
    const settled = settleWithin(3000);
    await sleep(1600);
    equal([document.body.textContent, traffic.pending.size], ["done", 1]);
    equal([await settled, traffic.pending.size], [false, 0]);
    await answer;
  },
  "a timer that is due after an answer fires after it": async () => {
    const load = async () => {
      await fetch("/slow");
      document.body.append("answer ");
    };
    show("<p></p>");
    setTimeout(() => document.body.append("timer"), 4500);
    load();
    equal([await settleWithin(8000), document.body.textContent], [true, "answer timer"]);
  },
  "timers that a request held back fire when it is given up": async () => {
    const answer = fetch("/slow").catch(() => null);
    setTimeout(() => document.body.replaceChildren("done"), 4000);
    equal([await settleWithin(300), document.body.textContent], [false, "done"]);
    equal(await settleWithin(300), true);
    await answer;
  },
  "many answers in turn are slow, not endless": async () => {
    let asked = 0;
    const askOn = async () => {
      for (; asked < 9999; asked++) await fetch(`/answer${asked}`);
    };
    askOn();
    equal(await settleWithin(500), false);
    equal([...traffic.endless], []);
    asked = 9999;
  },
  "a request of a frame that is gone holds nothing": async () => {
    const page = await addFrame("<p>text</p>");
    holdAs("http://app.test/slow");
    for (const request of traffic.pending.values()) request.document = page;
    equal(isPending(), true);
    document.body.replaceChildren();
    equal([await settleWithin(5000), isPending()], [true, false]);
  },
  "transitions are brought to their end": async () => {
    const box = show('<p style="opacity: 0; transition: opacity 10s">text</p>');
    await settleWithin(5000);
    let ended = 0;
    box.addEventListener("transitionend", () => ended++);
    box.style.opacity = "1";
    equal([await settleWithin(5000), ended], [true, 1]);
  },
  "an endless animation is stopped": async () => {
    const box = show("<p>text</p>");
    const animation = box.animate([{ opacity: 0 }, { opacity: 1 }], {
      duration: 100,
      iterations: Infinity,
    });
    equal([await settleWithin(5000), animation.playState], [true, "paused"]);
  },
  "intersection observers have been called": async () => {
    const box = show("<p>text</p>");
    new IntersectionObserver(() => document.body.append("seen")).observe(box);
    await settleWithin(5000);
    equal(document.body.textContent, "textseen");
  },
  "open dialogs and details are counted": () => {
    show("<div><details open></details><details></details><dialog open></dialog></div>");
    equal(countOpen(), 2);
  },
  "a document that is being left ends the wait": async () => {
    shared.leaving = true;
    setTimeout(() => {}, 10);
    equal(await settleWithin(5000), true);
  },
  "without frames a page that draws is given up": async () => {
    await settleWithin(5000);
    settings.frames = false;
    show("<marquee>text</marquee>");
    equal([await settleWithin(5000), shared.unframed], [false, true]);
  },
};
