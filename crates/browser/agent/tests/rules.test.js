// @ts-check
import { hasHoverRule, isShownByFocus, refreshRules } from "../rules.js";
import { equal, show } from "./check.js";

/**
 * The tags of the elements that a rule shows something for.
 * @param {string} css
 * @param {(element: Element) => boolean} test
 */
function tags(css, test) {
  show(`<style>${css}</style><ul><li><a href='#b'>a</a></li></ul><nav><p>b<i>c</i></p></nav>`);
  refreshRules();
  const elements = [...document.body.querySelectorAll("*")];
  return elements.filter(test).map((element) => element.localName);
}

export const cases = {
  "the element before the pseudo-class is hovered": () => {
    equal(tags("p:hover i { display: block }", hasHoverRule), ["p"]);
    equal(tags("nav > p:hover > i { display: block }", hasHoverRule), ["p"]);
    equal(tags("p:is(:hover, :focus) i { opacity: 1 }", hasHoverRule), ["p"]);
    equal(tags("li, p:not(:hover) i { display: none }", hasHoverRule), ["p"]);
    equal(tags("@media all { p:hover i { visibility: visible } }", hasHoverRule), ["p"]);
  },
  "nested rules have the selectors around them": () => {
    equal(tags("p { &:hover i { display: block } }", hasHoverRule), ["p"]);
    equal(tags("p { &:hover { i { display: block } } }", hasHoverRule), ["p"]);
    equal(tags("nav { p:hover { i { display: block } } }", hasHoverRule), ["p"]);
    equal(tags("p { &:hover { @media all { i { display: block } } } }", hasHoverRule), ["p"]);
    equal(tags("@scope (p) { :scope:hover i { display: block } }", hasHoverRule), ["p"]);
  },
  "a rule on the hovered element itself, or for everything, shows nothing": () => {
    equal(tags("p:hover { display: block }", hasHoverRule), []);
    equal(tags("p { &:hover { opacity: 0.5 } }", hasHoverRule), []);
    equal(tags("p:hover::after { display: block }", hasHoverRule), []);
    equal(tags(":hover i { display: block }", hasHoverRule), []);
    equal(tags("p:hover i { color: red }", hasHoverRule), []);
  },
  "links within the page that the focus brings into view are found": () => {
    equal(tags("a:focus { left: 0 }", isShownByFocus), ["a"]);
    equal(tags("a { &:focus-visible { clip: auto } }", isShownByFocus), ["a"]);
    equal(tags("li:focus-within { top: 0 }", isShownByFocus), ["a"]);
    equal(tags(":focus { position: relative }", isShownByFocus), []);
    equal(tags("a:focus { color: red }", isShownByFocus), []);
  },
  "rules are read again when there are more": () => {
    equal(tags("p { color: red }", hasHoverRule), []);
    const more = document.createElement("style");
    more.textContent = "p:hover i { display: block }";
    document.body.append(more);
    refreshRules();
    equal(hasHoverRule(/** @type {Element} */ (document.querySelector("p"))), true);
  },
};
