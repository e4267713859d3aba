// @ts-check
import { withNumber, withoutNumbers } from "../numbers.js";
import { equal } from "./check.js";

export const cases = {
  "a number that is put in comes out again": () => {
    const value = withNumber("ada{n}@example.com", "00000012");
    equal(value, "ada995700000012@example.com");
    equal(withoutNumbers(`Hello ${value}!`), "Hello ada{n}@example.com!");
  },
  "other numbers stay": () => {
    equal(withoutNumbers("9957 1995700000012 9957000000121"), "9957 1995700000012 9957000000121");
    equal(withNumber("plain", "00000012"), "plain");
  },
};
