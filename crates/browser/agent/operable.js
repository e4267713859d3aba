// @ts-check
// Whether a user could operate an element: visible, enabled, and not under something else. If not,
// what hinders: the ledger says so.
import { isScriptless } from "./context.js";
import { isTop } from "./listening.js";
import { isOffPage } from "./parked.js";
import { isShownByFocus } from "./rules.js";
import { imageOf, isPresent, labelOf } from "./tree.js";

/**
 * What keeps a user from operating an element; an empty text if nothing does.
 * @param {Element} element
 * @param {() => Element | null} cover what covers the whole view
 * @returns {Hindrance | ""}
 */
export function hindranceOf(element, cover) {
  // The agent could not see what an action does.
  if (isScriptless) return isPresent(element, false) ? "disabled" : "invisible";
  const blocked = blockOf(element);
  if (blocked !== "") return isPresent(element, false) ? blocked : "invisible";
  if (isShownByFocus(element)) return "invisible";
  // What is only transparent can still be clicked.
  const isThere = isPresent(element, false);
  if (isThere) {
    if (isTop(element) || element.localName === "form") return "";
    if (isUncovered(element, cover)) return "";
  }
  const label = labelOf(element);
  if (label !== undefined && isUncovered(label, cover)) return "";
  return isThere && boxOf(element) && !isOffPage(element) ? "covered" : "invisible";
}

/**
 * Whether an element is disabled, or a modal dialog covers it.
 * @param {Element} element
 * @returns {"disabled" | "covered" | ""}
 */
function blockOf(element) {
  if (element.matches(":disabled") || element.closest("[aria-disabled=true]")) return "disabled";
  if (element.closest("[inert]")) return "disabled";
  const modal = element.ownerDocument.querySelector("dialog:modal");
  return modal !== null && !modal.contains(element) ? "covered" : "";
}

/**
 * The first box of an element that has an area.
 * @param {Element} element
 * @returns {DOMRect | undefined}
 */
function boxOf(element) {
  if (element.localName === "area") return boxOfArea(/** @type {HTMLAreaElement} */ (element));
  return [...element.getClientRects()].find((one) => one.width > 0 && one.height > 0);
}

/**
 * The first box with an area of an element, or of what is in it: the pointer there is over the
 * element, too.
 * @param {Element} element
 * @returns {DOMRect | undefined}
 */
export function innerBoxOf(element) {
  let box = boxOf(element);
  if (box) return box;
  for (const inner of element.querySelectorAll("*")) {
    box = boxOf(inner);
    if (box) return box;
  }
  return undefined;
}

/**
 * The box around an area of an image.
 * @param {HTMLAreaElement} area
 */
function boxOfArea(area) {
  const image = imageOf(area);
  const around = image && boxOf(image);
  if (!around) return undefined;
  const numbers = area.coords.split(/[\s,;]+/).map(Number);
  let xs = numbers.filter((_, index) => index % 2 === 0);
  let ys = numbers.filter((_, index) => index % 2 === 1);
  if (/^circ/i.test(area.shape)) {
    const [x, y, radius] = numbers;
    xs = [x - radius, x + radius];
    ys = [y - radius, y + radius];
  } else if (/^default/i.test(area.shape)) {
    return around;
  }
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const box = [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
  const isBox = box.every(Number.isFinite) && box[2] > 0 && box[3] > 0;
  return isBox ? new DOMRect(around.left + left, around.top + top, box[2], box[3]) : undefined;
}

// The middle of an element, and a point in each quarter.
const POINTS = [
  [0.5, 0.5],
  [0.25, 0.25],
  [0.75, 0.25],
  [0.25, 0.75],
  [0.75, 0.75],
];

/**
 * @param {Element} element
 * @param {() => Element | null} cover
 * @returns {boolean}
 */
function isUncovered(element, cover) {
  const view = /** @type {PageWindow} */ (element.ownerDocument.defaultView);
  const box = boxOf(element);
  if (!box) {
    const isShown = (/** @type {Element} */ child) => child.getClientRects().length > 0;
    if ([...element.children].some((child) => isShown(child) && isUncovered(child, cover))) {
      return true;
    }
    return isBareLink(element) && (cover()?.contains(element) ?? true);
  }
  let tried = 0;
  for (const [x, y] of POINTS) {
    const [left, top] = [box.left + box.width * x, box.top + box.height * y];
    // The browser rounds the point of a hit test: the last half pixel of the view hits nothing.
    if (left < 0 || top < 0) continue;
    if (left >= view.innerWidth - 0.5 || top >= view.innerHeight - 0.5) continue;
    tried++;
    if (isHit(element, left, top)) return true;
  }
  // Out of view: it can be scrolled to, unless something covers the whole view.
  return tried === 0 && isReachable(element, box) && (cover()?.contains(element) ?? true);
}

/**
 * Whether an element is a link without text, which has a height or a width but no area: the
 * keyboard reaches it.
 * @param {Element} element
 */
function isBareLink(element) {
  if (element.localName !== "a" || !element.hasAttribute("href")) return false;
  const view = /** @type {PageWindow} */ (element.ownerDocument.defaultView);
  return [...element.getClientRects()].some((box) => {
    return box.width + box.height > 0 && box.left >= 0 && box.left < view.innerWidth;
  });
}

/**
 * Whether scrolling can bring an element into view.
 * @param {Element} element
 * @param {DOMRect} box
 */
function isReachable(element, box) {
  const scroller = element.ownerDocument.scrollingElement;
  const { scrollLeft, scrollTop } = scroller ?? { scrollLeft: 0, scrollTop: 0 };
  return box.right + scrollLeft > 0 && box.bottom + scrollTop > 0;
}

/**
 * Whether a click at a point meets an element or its label, or the image of an area that has not
 * loaded.
 * @param {Element} element
 * @param {number} x
 * @param {number} y
 */
function isHit(element, x, y) {
  /** @type {any} */
  const root = element.getRootNode();
  /** @type {any} */
  let hit = (root.elementFromPoint ? root : element.ownerDocument).elementFromPoint(x, y);
  const image = element.localName === "area" ? imageOf(element) : element;
  for (; hit; hit = hit.parentElement ?? hit.getRootNode().host) {
    if (hit === element || hit === image) return true;
    if (hit.localName === "label" && hit.control === element) return true;
  }
  return false;
}

// The middle and the corners of the view.
const VIEW_POINTS = [
  [0.5, 0.5],
  [0.02, 0.02],
  [0.98, 0.02],
  [0.02, 0.98],
  [0.98, 0.98],
];

/** The fixed element that covers the whole view, if there is one: a dialog made by hand. */
export function coverOfViewport() {
  const [width, height] = [innerWidth, innerHeight];
  /** @type {Element | null} */
  let cover = null;
  for (const [x, y] of VIEW_POINTS) {
    const fixed = fixedAt(width * x, height * y);
    if (!fixed) return null;
    cover ??= fixed;
    const areSiblings = cover.parentElement === fixed.parentElement;
    if (!cover.contains(fixed) && !fixed.contains(cover) && !areSiblings) return null;
    if (fixed.contains(cover)) cover = fixed;
  }
  return cover;
}

/**
 * The outermost fixed element at a point of the view.
 * @param {number} x
 * @param {number} y
 */
function fixedAt(x, y) {
  let fixed = null;
  for (let hit = document.elementFromPoint(x, y); hit; hit = hit.parentElement) {
    if (getComputedStyle(hit).position === "fixed") fixed = hit;
  }
  return fixed;
}
