// @ts-check
import "../entry.js";
import { rawHash } from "../raw.js";
import { equal, show } from "./check.js";

const gate = () => /** @type {any} */ (window)[settings.secret];
const agent = () => gate()(settings.key);
const step = { kind: "click", place: "1/0", argument: "" };
const FIELDS = [
  ..."done missing raw settled notes passed".split(" "),
  ..."link leaving held unframed endless tampered outside".split(" "),
];

/** A button that counts its clicks. */
function showCounter() {
  const button = show("<button>0</button>");
  button.onclick = () => {
    button.textContent = Number(button.textContent) + 1;
    alert(button.textContent);
  };
  return button;
}

export const cases = {
  "the page cannot replace or list the agent": () => {
    const before = agent();
    equal(Object.keys(window).includes(settings.secret), false);
    for (const change of [
      () => Reflect.set(window, settings.secret, null),
      () => Reflect.deleteProperty(window, settings.secret),
      () => Reflect.defineProperty(window, settings.secret, { value: null }),
      () => Reflect.set(gate(), "call", null),
    ]) {
      equal(change(), false);
    }
    equal(agent() === before, true);
    const keys = [undefined, "", settings.secret, {}, { toString: () => settings.key }];
    equal(
      keys.map((key) => gate()(key) ?? null),
      [null, null, null, null, null],
    );
  },
  "a setter that the page gives to all objects does not get hold of the agent's state":
    async () => {
      let caught = 0;
      for (const name of ["linked", "mayOpen", "leavingPolls", "notes", "opened"]) {
        Object.defineProperty(Object.prototype, name, {
          configurable: true,
          set() {
            caught++;
          },
        });
      }
      showCounter();
      const result = await agent().run([step]);
      equal([caught, result.done], [0, 1]);
    },
  "all results have the same fields": async () => {
    showCounter();
    equal(Object.keys(await agent().settle()), FIELDS);
    equal(Object.keys(await agent().run([step])), FIELDS);
    equal(Object.keys(await agent().run([{ ...step, place: "1/9" }])), FIELDS);
  },
  "a path is performed and ends on a settled page": async () => {
    const button = showCounter();
    const result = await agent().run([step, step]);
    equal([result.done, result.settled, result.missing], [2, true, false]);
    equal([result.raw, button.textContent], [rawHash(), "2"]);
    equal([result.notes, result.passed], [[["dialog", "alert", "2"]], []]);
  },
  "a path stops at a page that was not expected": async () => {
    const button = showCounter();
    const result = await agent().run([{ ...step, expect: "0".repeat(32) }, step]);
    equal([result.done, button.textContent], [1, "1"]);
  },
  "a path stops at a step whose element is not there": async () => {
    showCounter();
    const result = await agent().run([step, { ...step, place: "1/9" }]);
    equal([result.done, result.missing], [1, true]);
  },
  "the notes of first-time steps are kept apart": async () => {
    showCounter();
    const result = await agent().run([
      { ...step, first: true },
      { ...step, first: true },
    ]);
    equal(result.passed, [[["dialog", "alert", "1"]]]);
    equal(result.notes, [["dialog", "alert", "2"]]);
  },
  "a page that wants to leave by itself is not stepped on": async () => {
    showCounter();
    location.href = "/elsewhere";
    const result = await agent().run([step]);
    equal([result.held, result.missing, result.done], [true, true, 0]);
  },
  "a page says whether it shows what every page of a session shows": async () => {
    showCounter();
    equal([(await agent().settle()).outside, settings.inside], [false, ""]);
    settings.inside = "#user";
    equal([(await agent().settle()).outside, (await agent().run([step])).outside], [true, true]);
    show("<button>0</button><p id='user'>ada</p>");
    equal((await agent().settle()).outside, false);
  },
  "aiming scrolls into view and gives the middle": () => {
    const style = "position: absolute; top: 3000px; left: 100px; width: 40px; height: 20px";
    show(`<p style='${style}'>text</p>`);
    const { x, y } = agent().aim("click", "1/0");
    equal([x, y > 0 && y < innerHeight], [120, true]);
    equal([agent().aim("click", "1/9"), agent().shared.pointed], [null, true]);
  },
  "addresses that another tab has learned do not hold the page": async () => {
    equal(agent().learn([`${location.origin}/slow`, "event:popstate"]), true);
    const answer = fetch("/slow").catch(() => null);
    const result = await agent().settle();
    equal([result.settled, [...agent().shared.traffic.endless].length], [true, 1]);
    await answer;
  },
  "clearing empties the storage": () => {
    localStorage.setItem("key", "value");
    sessionStorage.setItem("key", "value");
    equal(agent().clear(), true);
    equal([localStorage.length, sessionStorage.length], [0, 0]);
  },
};
