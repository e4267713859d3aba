// @ts-check
import { perform } from "../perform.js";
import { placeOf } from "../place.js";
import { equal, show } from "./check.js";

/**
 * Fills in the form by its last button, and gives what it would send.
 * @param {any} form
 */
async function filled(form, argument = "", number = "00000001") {
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    form.sent = true;
  });
  const button = form.lastElementChild;
  equal(await perform({ kind: "fill", place: placeOf(button), argument, number }), true);
  const data = [...new FormData(form)].map(([name, value]) => {
    return `${name}=${value instanceof File ? value.name : value}`;
  });
  return [...data, form.sent === true];
}

export const cases = {
  "every field gets a valid value, and the form is sent": async () => {
    const form = show(
      `<form><input name=a required><input name=b type=email><input name=c type=radio value=1>
      <input name=c type=radio value=2><select name=d required><option value="">?<option>x</select>
      <input name=e type=checkbox required><input name=f type=checkbox>
      <input name=g type=file accept=.pdf><button>b</button></form>`,
    );
    const expected = ["a=argiope", "b=argiope@example.com", "c=1", "d=x", "e=on", "g=argiope.pdf"];
    equal(await filled(form), [...expected, true]);
  },
  "what is set and valid stays": async () => {
    const form = show(
      "<form><input name=a value=mine><input name=b type=email value=wrong><button>b</button></form>",
    );
    equal(await filled(form), ["a=mine", "b=argiope@example.com", true]);
  },
  "one field gets the given value": async () => {
    const form = show(
      `<form><input name=a required><input name=b type=radio value=1><label><input name=b
      type=radio value=2> two</label><select name=c><option>x<option value=2>y</select>
      <button>b</button></form>`,
    );
    equal(await filled(form, "a = x = y"), ["a=x = y", "b=1", "c=x", true]);
    equal(await filled(form, "b = two"), ["a=x = y", "b=2", "c=x", true]);
    equal(await filled(form, "c = y"), ["a=x = y", "b=2", "c=2", true]);
  },
  "a value that the browser refuses is not sent": async () => {
    const form = show("<form><input name=a required><button>b</button></form>");
    equal(await filled(form, "a = "), ["a=", false]);
  },
  "a number is put into values that must be unique": async () => {
    const form = show(
      "<form><input name=login><input name=b type=password><input name=c><button>b</button></form>",
    );
    const expected = ["login=argiope995700000007", "b=Argiope-1", "c=x995700000007", true];
    equal(await filled(form, "c = x{n}", "00000007"), expected);
  },
  "a button that needs a filled form is pressed once it is enabled": async () => {
    const form = show("<form><input name=a><button disabled>b</button></form>");
    form.addEventListener("input", () => {
      form.lastElementChild.disabled = form.elements.a.value === "";
    });
    equal(await filled(form), ["a=argiope", true]);
  },
  "fields that a choice brings to light are filled in as well": async () => {
    const form = show(
      `<form><select name=a required><option value="">?<option>x</select>
      <input name=b required style="display: none"><button>b</button></form>`,
    );
    form.elements.a.addEventListener("change", () => form.elements.b.removeAttribute("style"));
    equal(await filled(form), ["a=x", "b=argiope", true]);
  },
};
