// @ts-check
// Fields of forms: which elements are typed into, and with what.

export const TEXTUAL = new Set([
  ..."text search email url tel password number color range".split(" "),
  ..."date time month week datetime-local".split(" "),
]);

const CHOSEN = new Set(["textarea", "select", "option"]);
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
  return "value" in element ? element.value : element.textContent;
}

/**
 * The one valid value that is typed into a field.
 * @param {any} element
 * @returns {string}
 */
export function valueFor(element) {
  const type = element.localName === "input" ? element.type : "text";
  if (type === "range") return rangeFor(element);
  if (type === "number") return numberFor(element);
  return VALUES.get(type) ?? textFor(element);
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
 * @param {HTMLInputElement} input
 */
function textFor({ minLength, maxLength }) {
  let text = "argiope";
  if (minLength > text.length) text = text.padEnd(Math.min(minLength, 1000), "e");
  return maxLength >= 0 ? text.slice(0, maxLength) : text;
}
