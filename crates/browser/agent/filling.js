// @ts-check
// Fills in a form: valid values where fields need them, and one given value if the step has one.
// What the page or an earlier step has set stays, as far as the browser accepts it.
import { currentValue } from "./fields.js";
import { chosenField, fieldsOf, noteChange } from "./forms.js";
import { turn } from "./natives.js";
import { withNumber } from "./numbers.js";
import { givenFor, validValueFor } from "./values.js";

/**
 * @typedef {object} Hands what changes a field
 * @property {(field: any, value: string) => void} type
 * @property {(select: any, index: number) => void} choose
 * @property {(box: any) => void} press
 */

// Fields that a choice brings to light are filled in as well, in this many rounds at most.
const MOST_ROUNDS = 3;

/**
 * @param {HTMLFormElement} form
 * @param {string} argument
 * @param {string | undefined} number
 * @param {Hands} hands
 */
export async function fillIn(form, argument, number, hands) {
  const { field: chosen, value } = chosenField(fieldsOf(form), argument);
  /** @type {Set<Element>} */
  const filled = new Set();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const open = fieldsOf(form).filter((field) => !filled.has(field));
    if (open.length === 0) break;
    for (const field of open) {
      filled.add(field);
      if (field === chosen) setGiven(field, withNumber(value, number), form, hands);
      else if (!isGroupOf(field, chosen)) complete(field, form, number, hands);
    }
    // Frameworks show what follows from a value a moment later.
    await turn();
  }
}

/**
 * Whether two fields are radio buttons of one group.
 * @param {any} field
 * @param {any} other
 */
function isGroupOf(field, other) {
  return field.type === "radio" && other?.type === "radio" && field.name === other.name;
}

/**
 * Sets a given value: a text, an option, a radio button, a box that is on or off, or a file.
 * @param {any} field
 * @param {string} value
 * @param {HTMLFormElement} form
 * @param {Hands} hands
 */
function setGiven(field, value, form, hands) {
  noteChange(field);
  if (field.localName === "select") {
    const index = optionFor(field, value);
    if (index >= 0) hands.choose(field, index);
  } else if (field.type === "checkbox") {
    if (field.checked !== (value === "on")) hands.press(field);
  } else if (field.type === "radio") {
    const group = fieldsOf(form).filter((one) => isGroupOf(one, field));
    const wanted = group.find((one) => isCalled(one, value));
    if (wanted) noteChange(wanted);
    if (wanted && !wanted.checked) hands.press(wanted);
  } else {
    hands.type(field, value);
  }
}

/**
 * The option that a given value means, by its value or its text; -1 if there is none.
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
export function optionFor(select, value) {
  return [...select.options].findIndex((one) => one.value === value || one.text === value);
}

/**
 * @param {any} radio
 * @param {string} value
 */
function isCalled(radio, value) {
  const isLabel = (/** @type {Element} */ label) => label.textContent?.trim() === value;
  return radio.value === value || [...(radio.labels ?? [])].some(isLabel);
}

/**
 * Gives a field a valid value if it has none.
 * @param {any} field
 * @param {HTMLFormElement} form
 * @param {string | undefined} number
 * @param {Hands} hands
 */
function complete(field, form, number, hands) {
  const { localName, type } = field;
  const isWrong = field.validity !== undefined && !field.validity.valid;
  if (localName === "select") {
    const isOpen = field.selectedIndex < 0 || (field.value === "" && !field.multiple);
    const index = isOpen || isWrong ? firstOption(field) : -1;
    if (index < 0) return;
    noteChange(field);
    hands.choose(field, index);
  } else if (type === "checkbox") {
    if (!isWrong || field.checked) return;
    noteChange(field);
    hands.press(field);
  } else if (type === "radio") {
    const group = fieldsOf(form).filter((one) => isGroupOf(one, field));
    if (group.some((one) => one.checked)) return;
    const given = givenFor(field) ?? [];
    const wanted = group.find((one) => given.some((value) => isCalled(one, value))) ?? field;
    noteChange(wanted);
    hands.press(wanted);
  } else if (currentValue(field) === "" || isWrong) {
    noteChange(field);
    hands.type(field, withNumber(validValueFor(field), number));
  }
}

/**
 * The first option that means something: a given one, otherwise one with a value.
 * @param {HTMLSelectElement} select
 */
function firstOption(select) {
  const given = (givenFor(select) ?? []).map((value) => optionFor(select, value));
  const options = [...select.options];
  const usable = options.findIndex((one) => !one.disabled && one.value !== "");
  return given.find((index) => index >= 0 && options[index].value !== "") ?? usable;
}
