// @ts-check
// Fields of forms: which elements are typed into, and with what.

export const TEXTUAL = new Set([
  ..."text search email url tel password number color range".split(" "),
  ..."date time month week datetime-local".split(" "),
]);

/**
 * Whether an element is typed into or chosen from, not clicked.
 * @param {Element} element
 */
export function isField(element) {
  switch (element.localName) {
    case "textarea":
    case "select":
    case "option":
      return true;
    case "input":
      return TEXTUAL.has(/** @type {HTMLInputElement} */ (element).type);
    default:
      return false;
  }
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
  switch (element.localName === "input" ? element.type : "text") {
    case "email":
      return "argiope@example.com";
    case "url":
      return "https://example.com/";
    case "tel":
      return "5550100";
    case "password":
      return "Argiope-1";
    case "date":
      return "2024-01-15";
    case "time":
      return "10:30";
    case "month":
      return "2024-01";
    case "week":
      return "2024-W03";
    case "datetime-local":
      return "2024-01-15T10:30";
    case "color":
      return "#336699";
    case "range":
      return rangeFor(element);
    case "number":
      return numberFor(element);
    default:
      return textFor(element);
  }
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
