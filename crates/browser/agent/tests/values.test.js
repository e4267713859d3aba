// @ts-check
import { TEXTUAL } from "../fields.js";
import { withNumber } from "../numbers.js";
import { givenFor, validValueFor, valueFor } from "../values.js";
import { equal, show } from "./check.js";

/**
 * @param {Partial<GivenValues>} rule
 */
function give(rule) {
  const nothing = { selector: null, label: null, name: null, type: null, autocomplete: null };
  settings.inputs.push({ ...nothing, values: [], ...rule });
}

export const cases = {
  "the value for every type of field is valid": () => {
    for (const type of TEXTUAL) {
      const input = show(`<input type=${type} required>`);
      const value = valueFor(input);
      input.value = value;
      equal([type, input.value, input.checkValidity()], [type, value, true]);
    }
  },
  "a value keeps to everything that the field demands": () => {
    const fields = [
      "<input pattern='[0-9]{5}' required>",
      "<input pattern='[A-Z]{3}-\\d{2}' placeholder='ABC-12'>",
      "<input type=password pattern='(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}'>",
      "<input type=email pattern='.+@firm\\.example'>",
      "<input type=date min=2030-05-01 max=2030-06-01>",
      "<input type=time min=20:00>",
      "<input type=week max=2020-W10>",
      "<input type=number min=0.5 max=0.9 step=0.1>",
      "<input type=number min=-10 max=-5>",
      "<input type=datetime-local min=2031-01-01T00:00>",
      "<input minlength=20 maxlength=30 required>",
      "<input type=url pattern='https://.*'>",
    ];
    for (const field of fields) {
      const input = show(field);
      const { minLength, maxLength } = input;
      input.value = valueFor(input);
      const { length } = input.value;
      const fits = length >= minLength && (maxLength < 0 || length <= maxLength);
      equal([field, input.value !== "", fits, input.checkValidity()], [field, true, true, true]);
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
  "a field says what it is for by its purpose, name or label": () => {
    equal(valueFor(show("<input autocomplete='shipping postal-code'>")), "12345");
    equal(valueFor(show("<input name=userEmail>")), "argiope@example.com");
    const label = show("<label>First name: <input></label>");
    equal(valueFor(label.firstElementChild), "Ada");
    equal(valueFor(show("<input name=comment>")), "argiope");
  },
  "the name of a new account is unique, and valid with its number": () => {
    const form = show("<form><input name=user_name><input type=email><input type=password></form>");
    const [user, email] = form.children;
    equal([valueFor(user), valueFor(email)], ["argiope{n}", "argiope{n}@example.com"]);
    email.value = withNumber(valueFor(email), "00000001");
    equal(email.checkValidity(), true);
    user.maxLength = 10;
    equal(valueFor(user), "argiope");
    equal(valueFor(show("<form><input type=email></form>").firstChild), "argiope@example.com");
  },
  "the first rule that fits decides what is given": () => {
    give({ selector: "#a", values: ["1"] });
    give({ label: "E-Mail", values: ["2"] });
    give({ name: "n", type: "number", values: ["3"] });
    give({ autocomplete: "tel", values: ["4"] });
    equal(givenFor(show("<input id=a name=n>")), ["1"]);
    equal(givenFor(show("<label>e-mail * <input></label>").lastElementChild), ["2"]);
    equal(givenFor(show("<input name=n>")), null);
    equal(givenFor(show("<input name=n type=number>")), ["3"]);
    equal(givenFor(show("<input autocomplete='home tel'>")), ["4"]);
  },
  "a form gets the first given value that the browser accepts": () => {
    give({ type: "email", values: ["", "wrong", "ada@example.com"] });
    give({ type: "number", values: ["wrong"] });
    equal(validValueFor(show("<input type=email>")), "ada@example.com");
    equal(validValueFor(show("<input type=number>")), "7");
  },
};
