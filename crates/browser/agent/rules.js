// @ts-check
// What style rules say about the pointer and the focus: which elements show something while the
// pointer is on them, and which are shown only while they have the focus. Nested rules are read
// with the selectors around them.

// Pages may nest lists of selectors: their product is cut here.
const MOST_SELECTORS = 2000;
// Properties that show or hide what the pointer reveals.
const SHOWING = ["display", "visibility", "opacity"];
// Properties that bring an element into view.
const REVEALING = [
  ...SHOWING,
  ...["position", "left", "top", "right", "bottom", "transform", "translate"],
  ...["clip", "clipPath", "width", "height", "margin", "marginLeft", "marginTop", "inset"],
];

/**
 * @typedef {object} PageRules
 * @property {number} look the look that counted the rules
 * @property {CSSStyleSheet[]} sheets the style sheets when they were read
 * @property {number[]} counts how many rules each had
 * @property {Set<string>} hovers selectors of elements that show something under the pointer
 * @property {Set<string>} focused selectors of elements that the focus brings into view
 */

/** @type {WeakMap<Document, PageRules>} */
const knownRules = new WeakMap();
// How many looks there were: each counts the rules of a document once.
let looks = 0;

/** Style sheets may have changed: the next question counts the rules again. */
export function refreshRules() {
  looks++;
}

/**
 * Whether a style rule shows or hides something while the pointer is on this element.
 * @param {Element} element
 */
export function hasHoverRule(element) {
  return matchesAny(element, rulesOf(element.ownerDocument).hovers);
}

/**
 * Whether an element is a link within the page that appears only while it has the focus, as links
 * that skip the navigation do. Where the focus is must not decide what a page shows.
 * @param {Element} element
 */
export function isShownByFocus(element) {
  const { focused } = rulesOf(element.ownerDocument);
  if (focused.size === 0 || !isSkipLink(element)) return false;
  for (let node = /** @type {Element | null} */ (element); node; node = node.parentElement) {
    const links = node === element ? [] : [...node.querySelectorAll("a,button,input,select")];
    if (!links.every(isSkipLink)) return false;
    if (matchesAny(node, focused)) return true;
  }
  return false;
}

/**
 * @param {Element} element
 */
function isSkipLink(element) {
  return element.localName === "a" && /^#./.test(element.getAttribute("href") ?? "");
}

/**
 * @param {Element} element
 * @param {Set<string>} selectors
 */
function matchesAny(element, selectors) {
  for (const selector of selectors) {
    try {
      if (element.matches(selector)) return true;
    } catch {
      // What is left of a selector need not be one.
    }
  }
  return false;
}

/**
 * @param {Document} page
 * @returns {PageRules}
 */
function rulesOf(page) {
  const known = knownRules.get(page);
  if (known?.look === looks) return known;
  const sheets = [...page.styleSheets];
  const counts = sheets.map((sheet) => rulesIn(sheet).length);
  const isKnown = (/** @type {CSSStyleSheet} */ sheet, /** @type {number} */ index) =>
    known?.sheets[index] === sheet && known.counts[index] === counts[index];
  if (known?.sheets.length === sheets.length && sheets.every(isKnown)) {
    known.look = looks;
    return known;
  }
  /** @type {PageRules} */
  const read = { look: looks, sheets, counts, hovers: new Set(), focused: new Set() };
  for (const sheet of sheets) collectRules(rulesIn(sheet), null, read);
  knownRules.set(page, read);
  return read;
}

/**
 * @param {CSSStyleSheet} sheet
 * @returns {ArrayLike<any>}
 */
function rulesIn(sheet) {
  try {
    return sheet.cssRules;
  } catch {
    // A style sheet of another origin cannot be read.
    return [];
  }
}

/**
 * @param {ArrayLike<any>} rules
 * @param {string[] | null} around the selectors of the rule around these
 * @param {PageRules} read
 */
function collectRules(rules, around, read) {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index];
    const isStyle = typeof rule.selectorText === "string" && !!rule.style;
    let selectors = isStyle ? resolveNesting(rule.selectorText, around) : around;
    if (typeof rule.start === "string" && "end" in rule) selectors = splitAt(rule.start, ",");
    if (rule.cssRules?.length) collectRules(rule.cssRules, selectors, read);
    if (!rule.style || !selectors) continue;
    const sets = (/** @type {string} */ name) => !!rule.style[name];
    if (SHOWING.some(sets)) for (const each of selectors) addHover(each, read);
    if (REVEALING.some(sets)) for (const each of selectors) addFocused(each, read);
  }
}

/**
 * The selectors of a rule by themselves: `&` stands for the selector of the rule around it.
 * @param {string} text
 * @param {string[] | null} around
 */
function resolveNesting(text, around) {
  const own = splitAt(text, ",");
  if (!around) return own;
  const all = [];
  for (const parent of around) {
    for (const selector of own) {
      const scope = `:is(${parent})`;
      const isNamed = /&|:scope/.test(selector);
      all.push(isNamed ? selector.replace(/&|:scope\b/g, scope) : `${scope} ${selector}`);
      if (all.length >= MOST_SELECTORS) return all;
    }
  }
  return all;
}

/**
 * Another element must appear: a rule on the hovered element itself shows nothing new.
 * @param {string} selector
 * @param {PageRules} read
 */
function addHover(selector, read) {
  if (!selector.includes(":hover")) return;
  // What is hidden unless the pointer is there appears under the pointer.
  const compounds = splitCompounds(selector.replace(/:not\(\s*:hover\s*\)/g, ":hover"));
  const at = compounds.findIndex((compound) => compound.includes(":hover"));
  if (at < 0 || at === compounds.length - 1) return;
  const hovered = compounds.slice(0, at + 1).join("");
  // The pointer is always on the root.
  if (/^\s*(\*|:root|html|body)?:hover\s*$/.test(hovered)) return;
  read.hovers.add(hovered.replace(/:hover\b/g, ":is(*)").trim());
}

/**
 * @param {string} selector
 * @param {PageRules} read
 */
function addFocused(selector, read) {
  const compounds = splitCompounds(selector);
  const last = compounds[compounds.length - 1] ?? "";
  const focus = /:focus(-visible|-within)?(?![\w-])/g;
  // A rule for everything that has the focus draws a ring, and brings nothing into view.
  if (!focus.test(last) || /:not\(/.test(last)) return;
  const rest = selector.replace(focus, ":is(*)").trim();
  if (rest !== ":is(*)") read.focused.add(rest);
}

/**
 * Splits a text at a character that is outside of brackets and quotation marks.
 * @param {string} text
 * @param {string} separator
 */
function splitAt(text, separator) {
  const pieces = [];
  let [depth, start] = [0, 0];
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (quote) quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === "(" || character === "[") depth++;
    else if (character === ")" || character === "]") depth--;
    else if (character === separator && depth === 0) {
      pieces.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  pieces.push(text.slice(start).trim());
  return pieces.filter((piece) => piece !== "");
}

/**
 * The compounds of a selector, each with the combinator before it.
 * @param {string} selector
 */
function splitCompounds(selector) {
  const spaced = selector.trim().replace(/\s*([>+~])\s*(?![^([]*[)\]])/g, " $1");
  return splitAt(spaced, " ").map((compound, index) => {
    return index > 0 ? ` ${compound}` : compound;
  });
}
