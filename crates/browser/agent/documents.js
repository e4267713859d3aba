// @ts-check
// The documents and shadow roots of the page, frames of the same origin included.
import { agentOf } from "./context.js";
import { hooked, shadowOf } from "./listeners.js";
import { getOrInsert, native } from "./natives.js";

/** @type {WeakMap<Document, number>} */
const firstSeen = new WeakMap();

/**
 * A document and those of its frames, with the real time at which the agent first saw each.
 * @param {Document} page
 * @returns {Generator<{ document: Document, since: number }>}
 */
export function* documents(page = document) {
  yield { document: page, since: getOrInsert(firstSeen, page, native.clock) };
  for (const frame of framesOf(page)) {
    const inner = innerDocument(frame);
    if (inner) yield* documents(inner);
  }
}

/**
 * The frames of a document. Shadow roots are searched only on pages that have some.
 * @param {Document} page
 * @returns {Element[]}
 */
export function framesOf(page) {
  const frames = [...page.getElementsByTagName("iframe"), ...page.getElementsByTagName("frame")];
  if (hooked.hasShadows) {
    for (const root of shadowRoots(page)) frames.push(...root.querySelectorAll("iframe"));
  }
  return frames;
}

/**
 * The document of a frame of the same origin.
 * @param {Element} frame
 * @returns {Document | null}
 */
export function innerDocument(frame) {
  try {
    const { contentWindow } = /** @type {HTMLIFrameElement} */ (frame);
    if (!contentWindow || !agentOf(contentWindow)) return null;
    return /** @type {HTMLIFrameElement} */ (frame).contentDocument;
  } catch {
    return null;
  }
}

/**
 * The element of the frame that shows a document; null for the main document.
 * @param {Document} page
 */
export function frameAround(page) {
  return page === document ? null : page.defaultView?.frameElement;
}

/**
 * @param {Tree} tree
 * @returns {Generator<ShadowRoot>}
 */
export function* shadowRoots(tree) {
  for (const element of tree.querySelectorAll("*")) {
    const root = shadowOf(element);
    if (root) {
      yield root;
      yield* shadowRoots(root);
    }
  }
}
