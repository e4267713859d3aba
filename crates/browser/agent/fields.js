// @ts-check
// Fields of forms: which elements are typed into or chosen from, and what they are called.
import { withoutNumbers } from "./numbers.js";

export const TEXTUAL = new Set([
  ..."text search email url tel password number color range".split(" "),
  ..."date time month week datetime-local".split(" "),
]);

const CHOSEN = new Set(["textarea", "select", "option"]);
// The text of a label that is longer says more than a name.
const LONGEST_LABEL = 200;

/**
 * Whether an element is typed into or chosen from, not clicked.
 * @param {Element} element
 */
export function isField(element) {
  const { localName, type } = /** @type {HTMLInputElement} */ (element);
  return localName === "input" ? TEXTUAL.has(type) : CHOSEN.has(localName);
}

/**
 * @param {any} element
 * @returns {string}
 */
export function currentValue(element) {
  const value = "value" in element ? element.value : element.textContent;
  // A framework may have replaced the property by one without a value.
  return withoutNumbers(String(value ?? ""));
}

/**
 * The type of a field, as people write it in the file of inputs.
 * @param {any} element
 * @returns {string}
 */
export function typeOf(element) {
  if (element.localName === "input") return element.type;
  const { localName } = element;
  return localName === "textarea" || localName === "select" ? localName : "contenteditable";
}

/**
 * What people call a field: its labels, the names for assistive technology, the placeholder.
 * @param {any} element
 * @returns {string[]}
 */
export function labelsOf(element) {
  const by = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).slice(0, 8);
  const tree = element.getRootNode();
  const referred = by.map((/** @type {string} */ id) => id && tree.getElementById?.(id));
  const around = element.labels ?? [element.closest("label")];
  const texts = [...around, ...referred].filter(Boolean).map(ownText);
  const written = ["aria-label", "placeholder", "title"].map((one) => element.getAttribute(one));
  return [...texts, ...written].map(squeezed).filter((text) => text !== "");
}

/**
 * The text of a label without the text of fields inside it.
 * @param {Element} label
 */
function ownText(label) {
  const walker = label.ownerDocument.createTreeWalker(label, 4);
  let text = "";
  while (text.length < LONGEST_LABEL && walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (!node.parentElement?.closest("select,textarea,button,script,style")) text += node.data;
  }
  return text;
}

/**
 * @param {string | null} text
 */
export function squeezed(text) {
  const plain = (text ?? "").replace(/\s+/g, " ").trim();
  return plain.replace(/\s*[:*]+$/, "").toLowerCase();
}

// The kinds of mistake that the browser finds, as `ValidityState` names them.
const MISTAKES = [
  ...["valueMissing", "typeMismatch", "patternMismatch", "tooLong", "tooShort"],
  ...["rangeUnderflow", "rangeOverflow", "stepMismatch", "badInput"],
];

/**
 * What the browser says is wrong with a field after its form was sent; nothing if it says nothing.
 * The browser's own words depend on its version, so that its kinds of mistake are named.
 * @param {any} field
 * @returns {string | undefined}
 */
export function mistakeOf(field) {
  const { validity, form } = field;
  if (!validity || validity.valid || !form || form.noValidate) return undefined;
  if (!field.willValidate || !field.matches(":user-invalid")) return undefined;
  const kind = MISTAKES.find((one) => validity[one]);
  if (kind === undefined || validity.customError) return field.validationMessage;
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
