// @ts-check
import { isClipped, isOffPage, isParked } from "../parked.js";
import { equal, show } from "./check.js";

/** @param {string} style */
const offPage = (style) => isOffPage(show(`<p style='${style}'>text</p>`));
/** @param {string} style */
const clipped = (style) => isClipped(show(`<p style='${style}'>text</p>`));
/** @param {string} html */
const decoration = (html) => isParked(show(html));

const RIPPLE = "position: absolute; width: 9px; height: 9px; pointer-events: none";

export const cases = {
  "what is left of the page or above it is off the page": () => {
    equal(offPage("position: absolute; left: -9999px"), true);
    equal(offPage("position: absolute; top: -400px"), true);
    equal(offPage("transform: translateX(-3000px)"), true);
    equal(offPage("position: absolute; top: 4000px"), false);
    equal(offPage("position: absolute; left: 4000px"), false);
    equal(offPage(""), false);
  },
  "what is fixed outside the view is off the page": () => {
    equal(offPage("position: fixed; top: 0; left: 100%"), true);
    equal(offPage("position: fixed; top: 100%"), true);
    equal(offPage("position: fixed; top: 0"), false);
  },
  "what a page that cannot be scrolled has at its right is off the page": () => {
    document.body.style.overflowX = "hidden";
    equal(offPage("position: absolute; left: 4000px"), true);
  },
  "what was scrolled out of view is on the page": () => {
    show("<p>first</p><p style='height: 5000px'>second</p>");
    window.scrollTo(0, 3000);
    equal(isOffPage(/** @type {Element} */ (document.querySelector("p"))), false);
  },
  "a page from right to left goes on at its left": () => {
    document.documentElement.dir = "rtl";
    equal(offPage("position: absolute; right: 3000px; width: 50px"), false);
  },
  "texts for screen readers are clipped": () => {
    equal(clipped("position: absolute; width: 1px; height: 1px; overflow: hidden"), true);
    equal(clipped("position: absolute; height: 1px; clip: rect(1px, 1px, 1px, 1px)"), true);
    equal(clipped("position: absolute; width: 1px; clip-path: inset(50%)"), true);
    equal(clipped("width: 1px; height: 1px; overflow: hidden"), false);
    equal(clipped("position: absolute"), false);
  },
  "what is drawn over others and says nothing is decoration": () => {
    equal(decoration(`<span style='${RIPPLE}'></span>`), true);
    equal(decoration(`<div style='${RIPPLE}'><span><i></i></span></div>`), true);
    equal(decoration(`<div style='${RIPPLE}'>text</div>`), false);
    equal(decoration(`<div style='${RIPPLE}'><img alt='a'></div>`), false);
    equal(decoration(`<div role=alert style='${RIPPLE}'></div>`), false);
    equal(decoration("<span style='position: absolute'></span>"), false);
    equal(decoration("<span style='pointer-events: none'></span>"), false);
  },
  "a parked element is any of these": () => {
    equal(isParked(show(`<span style='${RIPPLE}'></span>`)), true);
    equal(isParked(show("<p style='position: absolute; left: -999px'>a</p>")), true);
    equal(isParked(show("<p>a</p>")), false);
  },
};
