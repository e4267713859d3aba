// @ts-check
// The tree of the page as plain data, as a user perceives it, with shadow roots and frames of the
// same origin in their places. What to make of it is decided outside.
import { frameAround, innerDocument } from "./documents.js";
import { mistakeOf } from "./fields.js";
import { shadowOf } from "./listeners.js";
import { wellFormed } from "./natives.js";
import { withoutNumbers } from "./numbers.js";
import { isClipped, isOffPage, isParked } from "./parked.js";
import { hashOf } from "./raw.js";
import { refreshRules } from "./rules.js";

const MOST_NODES = 200000;
const DEEPEST = 2000;
const LONGEST_TEXT = 100000;
const LONGEST_ATTRIBUTE = 20000;
// All texts and attributes together, in characters: an answer of more than 64 MB ends the
// connection to the browser.
const MOST_CHARACTERS = 8_000_000;
const UNSEEN = new Set(["script", "style", "noscript", "template", "link", "meta", "head", "base"]);

/** @returns {CollectedTree} */
export function collectTree() {
  /** @type {CollectedTree} */
  const tree = { nodes: [], elements: [], numbers: new Map(), characters: 0, isCut: false };
  refreshRules();
  collect(document.documentElement, 0, tree, false);
  return tree;
}

/**
 * @param {Element} element
 * @param {number} depth
 * @param {CollectedTree} tree
 * @param {boolean} clipped whether it is inside an element that is clipped to nothing
 */
function collect(element, depth, tree, clipped) {
  const { nodes, elements, numbers } = tree;
  if (isFull(tree) || depth > DEEPEST) {
    tree.isCut = true;
    return;
  }
  if (UNSEEN.has(element.localName) || isIgnored(element)) return;
  const tag = element.localName;
  const isPlaced = isVisible(element);
  const isLabelled = labelOf(element) !== undefined;
  const inside = clipped || (isPlaced && isClipped(element));
  const visible = isLabelled || (isPlaced && !inside && !isParked(element));
  numbers.set(element, nodes.length);
  const attributes = attributesOf(element, tree);
  // Not for the eye, but for the ear: names of elements are made of it.
  if (isPlaced && !visible) attributes.push([".parked", ""]);
  nodes.push({ depth, tag, text: "", attributes, visible });
  elements.push(element);
  const shadow = shadowOf(element);
  if (shadow) {
    nodes.push({ depth: depth + 1, tag: "#shadow", text: "", attributes: [], visible });
    collectChildren(shadow, depth + 2, visible, tree, inside);
  }
  const inner = tag === "iframe" || tag === "frame" ? innerDocument(element) : null;
  if (inner?.documentElement) {
    nodes.push({ depth: depth + 1, tag: "#document", text: "", attributes: [], visible });
    collect(inner.documentElement, depth + 2, tree, inside);
  }
  collectChildren(element, depth + 1, visible, tree, inside);
}

/**
 * @param {Node} parent
 * @param {number} depth
 * @param {boolean} visible
 * @param {CollectedTree} tree
 * @param {boolean} clipped
 */
function collectChildren(parent, depth, visible, tree, clipped) {
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === 1) {
      collect(/** @type {Element} */ (child), depth, tree, clipped);
    } else if (child.nodeType === 3) {
      if (isFull(tree)) {
        tree.isCut = true;
        return;
      }
      const text = cut(/** @type {Text} */ (child).data, LONGEST_TEXT, tree);
      tree.nodes.push({ depth, tag: "#text", text, attributes: [], visible });
    }
  }
}

/**
 * @param {CollectedTree} tree
 */
function isFull(tree) {
  return tree.nodes.length >= MOST_NODES || tree.characters >= MOST_CHARACTERS;
}

/**
 * A text, which counts against what the tree may hold. A hash replaces the end of a long one, so
 * that texts with equal beginnings stay different.
 * @param {string} text
 * @param {number} longest
 * @param {CollectedTree} tree
 */
