// @ts-check
import { sleep, turn } from "../natives.js";
import { streams } from "../streams.js";
import {
  areWorkersBusy,
  countChanges,
  giveUpPending,
  holdAs,
  holdFor,
  isEndless,
  isInside,
  isPending,
  learnEndless,
  observeChanges,
  release,
  traffic,
  trafficChange,
} from "../traffic.js";
import { equal, show } from "./check.js";

/**
 * @param {string} path
 */
function slow(path) {
  return [...traffic.pending.values()].filter(({ reason }) => reason.endsWith(path)).length;
}

export const cases = {
  "a request whose answer waits for an earlier one is heard of once": async () => {
    const earlier = holdFor("/earlier", true);
    const request = new XMLHttpRequest();
    let loads = 0;
    request.onload = () => loads++;
    request.open("GET", "/");
    request.send();
    await sleep(300);
    equal(loads, 0);
    release(earlier);
    equal([loads, request instanceof XMLHttpRequest, XMLHttpRequest.DONE], [1, true, 4]);
    equal(String(XMLHttpRequest).includes("[native code]"), true);
  },
  "requests to the site and its subdomains are inside": () => {
    settings.site = "app.test";
    equal(isInside("https://app.test/a?b"), true);
    equal(isInside("https://api.app.test/"), true);
    equal(isInside("https://notapp.test/"), false);
    equal(isInside("data:text/plain,a"), true);
    equal(isInside("http://"), false);
  },
  "an endless address is not inside, whatever its query": () => {
    traffic.endless.add(`${location.origin}/poll`);
    equal([isInside("/poll?since=1"), isInside("/polls")], [false, true]);
  },
  "endless addresses are bounded, and are addresses": () => {
    learnEndless("event:popstate");
    learnEndless(`http://app.test/${"x".repeat(2000)}`);
    equal(traffic.endless.size, 0);
    for (let at = 0; at < 300; at++) learnEndless(`http://app.test/${at}`);
    equal(traffic.endless.size, 100);
    equal([isEndless("http://app.test/7?a=b"), isEndless("http://app.test/700")], [true, false]);
  },
  "what was busy for half of the wait is endless, and nothing is pending any longer": async () => {
    const often = holdAs("http://app.test/often");
    await sleep(60);
    release(often);
    holdAs("http://app.test/often");
    holdAs("http://app.test/late");
    giveUpPending(100);
    equal([[...traffic.endless], isPending()], [["http://app.test/often"], false]);
  },
  "a request to an endless address is a stream": async () => {
    learnEndless(`${location.origin}/answer`);
    const answer = fetch("/answer");
    equal([isPending(), streams.open.size, streams.due.size], [false, 1, 1]);
    await answer;
    await turn();
    equal(streams.open.size, 0);
  },
  "a fetch holds the page until its body is read": async () => {
    const answer = fetch("/answer");
    equal(slow("/answer"), 1);
    const body = (await answer).text();
    equal(slow("/answer"), 1);
    await body;
    equal(traffic.pending.size, 0);
  },
  "a request by XMLHttpRequest holds the page until it ends": async () => {
    const request = new XMLHttpRequest();
    request.open("GET", "/answer");
    const ended = new Promise((resolve) => request.addEventListener("loadend", resolve));
    request.send();
    equal(slow("/answer"), 1);
    await ended;
    await turn();
    equal(traffic.pending.size, 0);
  },
  "a request to another host does not hold the page": async () => {
    const answer = fetch("http://outside.invalid/").catch(() => null);
    equal(traffic.pending.size, 0);
    await answer;
  },
  "an inserted script holds the page until it has loaded": async () => {
    await new Promise((resolve) => {
      if (document.readyState === "complete") resolve(null);
      else window.addEventListener("load", resolve);
    });
    const script = document.createElement("script");
    script.src = "/missing.js";
    const ended = new Promise((resolve) => {
      script.onload = resolve;
      script.onerror = resolve;
    });
    document.body.append(script);
    countChanges();
    equal(slow("/missing.js"), 1);
    await ended;
    await turn();
    equal(traffic.pending.size, 0);
  },
  "every change of the tree is counted, also in observed roots": () => {
    const host = show("<div></div>");
    const root = host.attachShadow({ mode: "closed" });
    observeChanges(root);
    const before = countChanges();
    equal(countChanges(), before);
    host.title = "changed";
    equal(countChanges(), before + 1);
    root.append("text");
    equal(countChanges(), before + 2);
  },
  "what ends wakes the wait": async () => {
    const token = holdAs("test");
    const change = trafficChange(60000);
    release(token);
    await change;
    equal(traffic.pending.size, 0);
  },
  "a worker holds the page until it answers": async () => {
    const source = "onmessage = (event) => postMessage(event.data)";
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    const answer = new Promise((resolve) => worker.addEventListener("message", resolve));
    equal(areWorkersBusy(), false);
    worker.postMessage(1);
    equal(traffic.workers.size, 1);
    await answer;
    await turn();
    equal(areWorkersBusy(), false);
  },
};
