// @ts-check
import { samplesOf } from "../pattern.js";
import { equal } from "./check.js";

export const cases = {
  "a sample of a common pattern is accepted": () => {
    const patterns = [
      ...["[0-9]{5}", "\\d{3}-\\d{4}", "[A-Z]{2}[0-9]{2,4}", "(?:ab|cd)+x?", "[^0-9]{3,}"],
      ...["[A-Za-z0-9._%+\\-]+@[a-z]+\\.[a-z]{2,}", "\\+?[1-9]\\d{6,14}", "^#[0-9a-f]{6}$"],
      ...["\\p{Lu}\\p{Ll}+", "(red|green|blue)", "(?<year>\\d{4})/\\d\\d", ".{8,}", "a{0}b"],
    ];
    for (const pattern of patterns) {
      const accepts = new RegExp(`^(?:${pattern})$`, "v");
      equal([pattern, samplesOf(pattern).some((text) => accepts.test(text))], [pattern, true]);
    }
  },
  "a pattern that cannot be read has no sample": () => {
    equal(samplesOf("(["), []);
    equal(samplesOf(""), []);
    equal(samplesOf("a{1000}".repeat(200)), []);
    equal(samplesOf("(".repeat(30) + ")".repeat(30)), []);
  },
};
