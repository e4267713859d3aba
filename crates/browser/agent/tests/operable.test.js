// @ts-check
import { coverOfViewport, hindranceOf, innerBoxOf } from "../operable.js";
import { equal, show } from "./check.js";

const isOperable = (/** @type {Element} */ element) => hindranceOf(element, coverOfViewport) === "";
/** @param {string} html */
const operable = (html) => isOperable(show(html));
/** @param {string} html */
const hindrance = (html) => hindranceOf(show(html), coverOfViewport);
const FULL = "position: fixed; inset: 0";

export const cases = {
  "what is visible and enabled is operable": () => {
    equal(operable("<button>b</button>"), true);
    equal(operable("<button style='opacity: 0'>b</button>"), true);
    equal(operable("<a href='/'><div>block</div></a>"), true);
  },
  "what is hidden or disabled is not operable": () => {
    equal(operable("<button hidden>b</button>"), false);
    equal(operable("<button style='visibility: hidden'>b</button>"), false);
    equal(operable("<button disabled>b</button>"), false);
    equal(operable("<button aria-disabled=true>b</button>"), false);
    equal(operable("<button inert>b</button>"), false);
  },
  "what is covered is not operable": () => {
    equal(operable(`<button>b</button><div style='${FULL}'></div>`), false);
  },
  "what hinders has a name": () => {
    equal(hindrance("<button>b</button>"), "");
    equal(hindrance("<button hidden>b</button>"), "invisible");
    equal(hindrance("<button hidden disabled>b</button>"), "invisible");
    equal(hindrance("<button style='position: absolute; top: -3000px'>b</button>"), "invisible");
    equal(hindrance("<button disabled>b</button>"), "disabled");
    equal(hindrance("<button inert>b</button>"), "disabled");
    equal(hindrance(`<button>b</button><div style='${FULL}'></div>`), "covered");
    const button = show("<button>b</button><dialog><i>text</i></dialog>");
    /** @type {HTMLDialogElement} */ (document.querySelector("dialog")).showModal();
    equal(hindranceOf(button, coverOfViewport), "covered");
  },
  "what is below the view is operable, unless a dialog covers the view": () => {
    const below = "<button style='position: absolute; top: 3000px'>b</button>";
    equal(operable(below), true);
    equal(operable(`${below}<div style='${FULL}'></div>`), false);
    equal(operable("<button style='position: absolute; top: -3000px'>b</button>"), false);
  },
  "what is at the lower edge of the view is operable, whatever fraction of a pixel": () => {
    const room = "<div style='position: absolute; top: 0; width: 1px; height: 3000px'></div>";
    for (let above = 30; above > -5; above -= 0.25) {
      const style = `position: absolute; left: 8px; top: ${innerHeight - above}px; height: 22px`;
      equal([above, operable(`<button style='${style}'>b</button>${room}`)], [above, true]);
    }
  },
  "what is under a modal dialog is not operable": () => {
    const button = show("<button>b</button><dialog><i>text</i></dialog>");
    /** @type {HTMLDialogElement} */ (document.querySelector("dialog")).showModal();
    equal(isOperable(button), false);
  },
  "a checkbox under its own label is operable": () => {
    const label = "<label for=box style='position: absolute; inset: 0'>label</label>";
    show(`${label}<input id=box type=checkbox>`);
    const box = /** @type {Element} */ (document.querySelector("input"));
    equal(isOperable(box), true);
  },
  "a box that is out of sight is operated by its label": () => {
    const box = (/** @type {string} */ style) => {
      show(`<label>a<input type=checkbox style='${style}'></label>`);
      return isOperable(/** @type {Element} */ (document.querySelector("input")));
    };
    equal(box("position: absolute; left: -9999px"), true);
    equal(box("display: none"), true);
    equal(operable("<input type=checkbox style='display: none'>"), false);
  },
  "an area has the box of its coordinates on the image": () => {
    const style = "position: absolute; left: 10px; top: 20px";
    const image = `<img usemap='#m' style='${style}' width=90 height=90 alt=''>`;
    show(`${image}<map name=m><area shape=circle coords='40,40,10' href='/a'></map>`);
    const box = innerBoxOf(/** @type {Element} */ (document.querySelector("area")));
    equal([box?.left, box?.top, box?.width, box?.height], [40, 50, 20, 20]);
  },
  "the cover is the outermost fixed element": () => {
    equal(coverOfViewport(), null);
    const outer = show(`<div style='${FULL}'><div style='${FULL}'></div></div>`);
    equal(coverOfViewport() === outer, true);
  },
  "the box of an element without an area is that of what is in it": () => {
    equal(innerBoxOf(show("<p></p>")), undefined);
    equal(innerBoxOf(show("<p><b></b></p>")), undefined);
    equal(innerBoxOf(show("<p>text</p>"))?.left, 8);
    const floating = show("<nav><ul style='float: left'><li>x</ul></nav>");
    equal([floating.clientHeight, (innerBoxOf(floating)?.height ?? 0) > 0], [0, true]);
  },
};
