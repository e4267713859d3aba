// @ts-check
// Forms as a whole. A small form is explored as everything else is: each field is an action, and
// all combinations are tried. The combinations of a larger one grow without bound, so that it is
// filled in and sent in one action, and changed by one field at a time (decision 36).
import { isChanged, noteField } from "./changes.js";
import { labelsOf, TEXTUAL } from "./fields.js";
import { listenersOf } from "./listeners.js";
import { apply, getOrInsert, getOwnPropertyDescriptor } from "./natives.js";
import { isVisible, labelOf } from "./tree.js";
import { givenFor } from "./values.js";

// A form with more combinations of values is large.
const MOST_COMBINATIONS = 8;
// How many buttons of a form are tried with valid values.
const MOST_BUTTONS = 4;
// What a field, or its form, listens for when a page answers to typing.
const TYPING = ["beforeinput", "input", "change", "keydown", "keypress", "keyup"];
const RESULTS = ["input", "change"];
// Between the name of a field and its value in the argument of a fill.
const IS = " = ";

// The visible fields of each form before argiope changed it for the first time.
/** @type {WeakMap<Element, WeakSet<Element>>} */
const before = new WeakMap();

// A field named `elements` hides the form's own list from the page's scripts.
const listElements = /** @type {() => HTMLFormControlsCollection} */ (
  getOwnPropertyDescriptor(HTMLFormElement.prototype, "elements")?.get
);

/**
 * @param {any} element
 * @returns {HTMLFormElement | null}
 */
export function formOf(element) {
  return element.localName === "form" ? element : (element.form ?? element.closest("form"));
}

/**
 * All controls of a form.
 * @param {HTMLFormElement} form
 * @returns {any[]}
 */
export function controlsOf(form) {
  return [...apply(listElements, form, [])];
}

/**
 * The fields of a form that a user can fill in, in the order of the page.
 * @param {HTMLFormElement} form
 * @returns {any[]}
 */
export function fieldsOf(form) {
  const isFillable = (/** @type {any} */ { localName, type }) => {
    if (localName === "select" || localName === "textarea") return true;
    const isChosen = type === "checkbox" || type === "radio" || type === "file";
    return localName === "input" && (isChosen || TEXTUAL.has(type));
  };
  /** @type {any[]} */
  const editable = [...form.querySelectorAll("[contenteditable]")];
  const outermost = editable.filter((one) => {
    return one.isContentEditable && !one.parentElement?.isContentEditable;
  });
  return [...controlsOf(form).filter(isFillable), ...outermost].filter(isUsable);
}

/**
 * @param {any} field
 */
function isUsable(field) {
  if (field.readOnly || field.matches(":disabled")) return false;
  if (isVisible(field) || labelOf(field)) return true;
  return field.type === "file" && [...field.labels].some(isVisible);
}

/**
 * Remembers a field and the form around it, before argiope changes the field.
 * @param {Element} field
 */
export function noteChange(field) {
  noteField(field);
  const form = formOf(field);
  if (form) getOrInsert(before, form, () => new WeakSet(fieldsOf(form)));
}

/**
 * The name of a field in its form, for people and for the argument of a fill.
 * @param {any} field
 * @param {any[]} fields
 */
function nameOf(field, fields) {
  const called = (/** @type {any} */ one) => {
    const label = one.type === "radio" ? undefined : labelsOf(one)[0];
    return (label || one.name || one.id || one.localName).slice(0, 80).replaceAll(IS, " ");
  };
  const name = called(field);
  const same = fields.filter((one) => called(one) === name && !isBeside(one, field));
  const nth = same.indexOf(field);
  return nth > 0 ? `${name} (${nth + 1})` : name;
}

/**
 * Whether two radio buttons are of one group, and not the same.
 * @param {any} one
 * @param {any} other
 */
function isBeside(one, other) {
  return one !== other && one.type === "radio" && other.type === "radio" && one.name === other.name;
}

/**
 * The field of a form that the argument of a fill names, and its value.
 * @param {any[]} fields
 * @param {string} argument
 */
export function chosenField(fields, argument) {
  const at = argument.indexOf(IS);
  const name = argument.slice(0, Math.max(at, 0));
  const field = at < 0 ? undefined : fields.find((one) => nameOf(one, fields) === name);
  return { field, value: argument.slice(at + IS.length) };
}

/**
 * How many values a field can take, as far as argiope tries them.
 * @param {any} field
 * @param {any[]} fields
 */
function choicesOf(field, fields) {
  const { localName, type } = field;
  if (localName === "select") return field.multiple ? 2 ** field.length : field.length;
  if (type === "checkbox") return 2;
  if (type !== "radio") return 1 + (givenFor(field)?.length ?? 1);
  const group = fields.filter((one) => one === field || isBeside(one, field));
  return group[0] === field ? group.length : 1;
}

