// @ts-check
// Whether a user could operate an element: visible, enabled, and not under something else.
import { isTop } from "./listening.js";
import { isPresent } from "./tree.js";

/**
 * @param {Element} element
 * @param {() => Element | null} cover what covers the whole view
 */
export function isOperable(element, cover) {
  // What is only transparent can still be clicked.
  if (!isPresent(element, false) || isDisabled(element)) return false;
  if (isTop(element) || element.localName === "form") return true;
  return isUncovered(element, cover);
}

/**
 * @param {Element} element
 */
function isDisabled(element) {
  if (element.matches(":disabled")) return true;
  if (element.closest("[inert]") || element.closest("[aria-disabled=true]")) return true;
  const modal = element.ownerDocument.querySelector("dialog:modal");
  return modal !== null && !modal.contains(element);
}

/**
 * The first box of an element that has an area.
 * @param {Element} element
 */
export function boxOf(element) {
  return [...element.getClientRects()].find((one) => one.width > 0 && one.height > 0);
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
    return [...element.children].some((child) => isShown(child) && isUncovered(child, cover));
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
 * Whether a click at a point meets an element or its label.
 * @param {Element} element
 * @param {number} x
 * @param {number} y
 */
function isHit(element, x, y) {
  /** @type {any} */
  const root = element.getRootNode();
  /** @type {any} */
  let hit = (root.elementFromPoint ? root : element.ownerDocument).elementFromPoint(x, y);
  for (; hit; hit = hit.parentElement ?? hit.getRootNode().host) {
    if (hit === element) return true;
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
