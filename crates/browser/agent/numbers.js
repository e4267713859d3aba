// @ts-check
// Numbers in values that must be unique. `{n}` in a value stands for a number that no earlier
// step of the crawl has used. A page that repeats such a number shows `{n}` again, so that the
// number makes neither a state nor an action of its own.

const MARK = "{n}";
// Twelve digits: `UNIQUE_PREFIX` in crates/explore/src/identity/unique.rs, and eight more.
const FIRST = "9957";
const NUMBER = /(?<!\d)9957\d{8}(?!\d)/g;
// A number for checks of validity.
const SAMPLE = "00000000";

/**
 * A value with its number.
 * @param {string} value
 * @param {string} number
 */
export function withNumber(value, number = SAMPLE) {
  return value.includes(MARK) ? value.replaceAll(MARK, FIRST + number) : value;
}

/**
 * A text of the page in which every unique number is `{n}` again.
 * @param {string} text
 */
export function withoutNumbers(text) {
  return text.includes(FIRST) ? text.replace(NUMBER, MARK) : text;
}