/**
 * The buttons that send a form: those of the browser, otherwise those that only scripts handle.
 * @param {HTMLFormElement} form
 */
function buttonsOf(form) {
  const all = controlsOf(form).filter((one) => !one.formNoValidate && isVisible(one));
  const sending = all.filter(({ type }) => type === "submit" || type === "image");
  const buttons = sending.length ? sending : all.filter(({ type }) => type === "button");
  return buttons.slice(0, MOST_BUTTONS);
}

/** The forms of a page, as far as they were asked for. */
export class Forms {
  /**
   * @param {Element[]} elements
   * @param {import("./listening.js").Listening} found
   */
  constructor(elements, found) {
    this.elements = elements;
    this.found = found;
    /** @type {Map<HTMLFormElement, ReturnType<Forms["describe"]>>} */
    this.described = new Map();
    /** @type {Element | null | undefined} */
    this.loose = undefined;
  }

  /** @param {HTMLFormElement} form */
  describe(form) {
    const fields = fieldsOf(form);
    const buttons = buttonsOf(form);
    const choices = fields.map((field) => choicesOf(field, fields));
    const isLarge = choices.reduce((all, one) => all * one, 1) > MOST_COMBINATIONS;
    const known = before.get(form);
    /** @param {Element} field */
    const isNew = (field) => known !== undefined && !known.has(field);
    const changed = fields.filter(isChanged);
    return {
      ...{ fields, buttons, isLarge, isNew },
      isChanged: changed.some((field) => !isNew(field)),
      isNewChanged: changed.some(isNew),
    };
  }

  /** @param {HTMLFormElement} form */
  about(form) {
    return getOrInsert(this.described, form, () => this.describe(form));
  }

  /**
   * Whether a field may be changed by an action of its own.
   * @param {any} field
   */
  mayChange(field) {
    const form = formOf(field);
    if (!form) return true;
    const { isLarge, buttons } = this.about(form);
    if (!isLarge || buttons.length === 0) return true;
    const isChosen = field.type === "checkbox" || field.type === "radio" || field.options;
    return this.mayVary(field, form) && (isChosen || this.isHeard(field, form));
  }

  /**
   * Whether a field may differ from what the page has set: no other field does. A field that came
   * with a change is as free as those that were there before it.
   * @param {Element} field
   * @param {HTMLFormElement} form
   */
  mayVary(field, form) {
    const about = this.about(form);
    return about.isNew(field) ? !about.isNewChanged : !about.isChanged;
  }

  /**
   * Whether the page listens for what is typed into a field.
   * @param {Element} field
   * @param {HTMLFormElement} form
   */
  isHeard(field, form) {
    /** @type {any} */
    let node = field;
    let types = TYPING;
    for (; node; node = node.parentElement ?? node.getRootNode?.().host) {
      if (this.found.hears(node, types)) return true;
      if (node === form) types = RESULTS;
    }
    return RESULTS.some((type) => listenersOf(document, type).length > 0);
  }

  /**
   * The given values of a field outside of forms that may be typed now: the first, and the others
   * while no other such field has one.
   * @param {Element} field
   * @param {string[]} given
   */
  looseValues(field, given) {
    if (this.loose === undefined) {
      this.loose = this.elements.find((one) => isChanged(one) && !formOf(one)) ?? null;
    }
    return this.loose === null || this.loose === field ? given : given.slice(0, 1);
  }

  /**
   * What a button, or a form without one, can be filled in with before it is sent: valid values,
   * and each given value by itself.
   * @param {any} element
   * @returns {string[]}
   */
  fillsOf(element) {
    const form = formOf(element);
    if (!form) return [];
    const { fields, buttons, isLarge } = this.about(form);
    const at = (buttons.length ? buttons : [form]).indexOf(element);
    if (!isLarge || at < 0) return [];
    const varied = fields.filter((field) => at === 0 && this.mayVary(field, form));
    const isFirst = (/** @type {any} */ field, /** @type {number} */ index) => {
      return !varied.slice(0, index).some((other) => isBeside(other, field));
    };
    const given = varied.filter(isFirst).flatMap((field) => {
      return (givenFor(field) ?? []).map((value) => nameOf(field, fields) + IS + value);
    });
    return ["", ...given];
  }

  /**
   * Whether a form has a field that an operable page lets a user reach.
   * @param {any} element
   * @param {(field: Element) => boolean} isReached
   */
  canBeFilled(element, isReached) {
    const form = formOf(element);
    return form !== null && isVisible(element) && this.about(form).fields.some(isReached);
  }
}
