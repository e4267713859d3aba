// @ts-check
import { elementAt, placeOf } from "../place.js";
import { addFrame, equal, show } from "./check.js";

export const cases = {
  "the root element has an empty place": () => {
    equal(placeOf(document.documentElement), "");
    equal(elementAt("") === document.documentElement, true);
  },
  "a place counts the elements before it": () => {
    show("<p></p>text<p><b></b><i></i></p>");
    const element = document.querySelector("i");
    equal(placeOf(/** @type {Element} */ (element)), "1/1/1");
    equal(elementAt("1/1/1") === element, true);
  },
  "a place leads into closed shadow roots": () => {
    const root = show("<div></div>").attachShadow({ mode: "closed" });
    root.innerHTML = "<p></p><button></button>";
    equal(placeOf(root.lastChild), "1/0/s/1");
    equal(elementAt("1/0/s/1") === root.lastChild, true);
  },
  "a place leads into frames": async () => {
    const inner = await addFrame("<button></button>");
    const button = /** @type {Element} */ (inner.querySelector("button"));
    const place = placeOf(button);
    equal(place.endsWith("/f/1/0"), true);
    equal(elementAt(place) === button, true);
  },
  "there is nothing at a place beyond the tree": () => {
    show("<p></p>");
    for (const place of ["1/7", "1/0/0/0", "1/0/s", "1/0/f/0", "nonsense"]) {
      equal(elementAt(place), null);
    }
  },
};
