// @ts-check
import { shared } from "../context.js";
import { listenersOf } from "../listeners.js";
import { native } from "../natives.js";
import "../rewriting.js";
import { settle } from "../settle.js";
import { countChanges, traffic } from "../traffic.js";
import { equal, show } from "./check.js";

/** @param {number} milliseconds */
const settleWithin = (milliseconds) => settle(native.clock() + milliseconds, false);

/** The document has been read: what is written now replaces it. */
async function loaded() {
  await settleWithin(5000);
  equal(document.readyState, "complete");
}

export const cases = {
  "a document that is written anew and never closed settles": async () => {
    await loaded();
    document.write("<p>written</p>");
    equal(document.readyState, "loading");
    equal([await settleWithin(5000), document.body.textContent], [true, "written"]);
  },
  "changes are counted in a document that is written anew": async () => {
    await loaded();
    document.open();
    document.write("<p>written</p>");
    document.close();
    const before = countChanges();
    document.body.append("more");
    equal(countChanges() > before, true);
  },
  "listeners that the browser removes are forgotten, new ones are not": async () => {
    await loaded();
    window.addEventListener("keydown", () => {});
    document.write("<script>window.addEventListener('keyup', () => {})</scr" + "ipt>");
    equal([listenersOf(window, "keydown").length, listenersOf(window, "keyup").length], [0, 1]);
  },
  "what was inserted before does not hold the page": async () => {
    await loaded();
    const script = document.createElement("script");
    script.src = "/slow.js";
    document.body.append(script);
    countChanges();
    equal(traffic.pending.size, 1);
    document.open();
    equal(traffic.pending.size, 0);
  },
  "opening a window by the document is opening a window": () => {
    document.open("http://outside.invalid/", "_blank", "");
    equal(shared.notes, [["window", "http://outside.invalid/"]]);
  },
  "a document that is not written anew keeps its listeners": () => {
    show("<p>text</p>");
    window.addEventListener("keydown", () => {});
    const inert = document.implementation.createHTMLDocument("");
    inert.write("<p>other</p>");
    equal(listenersOf(window, "keydown").length, 1);
  },
};
