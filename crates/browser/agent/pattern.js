// @ts-check
// A text that a regular expression accepts, for fields with a `pattern`. It knows the common
// syntax; whether the text is accepted is asked of the browser.

const DEEPEST_PATTERN = 20;
const LONGEST_PATTERN = 500;
const LONGEST_SAMPLE = 200;
// What is tried for one character, the usual ones first.
const CHARACTERS = [..."a1A-_ .@b2B", ...Array.from({ length: 95 }, (_, at) => at + 32)].map(
  (one) => (typeof one === "number" ? String.fromCharCode(one) : one),
);

/**
 * Texts that the pattern may accept, shorter ones first; none if it cannot be read.
 * @param {string} pattern
 * @returns {string[]}
 */
export function samplesOf(pattern) {
  if (pattern === "" || pattern.length > LONGEST_PATTERN) return [];
  try {
    new RegExp(`^(?:${pattern})$`, "v");
    return [0, 2, 7].map((more) => new Sampler(pattern, more).all());
  } catch {
    return [];
  }
}

class Sampler {
  /**
   * @param {string} text
   * @param {number} more how often more than needed something is repeated
   */
  constructor(text, more) {
    this.text = text;
    this.more = more;
    this.at = 0;
    this.depth = 0;
  }

  all() {
    return this.alternatives().slice(0, LONGEST_SAMPLE);
  }

  /** The first of several alternatives; the others are only read. */
  alternatives() {
    const first = this.sequence();
    while (this.text[this.at] === "|") {
      this.at++;
      this.sequence();
    }
    return first;
  }

  sequence() {
    let made = "";
    while (this.at < this.text.length && !"|)".includes(this.text[this.at])) {
      const one = this.atom();
      made += one.repeat(this.times());
      if (made.length > LONGEST_SAMPLE) throw new RangeError("the sample is too long");
    }
    return made;
  }

  /** How often the last atom is repeated. */
  times() {
    const rest = this.text.slice(this.at);
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (!found) return 1;
    this.at += found[0].length;
    const [, least, comma, most] = found;
    if (least === undefined) {
      const needed = rest[0] === "+" ? 1 : 0;
      return rest[0] === "?" ? Math.min(this.more, 1) : needed + this.more;
    }
    const upper = comma === "" ? Number(least) : most === "" ? Number.MAX_VALUE : Number(most);
    return Math.min(Number(least) + this.more, upper, LONGEST_SAMPLE);
  }

  /** @returns {string} */
  atom() {
    const rest = this.text.slice(this.at);
    if (rest[0] === "(") return this.group(rest);
    const source = /^(?:\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x..|\\.|.)/su;
    const [one] = source.exec(rest) ?? [rest];
    this.at += one.length;
    if (one === "^" || one === "$" || one === "\\b" || one === "\\B") return "";
    if (one.length === 1 && one !== ".") return one;
    const accepts = new RegExp(`^${one}$`, "v");
    return CHARACTERS.find((character) => accepts.test(character)) ?? "";
  }

  /**
   * @param {string} rest
   */
  group(rest) {
    const [opening] = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(rest) ?? ["("];
    this.at += opening.length;
    if (++this.depth > DEEPEST_PATTERN) throw new RangeError("the pattern is too deep");
    const inside = this.alternatives();
    this.depth--;
    this.at++;
    // What is only looked at adds no text.
    return /[=!]$/.test(opening) ? "" : inside;
  }
}
