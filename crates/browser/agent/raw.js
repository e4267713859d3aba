// @ts-check
// The raw hash: it tells a page that was seen before without a look at it. Native serialisation
// and one pass over the text; what is not in the text is added (values of fields, shadow roots,
// frames, open popovers).
import { isChanged } from "./changes.js";
import { shared } from "./context.js";
import { framesOf, innerDocument, shadowRoots } from "./documents.js";
import { mistakeOf } from "./fields.js";
import { hooked } from "./listeners.js";
import { withoutNumbers } from "./numbers.js";
import { placeOf } from "./place.js";

export function rawHash() {
  const hash = new Hash();
  addDocument(hash, document);
  return hash.hex();
}

/**
 * @param {string} text
 */
export function hashOf(text) {
  const hash = new Hash();
  hash.add(text);
  return hash.hex();
}

class Hash {
  constructor() {
    this.a = 0x9e3779b1;
    this.b = 0x85ebca77;
    this.c = 0xc2b2ae3d;
    this.d = 0x27d4eb2f;
  }

  /** @param {string} text */
  add(text) {
    let { a, b, c, d } = this;
    const length = text.length;
    a = Math.imul(a ^ length, 0x2c1b3c6d);
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x85ebca6b);
      b = Math.imul(b ^ code, 0xc2b2ae35) + a;
      c = Math.imul(c ^ (code + b), 0x27d4eb2f);
      d = Math.imul((d << 5) | (d >>> 27), 0x165667b1) ^ c;
    }
    this.a = (a ^ (a >>> 15)) | 0;
    this.b = (b ^ (b >>> 13)) | 0;
    this.c = (c ^ (c >>> 16)) | 0;
    this.d = (d ^ (d >>> 14)) | 0;
  }

  hex() {
    let { a, b, c, d } = this;
    for (let round = 0; round < 4; round++) {
      a = Math.imul(a ^ (d >>> 15), 0x2c1b3c6d) ^ b;
      b = Math.imul(b ^ (a >>> 13), 0x297a2d39) ^ c;
      c = Math.imul(c ^ (b >>> 16), 0x85ebca6b) ^ d;
      d = Math.imul(d ^ (c >>> 14), 0xc2b2ae35) ^ a;
    }
    return [a, b, c, d].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

/**
 * @param {Hash} hash
 * @param {Document} page
 */
function addDocument(hash, page) {
  const root = page.documentElement;
  if (!root) return;
  hash.add(withoutNumbers(page.title));
  for (const { name, value } of root.attributes) hash.add(`${name}=${value}`);
  addTree(hash, page.body ?? root, page);
}

/**
 * @param {Hash} hash
 * @param {Element} root
 * @param {Document} page
 */
function addTree(hash, root, page) {
  hash.add(withoutNumbers(markup(root, page)));
  addFields(hash, root);
  if (hooked.hasShadows) {
    for (const shadow of shadowRoots(root)) {
      hash.add(shadow.innerHTML);
      addFields(hash, shadow);
    }
  }
  for (const frame of framesOf(page)) {
    const inner = innerDocument(frame);
    if (inner) addDocument(hash, inner);
  }
  if (root.querySelector("[popover]")) {
    for (const open of root.querySelectorAll(":popover-open")) hash.add(placeOf(open));
  }
  if (shared.pointed) {
    const under = page.querySelectorAll(":hover");
    if (under.length) hash.add(placeOf(under[under.length - 1]));
  }
}

/**
 * The text of the tree without what was found to change from load to load.
 * @param {Element} root
 * @param {Document} page
 */
function markup(root, page) {
  if (settings.masks.length === 0 && !settings.ignore) return root.outerHTML;
  const copy = inertDocument().importNode(root, true);
  if (settings.ignore) {
    for (const element of copy.querySelectorAll(settings.ignore)) element.remove();
  }
  if (page === document) for (const mask of settings.masks) blank(copy, mask);
  return copy.outerHTML;
}

/** @returns {Document} */
function inertDocument() {
  shared.inert ??= document.implementation.createHTMLDocument("");
  return shared.inert;
}

/**
 * @param {Hash} hash
 * @param {Tree} root
 */
function addFields(hash, root) {
  for (const element of root.querySelectorAll("input,textarea,select")) {
    const field = /** @type {any} */ (element);
    if (field.localName === "select") {
      for (const option of field.selectedOptions) hash.add(`o${option.index}`);
    } else if (field.type === "checkbox" || field.type === "radio") {
      hash.add(field.checked ? "1" : field.indeterminate ? "?" : "0");
    } else {
      hash.add(`=${withoutNumbers(field.value)}`);
    }
    if (!field.form) continue;
    // What the page offers depends on it.
    if (isChanged(field)) hash.add("changed");
    const mistake = mistakeOf(field);
    if (mistake !== undefined) hash.add(mistake);
  }
}

/**
 * Blanks one volatile region of the copy: a text, an attribute or a whole element.
 * @param {Element} copy
 * @param {Mask} mask
 */
function blank(copy, { selector, what }) {
  for (const element of copy.querySelectorAll(selector)) {
    if (what === "tree") element.remove();
    else if (what === "text") blankText(element);
    else element.removeAttribute(what);
  }
}

/**
 * @param {Element} element
 */
function blankText(element) {
  for (const node of element.childNodes) {
    if (node.nodeType === 3) /** @type {Text} */ (node).data = "";
  }
}
