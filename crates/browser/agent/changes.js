// @ts-check
// Which fields argiope has changed since the page loaded. A large form is changed one field at a
// time, see forms.js.
import { currentValue } from "./fields.js";

// What each field held before argiope changed it for the first time.
/** @type {WeakMap<Element, string>} */
const originals = new WeakMap();

/**
 * What a field holds, as a text to compare.
 * @param {any} field
 * @returns {string}
 */
function contentOf(field) {
  const { localName, type } = field;
  if (localName === "select") {
    return [...field.selectedOptions].map((option) => option.index).join();
  }
  return type === "checkbox" || type === "radio" ? String(field.checked) : currentValue(field);
}

/**
 * Remembers what a field holds, before argiope changes it.
 * @param {Element} field
 */
export function noteField(field) {
  if (!originals.has(field)) originals.set(field, contentOf(field));
}

/**
 * Whether a field holds something else than before argiope changed it.
 * @param {Element} field
 */
export function isChanged(field) {
  const original = originals.get(field);
  return original !== undefined && original !== contentOf(field);
}
