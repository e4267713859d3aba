// @ts-check
import { currentValue, isField, TEXTUAL, valueFor } from "../fields.js";
import { equal, show } from "./check.js";

export const cases = {
  "the value for every type of field is valid": () => {
    for (const type of TEXTUAL) {
      const input = show(`<input type=${type} required>`);
      const value = valueFor(input);
      input.value = value;
      equal([type, input.value, input.checkValidity()], [type, value, true]);
    }
  },
  "numbers keep to their limits and steps": () => {
    equal(valueFor(show("<input type=number>")), "7");
    equal(valueFor(show("<input type=number max=5>")), "5");
    equal(valueFor(show("<input type=number min=10>")), "10");
    equal(valueFor(show("<input type=number min=1 step=4>")), "9");
  },
  "a slider goes to its other end": () => {
    const range = show("<input type=range min=1 max=9>");
    equal(valueFor(range), "9");
    range.value = "9";
    equal(valueFor(range), "1");
  },
  "texts keep to their lengths": () => {
    equal(valueFor(show("<input maxlength=3>")), "arg");
    equal(valueFor(show("<input minlength=9>")), "argiopeee");
    equal(valueFor(show("<textarea></textarea>")), "argiope");
    equal(valueFor(show("<p contenteditable></p>")), "argiope");
  },
  "fields are typed into or chosen from": () => {
    show("<input><input type=checkbox><textarea></textarea><select></select><button></button>");
    equal([...document.body.children].map(isField), [true, false, true, true, false]);
  },
  "the current value of an editable element is its text": () => {
    equal(currentValue(show("<p contenteditable>text</p>")), "text");
    equal(currentValue(show("<input value=text>")), "text");
  },
};
