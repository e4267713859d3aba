// @ts-check
import { shared } from "../context.js";
import { rawHash } from "../raw.js";
import { addFrame, equal, show } from "./check.js";

/**
 * Whether a change of the page changes its hash.
 * @param {() => void} change
 */
function tells(change) {
  const before = rawHash();
  change();
  return rawHash() !== before;
}

export const cases = {
  "a hash is 32 hexadecimal digits, and the same for the same page": () => {
    const hash = rawHash();
    equal([/^[0-9a-f]{32}$/.test(hash), rawHash() === hash], [true, true]);
  },
  "texts, attributes and the title are told apart": () => {
    const element = show("<p>text</p>");
    equal(
      tells(() => element.append("more")),
      true,
    );
    equal(
      tells(() => element.setAttribute("class", "a")),
      true,
    );
    equal(
      tells(() => document.documentElement.setAttribute("lang", "en")),
      true,
    );
    document.title = "other";
    equal(
      tells(() => (document.title += "more")),
      true,
    );
  },
  "values that are not in the text are told apart": () => {
    show("<form><input><input type=checkbox><select><option>a<option>b</select></form>");
    const [text, box, select] = /** @type {any} */ (document.forms[0].elements);
    equal(
      tells(() => (text.value = "typed")),
      true,
    );
    equal(
      tells(() => (box.checked = true)),
      true,
    );
    equal(
      tells(() => (select.selectedIndex = 1)),
      true,
    );
  },
  "shadow roots, frames and open popovers are told apart": async () => {
    const root = show("<div></div><p popover></p>").attachShadow({ mode: "closed" });
    const popover = /** @type {HTMLElement} */ (document.querySelector("p"));
    equal(
      tells(() => root.append("text")),
      true,
    );
    equal(
      tells(() => popover.showPopover()),
      true,
    );
    const inner = await addFrame("<p>text</p>");
    equal(
      tells(() => inner.body.append("more")),
      true,
    );
  },
  "masked regions do not count": () => {
    show('<div><p>text</p><b title="a">b</b><i>c</i></div>');
    settings.masks = [
      { selector: "p", what: "text" },
      { selector: "b", what: "title" },
      { selector: "i", what: "tree" },
    ];
    const find = (/** @type {string} */ name) =>
      /** @type {HTMLElement} */ (document.querySelector(name));
    equal(
      tells(() => (find("p").textContent = "other")),
      false,
    );
    equal(
      tells(() => (find("b").title = "other")),
      false,
    );
    equal(
      tells(() => (find("i").innerHTML = "<u>other</u>")),
      false,
    );
    equal(
      tells(() => (find("b").textContent = "other")),
      true,
    );
  },
  "ignored elements do not count": () => {
    show("<div><p class=ad>text</p></div>");
    settings.ignore = ".ad";
    equal(
      tells(() => document.querySelector(".ad")?.append("more")),
      false,
    );
  },
  "the agent's own state does not count": () => {
    equal(
      tells(() => shared.notes?.push(["route", "/"])),
      false,
    );
  },
};
