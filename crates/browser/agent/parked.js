// @ts-check
// What is on the page but not for the eye: elements that are parked outside the page, clipped to
// nothing, shown only while they have the focus, or mere decoration.
import { shadowOf } from "./listeners.js";
import { isShownByFocus } from "./rules.js";

// The largest side of a box that pages use to hide a text from the eye.
const DOT = 2;

/**
 * Whether an element is where no scrolling leads: left of the page or above it, or fixed outside
 * the view.
 * @param {Element} element
 */
export function isOffPage(element) {
  const box = element.getBoundingClientRect();
  if (box.width === 0 && box.height === 0) return false;
  const page = element.ownerDocument;
  const view = /** @type {PageWindow} */ (page.defaultView);
  if (box.right <= 0 || box.bottom <= 0) return !canScrollBack(element, box, page);
  if (box.left < view.innerWidth && box.top < view.innerHeight) return false;
  if (box.left >= view.innerWidth && hidesOverflow(page)) return true;
  return getComputedStyle(element).position === "fixed";
}

/**
 * Whether scrolling up or back, on the page or in a box around the element, brings it into view.
 * @param {Element} element
 * @param {DOMRect} box
 * @param {Document} page
 */
function canScrollBack(element, box, page) {
  let [right, bottom] = [box.right, box.bottom];
  /** @type {any} */
  let node = element.parentNode;
  for (; node; node = node.parentNode ?? node.host) {
    if (node.nodeType !== 1 || node === page.scrollingElement) continue;
    // In a text from right to left the box begins at its right end.
    right += Math.abs(node.scrollLeft);
    bottom += node.scrollTop;
  }
  const scroller = page.scrollingElement;
  if (scroller) {
    const isLeftwards = getComputedStyle(scroller).direction === "rtl";
    right += isLeftwards
      ? scroller.scrollWidth - scroller.clientWidth + scroller.scrollLeft
      : scroller.scrollLeft;
    bottom += scroller.scrollTop;
  }
  return right > 0 && bottom > 0;
}

/**
 * Whether the page cannot be scrolled to its right.
 * @param {Document} page
 */
function hidesOverflow(page) {
  const hides = (/** @type {Element | null} */ element) =>
    element !== null && /hidden|clip/.test(getComputedStyle(element).overflowX);
  return hides(page.documentElement) || hides(page.body);
}

/**
 * Whether an element and what is in it is clipped to nothing, as texts for screen readers are.
 * @param {Element} element
 */
export function isClipped(element) {
  const { width, height } = element.getBoundingClientRect();
  if (width > DOT && height > DOT) return false;
  const { position, clip, clipPath, overflow } = getComputedStyle(element);
  if (position !== "absolute" && position !== "fixed") return false;
  if (/^inset\((50|100)%/.test(clipPath)) return true;
  const edges = /^rect\(([-\d.]+)px,? ([-\d.]+)px,? ([-\d.]+)px,? ([-\d.]+)px\)$/.exec(clip);
  if (edges) {
    const [top, right, bottom, left] = edges.slice(1).map(Number);
    if (right - left <= 0 || bottom - top <= 0) return true;
  }
  const isDot = width > 0 && height > 0 && width <= DOT && height <= DOT;
  return isDot && /hidden|clip/.test(overflow);
}

// What shows or says something without a text.
const SAYING = [
  "img,svg,canvas,video,audio,picture,object,embed,iframe,frame,input,select,textarea,button",
  "a[href],hr,progress,meter,summary,table,li,dialog,[role],[aria-label],[title],[tabindex]",
  "[contenteditable],[draggable],[onclick]",
].join(",");
const PLAIN = new Set(["div", "span", "i", "b"]);

/**
 * Whether an element is drawn over others only for effect, as ripples and focus rings are: it says
 * nothing, has no room of its own, and the pointer goes through it.
 * @param {Element} element
 */
function isDecoration(element) {
  if (!saysNothing(element, 0)) return false;
  const { position, pointerEvents } = getComputedStyle(element);
  return pointerEvents === "none" && (position === "absolute" || position === "fixed");
}

/**
 * @param {Element} element
 * @param {number} depth
 * @returns {boolean}
 */
function saysNothing(element, depth) {
  if (depth > 3 || !PLAIN.has(element.localName) || element.childElementCount > 4) return false;
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === 3 && /** @type {Text} */ (child).data.trim() !== "") return false;
    if (child.nodeType !== 1) continue;
    if (!saysNothing(/** @type {Element} */ (child), depth + 1)) return false;
  }
  return !element.matches(SAYING) && !shadowOf(element);
}

/**
 * Whether an element alone is not for the eye. What is in it may be, unless it is clipped.
 * @param {Element} element
 */
export function isParked(element) {
  return isOffPage(element) || isShownByFocus(element) || isDecoration(element);
}