function cut(text, longest, tree) {
  if (text.length > MOST_CHARACTERS) tree.isCut = true;
  let kept = withoutNumbers(wellFormed(text.slice(0, MOST_CHARACTERS)));
  if (kept.length > longest) kept = `${kept.slice(0, longest)}… ${hashOf(kept.slice(longest))}`;
  tree.characters += kept.length;
  return kept;
}

/**
 * @param {Element} element
 */
function isIgnored(element) {
  return settings.ignore !== "" && element.matches(settings.ignore);
}

/**
 * Whether a user can see an element. Options, and what is in a frame, are as visible as their host.
 * @param {Element | null} element
 * @returns {boolean}
 */
export function isVisible(element) {
  const shown = /** @type {Element} */ (element);
  if (shown.localName === "option" || shown.localName === "optgroup") {
    return isVisible(shown.parentElement);
  }
  return isPresent(shown, true);
}

/**
 * The visible label of a box or a radio button: it shows whether that is checked, and takes its
 * clicks, wherever the page has put the field itself.
 * @param {Element} element
 * @returns {Element | undefined}
 */
export function labelOf(element) {
  const { localName, type, labels } = /** @type {HTMLInputElement} */ (element);
  if (localName !== "input" || (type !== "checkbox" && type !== "radio")) return undefined;
  return [...(labels ?? [])].find((label) => isPresent(label, true) && !isOffPage(label));
}

/**
 * The image on which an area lies.
 * @param {Element} area
 * @returns {HTMLImageElement | null}
 */
export function imageOf(area) {
  const map = /** @type {HTMLMapElement | null} */ (area.closest("map"));
  const tree = /** @type {Tree} */ (area.getRootNode());
  /** @type {HTMLImageElement[]} */
  const images = map?.name ? [.../** @type {any} */ (tree.querySelectorAll("img[usemap]"))] : [];
  return images.find((image) => image.useMap === `#${map?.name}`) ?? null;
}

/**
 * Whether an element has a place on the page, and so have the frames that it is in. An area is
 * where its image is.
 * @param {Element} element
 * @param {boolean} opacityProperty whether what is only transparent does not count
 * @returns {boolean}
 */
export function isPresent(element, opacityProperty) {
  if (element.localName === "area") {
    const image = imageOf(element);
    return image !== null && isPresent(image, opacityProperty);
  }
  const visibility = { visibilityProperty: true, opacityProperty, contentVisibilityAuto: true };
  if (!element.checkVisibility(visibility)) return false;
  const frame = frameAround(element.ownerDocument);
  return !frame || isPresent(frame, opacityProperty);
}

/**
 * The attributes, and what a user sees that no attribute says: `.value`, `.checked` and the like.
 * @param {Element} element
 * @param {CollectedTree} tree
 */
function attributesOf(element, tree) {
  /** @type {[string, string][]} */
  const attributes = [];
  for (const { name, value } of element.attributes) {
    attributes.push([wellFormed(name), cut(value, LONGEST_ATTRIBUTE, tree)]);
  }
  const field = /** @type {any} */ (element);
  const { localName, type } = field;
  if (localName === "option" && field.selected) attributes.push([".selected", ""]);
  if (localName === "input" && (type === "checkbox" || type === "radio")) {
    if (field.checked) attributes.push([".checked", ""]);
    if (field.indeterminate) attributes.push([".indeterminate", ""]);
  } else if (localName === "input" && type === "file") {
    const names = [...field.files].map((file) => file.name).join();
    if (names) attributes.push([".files", cut(names, LONGEST_ATTRIBUTE, tree)]);
  } else if (localName === "textarea" || localName === "input") {
    attributes.push([".value", cut(field.value, LONGEST_TEXT, tree)]);
  }
  const mistake = mistakeOf(field);
  if (mistake !== undefined) attributes.push([".invalid", wellFormed(mistake)]);
  if (field.popover && field.matches(":popover-open")) attributes.push([".open", ""]);
  return attributes;
}
