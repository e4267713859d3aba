// @ts-check
// Which value goes into a field: one that the file of inputs gives, or a valid one that follows
// from what the field says of itself. The same field always gets the same value.
import { shared } from "./context.js";
import { labelsOf, squeezed, typeOf } from "./fields.js";
import { fileNameFor } from "./files.js";
import { withNumber } from "./numbers.js";
import { samplesOf } from "./pattern.js";

// What is typed into fields that take one form of text.
const VALUES = new Map([
  ["email", "argiope@example.com"],
  ["url", "https://example.com/"],
  ["tel", "5550100"],
  ["password", "Argiope-1"],
  ["date", "2024-01-15"],
  ["time", "10:30"],
  ["month", "2024-01"],
  ["week", "2024-W03"],
  ["datetime-local", "2024-01-15T10:30"],
  ["color", "#336699"],
]);
// What fields of plain text are for, by words in their names, and what is typed into them.
/** @type {[RegExp, string][]} */
const MEANINGS = [
  [/\be ?mail\b/, "argiope@example.com"],
  [/\b(url|website|homepage)\b/, "https://example.com/"],
  [/\b(tel|telephone|phone|mobile)\b/, "5550100"],
  [/\b(zip|postal|postcode|plz)\b/, "12345"],
  [/\b(cc number|card number)\b/, "4111111111111111"],
  [/\b(cc csc|cvc|cvv)\b/, "123"],
  [/\b(cc exp|expiry|expiration)\b/, "12/30"],
  [/\b(bday|birthday|birth date|date of birth)\b/, "1990-01-15"],
  [/\b(given name|first name|forename)\b/, "Ada"],
  [/\b(family name|last name|surname)\b/, "Argiope"],
  [/\bcountry\b/, "Germany"],
  [/\b(city|town|address level2)\b/, "Berlin"],
  [/\b(street|address line1)\b/, "1 Web Street"],
  [/\bage\b/, "30"],
  [/\b(quantity|amount|price)\b/, "7"],
  [/\byear\b/, "2024"],
  [/\bdate\b/, "2024-01-15"],
  [/\btime\b/, "10:30"],
];
const ANY_TEXT = "argiope";
// What else is tried where a field accepts none of the usual values.
const OTHERS = ["Argiope1", "Argiope-1!", "1", "12345", "12345678", "AB123456", "a", "A"];

/**
 * The values that the file of inputs gives for a field; null if it gives none. The first rule that
 * matches decides.
 * @param {Element} element
 * @returns {string[] | null}
 */
export function givenFor(element) {
  if (settings.inputs.length === 0) return null;
  return settings.inputs.find((rule) => isMeant(element, rule))?.values ?? null;
}

/**
 * @param {Element} element
 * @param {GivenValues} rule
 */
function isMeant(element, { selector, label, name, type, autocomplete }) {
  if (selector !== null && !element.matches(selector)) return false;
  if (name !== null && element.getAttribute("name") !== name) return false;
  if (type !== null && typeOf(element) !== type) return false;
  if (autocomplete !== null && !purposesOf(element).includes(autocomplete)) return false;
  return label === null || labelsOf(element).includes(squeezed(label));
}

/**
 * @param {Element} element
 */
function purposesOf(element) {
  return (element.getAttribute("autocomplete") ?? "").toLowerCase().split(/\s+/);
}

/**
 * A valid value for a field: a given one that the browser accepts, otherwise one of argiope's own.
 * @param {any} element
 * @returns {string}
 */
export function validValueFor(element) {
  const given = givenFor(element)?.find((value) => value !== "" && isValid(element, value));
  return given ?? valueFor(element);
}

/**
 * The one valid value of argiope's own that is typed into a field.
 * @param {any} element
 * @returns {string}
 */
export function valueFor(element) {
  const type = typeOf(element);
  if (type === "file") return fileNameFor(element);
  if (type === "range") return rangeFor(element);
  const candidates = candidatesFor(element, type);
  return candidates.find((value) => isValid(element, value)) ?? candidates[0];
}

/**
 * Values for a field, the best first.
 * @param {any} element
 * @param {string} type
 * @returns {string[]}
 */
function candidatesFor(element, type) {
  const { min = "", max = "", pattern = "", placeholder = "" } = element;
  if (type === "number") return [numberFor(element), min, max, "0", "1"].filter(Boolean);
  const usual = VALUES.get(type);
  const isPlain = usual === undefined;
  const words = wordsOf(element);
  const meant = MEANINGS.find(([word]) => isPlain && word.test(words))?.[1];
  const first = meant ?? usual ?? ANY_TEXT;
  const fitted = isPlain || type === "password" ? fit(first, element) : first;
  const unique = uniqueFor(element, type, words);
  const all = [...(unique ? [unique] : []), fitted, min, max];
  if (pattern) all.push(...samplesOf(pattern), placeholder);
  if (isPlain || type === "password" || type === "tel") {
    all.push(...OTHERS.map((one) => fit(one, element)));
  }
  return all.filter((value) => value !== "");
}

/**
 * A value that no account has yet, for the name of an account: an e-mail address or a user name
 * beside a password.
 * @param {any} element
 * @param {string} type
 * @param {string} words
 */
function uniqueFor(element, type, words) {
  const isAddress = type === "email" || (type === "text" && /\be ?mail\b/.test(words));
  const isName = type === "text" && /\b(user ?name|login|account)\b/.test(words);
  if (!isAddress && !isName) return undefined;
  if (!element.form?.querySelector("input[type=password]")) return undefined;
  return isAddress ? "argiope{n}@example.com" : "argiope{n}";
}

/**
 * The words by which a field says what it is for.
 * @param {Element} element
 */
function wordsOf(element) {
  const names = ["autocomplete", "name", "id"].map((one) => element.getAttribute(one) ?? "");
  const apart = names.join(" ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return `${apart} ${labelsOf(element).join(" ")}`.toLowerCase().replace(/[^a-z0-9]+/g, " ");
}

/**
 * Whether the browser accepts a value for a field. The field itself is not touched.
 * @param {any} element
 * @param {string} value
 */
function isValid(element, value) {
  const typed = withNumber(value);
  const { minLength = -1, maxLength = -1 } = element;
  // The browser checks lengths only of what a user has typed.
  if (typed.length < minLength || (maxLength >= 0 && typed.length > maxLength)) return false;
  if (!("validity" in element) || element.type === "file") return true;
  shared.inert ??= document.implementation.createHTMLDocument("");
  const copy = shared.inert.importNode(element, element.localName === "select");
  copy.value = typed;
  return copy.value === typed && copy.validity.valid;
}

/**
 * The upper end, or the lower one if the upper is set already.
 * @param {HTMLInputElement} input
 */
function rangeFor({ value, min, max }) {
  const upper = max || "100";
  return value === upper ? min || "0" : upper;
}

/**
 * @param {HTMLInputElement} input
 */
function numberFor({ min, max, step }) {
  let number = 7;
  if (max !== "" && number > Number(max)) number = Number(max);
  if (min !== "" && number < Number(min)) number = Number(min);
  const stride = Number(step);
  if (stride > 0) {
    const least = Number(min || 0);
    number = least + Math.round((number - least) / stride) * stride;
  }
  return String(number);
}

/**
 * @param {string} text
 * @param {any} element
 */
function fit(text, { minLength = -1, maxLength = -1 }) {
  const long = minLength > text.length ? text.padEnd(Math.min(minLength, 1000), "e") : text;
  return maxLength >= 0 ? long.slice(0, maxLength) : long;
}
