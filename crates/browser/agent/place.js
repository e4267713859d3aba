// @ts-check
// Where an element is, as a text that outlives the element: child numbers from the root element,
// `s` for a step into a shadow root, `f` for a step into a frame.
import { frameAround, innerDocument } from "./documents.js";
import { shadowOf } from "./listeners.js";

/**
 * @param {Element} element
 */
export function placeOf(element) {
  const steps = [];
  /** @type {any} */
  let node = element;
  for (;;) {
    const parent = node.parentNode;
    if (!parent) break;
    if (parent.nodeType === 9) {
      const frame = frameAround(parent);
      if (!frame) break;
      steps.push("f");
      node = frame;
      continue;
    }
    let index = 0;
    let before = node.previousElementSibling;
    for (; before; before = before.previousElementSibling) index++;
    steps.push(index);
    if (parent.nodeType === 11) {
      steps.push("s");
      node = parent.host;
    } else {
      node = parent;
    }
  }
  return steps.reverse().join("/");
}

/**
 * The element at a place; null if there is none.
 * @param {string} place
 * @returns {any}
 */
export function elementAt(place) {
  /** @type {any} */
  let node = document.documentElement;
  if (place === "") return node;
  for (const step of place.split("/")) {
    if (!node) return null;
    if (step === "s") node = shadowOf(node);
    else if (step === "f") node = innerDocument(node)?.documentElement ?? null;
    else node = node.children[Number(step)] ?? null;
  }
  return node;
}
