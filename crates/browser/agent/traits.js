// @ts-check
// An element is found again by several independent traits beside its place: where it is in the
// structure of the page, its name, its text, its stable attributes, and the text around it. They
// are compared only where the raw hash does not say that the page is the same.
import { documents, shadowRoots } from "./documents.js";
import { hooked } from "./listeners.js";
import { elementAt, placeOf } from "./place.js";

// The most characters that are read of a text.
const LONGEST_READ = 200;
const NAMING = ["aria-label", "alt", "title", "placeholder"];
const STABLE = [
  ...["type", "name", "href", "for", "data-testid", "data-test-id", "data-test", "data-cy"],
];
// What a row or a group is: the text in it tells elements apart that read the same.
const AROUND =
  "li,tr,article,fieldset,form,section,dialog,[role=row],[role=listitem],[role=option]," +
  "[role=treeitem],[role=dialog],[role=group]";

/**
 * The place of an element and its traits: `place~structure.name.text.attributes.around`.
 * @param {Element} element
 */
export function tracesOf(element) {
  return `${placeOf(element)}~${traitsOf(element).join(".")}`;
}

/**
 * The element that traces lead to; null if none or several are as likely.
 * @param {string} traces
 * @returns {any}
 */
export function findAgain(traces) {
  const [place, written] = traces.split("~");
  const there = elementAt(place);
  if (!written) return there;
  // Equal raw hashes mean equal places, unless the hash leaves something out.
  if (there && settings.masks.length === 0 && settings.ignore === "") return there;
  const wanted = written.split(".");
  if (there && count(there, wanted) === wanted.length) return there;
  return search(wanted, there);
}

/**
 * @param {string[]} wanted
 * @param {Element | null} there
 */
function search(wanted, there) {
  // One of five traits may differ, two if the place is the same.
  let best = wanted.length - 2;
  /** @type {Element | null} */
  let found = null;
  for (const { document: page } of documents()) {
    for (const tree of hooked.hasShadows ? [page, ...shadowRoots(page)] : [page]) {
      for (const element of tree.querySelectorAll("*")) {
        const score = count(element, wanted) + (element === there ? 0.5 : 0);
        if (score < best) continue;
        found = score > best ? element : null;
        best = score;
      }
    }
  }
  return found;
}

/**
 * How many traits of an element are as wanted.
 * @param {Element} element
 * @param {string[]} wanted
 */
function count(element, wanted) {
  return traitsOf(element).filter((trait, index) => trait === wanted[index]).length;
}

/**
 * @param {Element} element
 */
function traitsOf(element) {
  const said = NAMING.map((name) => element.getAttribute(name) ?? "");
  const kept = STABLE.map((name) => element.getAttribute(name) ?? "");
  const isPage = element === document.body || element === document.documentElement;
  const around = element.parentElement?.closest(AROUND);
  return [
    digest(structureOf(element)),
    digest(said.join("\n")),
    digest(isPage ? "" : readText(element)),
    digest(kept.join("\n")),
    digest(around ? readText(around) : ""),
  ];
}

/**
 * The tags and roles from an element up to the root.
 * @param {Element} element
 */
function structureOf(element) {
  let text = "";
  /** @type {any} */
  let node = element;
  for (; node; node = node.parentElement ?? node.getRootNode().host) {
    text += `${node.localName} ${node.getAttribute("role") ?? ""}/`;
  }
  return text;
}

/**
 * The beginning of the text in an element, without what is ignored or never shown.
 * @param {Element} element
 */
function readText(element) {
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent && (/^(script|style|noscript)$/.test(parent.localName) || isLeftOut(parent))) {
      continue;
    }
    text += ` ${/** @type {Text} */ (node).data.slice(0, LONGEST_READ)}`;
    if (text.length > LONGEST_READ) break;
  }
  return text.replace(/\s+/g, " ").trim().slice(0, LONGEST_READ);
}

/**
 * @param {Element} element
 */
function isLeftOut(element) {
  return settings.ignore !== "" && element.closest(settings.ignore) !== null;
}

/**
 * A short hash of a text, empty for an empty one.
 * @param {string} text
 */
function digest(text) {
  if (text.trim() === "") return "";
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
  }
  return (hash >>> 0).toString(36);
}
