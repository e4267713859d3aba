// @ts-check
import { findOffers } from "../offers.js";
import { collectTree } from "../tree.js";
import { equal, show } from "./check.js";

const nothing = () => {};

/** What is offered, in short. */
function offered() {
  const tree = collectTree();
  return findOffers(tree).offers.map(({ kind, node, argument }) => {
    return `${kind} ${tree.nodes[node].tag} ${argument}`.trim();
  });
}

/** @param {string} html */
function offeredOn(html) {
  show(html);
  return offered();
}

export const cases = {
  "what is hidden, disabled or out of scope is withheld, with the reason": () => {
    show(
      `<button hidden>a</button><button disabled>b</button><a href='http://outside.invalid/'>c</a>`,
    );
    const { offers, withheld, unlisted, beyond } = findOffers(collectTree());
    equal(
      withheld.map(({ kind, argument, reason }) => `${kind} ${reason} ${argument}`.trim()),
      ["click invisible", "click disabled", "link out-of-scope http://outside.invalid/"],
    );
    equal([offers, unlisted, beyond], [[], 0, 0]);
  },
  "what is beyond the limits is counted": () => {
    show(`<button hidden>a</button>`.repeat(203));
    const { withheld, unlisted } = findOffers(collectTree());
    equal([withheld.length, unlisted], [200, 3]);
    show(`<select>${"<option>a".repeat(40)}</select>`);
    equal(findOffers(collectTree()).beyond, 7);
  },
  "nodes that a selector leaves alone are named, with what is in them": () => {
    show("<p class=danger><button>a</button></p><button>b</button>");
    equal(findOffers(collectTree()).avoided, []);
    settings.avoid = ".danger";
    const tree = collectTree();
    equal(
      findOffers(tree).avoided.map((node) => tree.nodes[node].tag),
      ["p", "button"],
    );
  },
  "controls are offered by what they are": () => {
    equal(offeredOn("<button>b</button>"), ["click button"]);
    equal(offeredOn("<input type=checkbox>"), ["check input"]);
    equal(offeredOn("<input type=radio checked>"), []);
    equal(offeredOn("<input type=submit>"), ["click input"]);
    equal(offeredOn("<textarea></textarea>"), ["input textarea argiope"]);
    equal(offeredOn("<select><option>a<option>b</select>"), ["choose select 1"]);
    equal(offeredOn("<details><summary>s</summary></details>"), ["click summary"]);
  },
  "a form without a button is offered to be sent": () => {
    equal(offeredOn("<form><input value=argiope></form>"), ["submit form"]);
    equal(offeredOn("<form><input value=argiope><button>b</button></form>"), ["click button"]);
  },
  "links are offered by address, unless something handles the click": () => {
    const { origin } = location;
    equal(offeredOn("<a href='/a'>a</a>"), [`link a ${origin}/a`]);
    equal(offeredOn("<a href='http://outside.invalid/'>a</a>"), []);
    equal(offeredOn("<a href='javascript:void 0'>a</a>"), ["click a"]);
    equal(offeredOn("<a href='#top'>a</a>"), []);
    show("<a href='/a'>a</a>").addEventListener("click", nothing);
    equal(offered(), ["click a"]);
  },
  "a fragment is offered where the page routes by it": () => {
    show("<a href='#top'>a</a>");
    window.addEventListener("hashchange", nothing);
    equal(offered(), ["click a"]);
  },
  "each family of listeners is offered as its kind": () => {
    const box = show("<p tabindex=0>text</p>");
    const types = ["dblclick", "contextmenu", "pointerdown", "pointerup", "mouseover", "focus"];
    for (const type of types) box.addEventListener(type, nothing);
    const kinds = ["click", "double-click", "context-menu", "long-press", "hover", "focus"];
    equal(
      offered(),
      kinds.map((kind) => `${kind} p`),
    );
  },
  "the keys that a handler names are offered": () => {
    const box = show("<p>text</p>");
    box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter");
    equal(offered(), ["key p Enter"]);
    box.addEventListener("keyup", (/** @type {KeyboardEvent} */ event) => event.keyCode === 27);
    equal(offered(), ["key p Enter", "key p Escape"]);
  },
  "a handler that names no key is offered none": () => {
    const box = show("<p>text</p>");
    document.addEventListener("keydown", nothing);
    box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "x");
    equal(offered(), []);
    // Words that contain the name of a key are no keys.
    box.addEventListener("keyup", () => "reEnter isEntered pointerEnter");
    equal(offered(), []);
    document.addEventListener("keyup", () => ({ KEY_ESC: 1 }));
    equal(offered(), ["key body Escape"]);
  },
  "each source is offered to be dragged onto each target": () => {
    const source = show("<p draggable=true>a</p><p>b</p>");
    equal(offered(), []);
    source.nextSibling.addEventListener("drop", nothing);
    const [drag] = findOffers(collectTree()).offers;
    equal([drag.kind, drag.place.replace(/~[^>]*/g, "")], ["drag", "1/0>1/1"]);
  },
  "a rule that shows something under the pointer is offered": () => {
    show("<style>p i { display: none } p:hover i { display: block }</style><p>a<i>b</i></p>");
    equal(offered(), ["hover p"]);
  },
  "a nested rule is for the elements of the rule around it": () => {
    const css = "p { & i { display: none } &:hover { i { display: block } } }";
    show(`<style>${css}</style><p>a<i>b</i></p><b>c</b><b>d</b>`);
    equal(offered(), ["hover p"]);
    const flat = "i { display: none } u, p { &:hover > i { display: block } }";
    show(`<style>${flat}</style><p>a<i>b</i></p><b>c</b>`);
    equal(offered(), ["hover p"]);
  },
  "a link without text and the areas of an image are offered": () => {
    const { origin } = location;
    equal(offeredOn("<p>a<a href='/bare'></a></p>"), [`link a ${origin}/bare`]);
    const map = "<map name=m><area href='/left' coords='0,0,20,40'></map>";
    const image = "<img usemap='#m' width=40 height=40 alt='map'>";
    equal(offeredOn(`${image}${map}`), [`link area ${origin}/left`]);
    equal(offeredOn(map), []);
    equal(offeredOn(`<div hidden>${image}</div>${map}`), []);
  },
  "a link that only the focus shows is never offered": () => {
    const css = "a { position: absolute; left: -999px } a:focus { left: 0 }";
    show(`<style>${css}</style><a href='#main'>skip</a><p id=main>text</p>`);
    window.addEventListener("hashchange", nothing);
    equal(offered(), []);
    /** @type {HTMLElement} */ (document.querySelector("a")).focus();
    equal(offered(), []);
  },
  "a page that listens for scrolling is offered only where there is room": () => {
    show("<p>short</p>");
    window.addEventListener("scroll", nothing);
    equal(offered(), []);
    show("<p style='height: 5000px'>long</p>");
    equal(offered(), ["scroll html"]);
  },
  "what is covered or hidden is not offered": () => {
    equal(offeredOn("<button hidden>b</button>"), []);
    equal(offeredOn("<button>b</button><div style='position: fixed; inset: 0'></div>"), []);
  },
};
