// @ts-check
// Does what a user does, by events of the agent's own making. Where a page asks whether an event
// is trusted, or its style rules must see the pointer, argiope uses the browser's input instead.
import { passTime } from "./clock.js";
import { shared } from "./context.js";
import { isField, TEXTUAL } from "./fields.js";
import { putFile } from "./files.js";
import { fillIn } from "./filling.js";
import { controlsOf, formOf, noteChange } from "./forms.js";
import { asPage } from "./intact.js";
import { hooked, listenersOf } from "./listeners.js";
import { isTop } from "./listening.js";
import { apply, bare, defineProperty, getOwnPropertyDescriptor, native } from "./natives.js";
import { withNumber } from "./numbers.js";
import { KEYS } from "./offers.js";
import { paint } from "./rendering.js";
import { findAgain } from "./traits.js";
import { followWindow } from "./world.js";

// How long a long press lasts, in virtual milliseconds.
const LONG_PRESS = 1500;
// The details of most events that the browser sends.
const CANCELABLE = { bubbles: true, cancelable: true, composed: true };

/**
 * Performs one step; false if the element is not there.
 * @param {PathStep} step
 */
export async function perform({ kind, place, argument, number }) {
  const [element, onto] = place.split(">").map(findAgain);
  const act = ACTIONS[kind];
  if (!element || onto === null || !act) return false;
  if (CHANGES.has(kind)) noteChange(element);
  await act(element, argument, onto, number);
  return true;
}

// The kinds that change one field.
const CHANGES = new Set(["check", "input", "enter", "choose"]);

/**
 * @typedef {(element: any, argument: string, onto: any, number?: string) => void | Promise<void>}
 * Act
 */

/** @type {Record<string, Act>} */
const ACTIONS = {
  click: (element) => click(element, 1),
  check: (element) => click(element, 1),
  "double-click": doubleClick,
  "context-menu": openContextMenu,
  "long-press": pressLong,
  hover,
  focus: focusAnew,
  drag: (element, _, onto) => drag(element, onto),
  key: pressKey,
  input: (element, value, _, number) => typeInto(element, withNumber(value, number)),
  enter: (element, value, _, number) => typeInto(element, withNumber(value, number)),
  choose: (element, index) => choose(element, Number(index)),
  fill: (element, argument, _, number) => fill(element, argument, number),
  submit: (element) => element.requestSubmit(),
  scroll: scrollDown,
  link: (_, address) => location.assign(address),
};

/**
 * @param {Element} element
 * @returns {PageWindow}
 */
function viewOf(element) {
  return /** @type {PageWindow} */ (element.ownerDocument.defaultView);
}

/**
 * Sends an event; false if the page has prevented its default.
 * @param {EventTarget} target
 * @param {Event} event
 * @returns {boolean}
 */
function send(target, event) {
  return asPage(() => apply(native.dispatch, target, [event]));
}

// Handlers in attributes are not hooked: these events are always sent.
const BY_ATTRIBUTE = new Set(["dblclick", "contextmenu", "mouseover", "mousedown", "mouseup"]);

/**
 * Sends a mouse or pointer event if the page listens for its type at all.
 * @param {Element} element
 * @param {string} type
 * @param {object} more
 */
function sendMouse(element, type, more = {}) {
  if (!hooked.types.has(type) && !BY_ATTRIBUTE.has(type)) return true;
  return send(element, mouseEvent(element, type, more));
}

/**
 * @param {Element} element
 * @param {string} type
 * @param {object} more
 */
function mouseEvent(element, type, more) {
  const view = viewOf(element);
  const isQuiet = type.endsWith("enter") || type.endsWith("leave");
  const details = {
    bubbles: !isQuiet,
    cancelable: !isQuiet,
    composed: true,
    view,
    detail: 1,
    button: 0,
    buttons: 0,
    pointerId: 1,
    pointerType: "mouse",
    isPrimary: true,
    ...more,
  };
  const isPointer = type.startsWith("pointer") || type === "click";
  const event = isPointer
    ? new view.PointerEvent(type, details)
    : new view.MouseEvent(type, details);
  locate(event, element, view);
  return event;
}

/**
 * Says where an event happened, the middle of its element. That costs a layout and few pages ask,
 * so it is computed only then.
 * @param {Event} event
 * @param {Element} element
 * @param {PageWindow} view
 */
function locate(event, element, view) {
  /** @type {DOMRect | null} */
  let known = null;
  /** @type {(name: string, of: (box: DOMRect) => number) => void} */
  const lazily = (name, of) => {
    const get = () => {
      known ??= element.getBoundingClientRect();
      return of(known);
    };
    defineProperty(event, name, bare({ configurable: true, get }));
  };
  /** @param {DOMRect} box */
  const x = (box) => box.left + box.width / 2;
  /** @param {DOMRect} box */
  const y = (box) => box.top + box.height / 2;
  for (const name of ["clientX", "x", "screenX"]) lazily(name, x);
  for (const name of ["clientY", "y", "screenY"]) lazily(name, y);
  lazily("pageX", (box) => x(box) + view.scrollX);
  lazily("pageY", (box) => y(box) + view.scrollY);
  lazily("offsetX", (box) => box.width / 2);
  lazily("offsetY", (box) => box.height / 2);
}

/**
 * The middle of an element, as the details of an event.
 * @param {Element} element
 */
function middleOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { clientX: left + width / 2, clientY: top + height / 2 };
}

/**
 * @param {Element} element
 * @param {string} type
 */
function sendTouch(element, type) {
  if (!hooked.types.has(type)) return;
  const view = viewOf(element);
  const point = new view.Touch({ identifier: 1, target: element, ...middleOf(element) });
  const touches = type === "touchend" ? [] : [point];
  const details = { touches, targetTouches: touches, changedTouches: [point] };
  send(element, new view.TouchEvent(type, { ...CANCELABLE, ...details }));
}

/**
 * Moves the pointer from where it was to an element.
 * @param {Element} element
 */
function moveTo(element) {
  const before = shared.hovered;
  if (!before || before === element || before.contains(element)) return;
  shared.hovered = null;
  if (!before.isConnected) return;
  const details = { relatedTarget: element };
  for (const type of ["pointerout", "mouseout"]) sendMouse(before, type, details);
  /** @type {Element | null} */
  let node = before;
  for (; node && !node.contains(element); node = node.parentElement) {
    for (const type of ["pointerleave", "mouseleave"]) sendMouse(node, type, details);
  }
}

/**
 * @param {Element} element
 */
function pressOn(element, buttons = { button: 0, buttons: 1 }) {
  moveTo(element);
  sendTouch(element, "touchstart");
  sendMouse(element, "pointerdown", buttons);
  if (sendMouse(element, "mousedown", buttons)) focusByPress(element);
}

/**
 * @param {Element} element
 */
function letGo(element, button = 0) {
  sendTouch(element, "touchend");
  sendMouse(element, "pointerup", { button });
  sendMouse(element, "mouseup", { button });
}

/**
 * @param {Element} element
 * @param {number} count
 */
function click(element, count) {
  pressOn(element);
  letGo(element);
  const proceeds = send(element, mouseEvent(element, "click", { detail: count }));
  if (proceeds) followWindow(element);
}

/**
 * @param {Element} element
 */
function doubleClick(element) {
  click(element, 1);
  click(element, 2);
  sendMouse(element, "dblclick", { detail: 2 });
}

// Types that tell whether the page cares where the focus is.
const FOCUS_TYPES = [
  ...["focus", "focusin", "blur", "focusout", "change"],
  ...["keydown", "keyup", "keypress"],
];
const FOCUSABLE = "input,select,textarea,button,a[href],summary,[tabindex],[contenteditable]";

/**
 * Moves the focus as a mouse press does. That costs a layout, so only where it can matter.
 * @param {Element} element
 */
function focusByPress(element) {
  if (!isField(element) && !FOCUS_TYPES.some((type) => hooked.types.has(type))) return;
  /** @type {HTMLElement | null} */
  const target = element.closest(FOCUSABLE);
  /** @type {any} */
  const active = element.ownerDocument.activeElement;
  if (target) target.focus({ preventScroll: true });
  else active?.blur?.();
}

/**
 * @param {Element} element
 */
function openContextMenu(element) {
  pressOn(element, { button: 2, buttons: 2 });
  letGo(element, 2);
  sendMouse(element, "contextmenu", { button: 2 });
}

/**
 * @param {Element} element
 */
async function pressLong(element) {
  pressOn(element);
  await passTime(LONG_PRESS);
  letGo(element);
}

/**
 * @param {Element} element
 */
function hover(element) {
  moveTo(element);
  shared.hovered = element;
  /** @type {Element[]} */
  const entered = [];
  for (let node = /** @type {Element | null} */ (element); node; node = node.parentElement) {
    entered.unshift(node);
  }
  for (const kind of ["pointer", "mouse"]) {
    const enter = `${kind}enter`;
    sendMouse(element, `${kind}over`);
    for (const node of entered) {
      if (listenersOf(node, enter).length || node === element) sendMouse(node, enter);
    }
    sendMouse(element, `${kind}move`);
  }
}

/**
 * @param {HTMLElement} element
 */
function focusAnew(element) {
  if (element.ownerDocument.activeElement === element) element.blur();
  element.focus({ preventScroll: true });
}

/**
 * @param {Element} element
 * @param {Element} onto
 */
function drag(element, onto) {
  const view = viewOf(element);
  const dataTransfer = new view.DataTransfer();
  const details = { ...CANCELABLE, view, dataTransfer };
  /** @type {(target: Element, type: string) => boolean} */
  const sendDrag = (target, type) =>
    send(target, new view.DragEvent(type, { ...details, ...middleOf(target) }));
  moveTo(element);
  if (!sendDrag(element, "dragstart")) return;
  sendDrag(element, "drag");
  sendDrag(onto, "dragenter");
  const isAccepted = !sendDrag(onto, "dragover");
  if (isAccepted) sendDrag(onto, "drop");
  sendDrag(element, "dragend");
}

/**
 * @param {HTMLElement} element
 * @param {string} key
 */
function pressKey(element, key) {
  const view = viewOf(element);
  const code = KEYS[key] ?? 0;
  const details = { key, code: key, keyCode: code, which: code, ...CANCELABLE, view };
  if (!isTop(element)) element.focus({ preventScroll: true });
  /** @type {any} */
  const active = isTop(element) ? (element.ownerDocument.activeElement ?? element) : element;
  const proceeds = send(active, new view.KeyboardEvent("keydown", details));
  if (proceeds && key === "Enter") {
    send(active, new view.KeyboardEvent("keypress", details));
    // Enter in a field sends its form.
    if (active.localName === "input" && active.form && TEXTUAL.has(active.type)) {
      active.form.requestSubmit(submitOf(active.form));
    }
  }
  send(active, new view.KeyboardEvent("keyup", details));
}

/**
 * @param {HTMLFormElement} form
 */
function submitOf(form) {
  return controlsOf(form).find((one) => one.type === "submit" && !one.disabled) ?? null;
}

/**
 * Fills in a form and sends it by one of its buttons; as the Enter key does if it has none.
 * @param {any} element
 * @param {string} argument
 * @param {string | undefined} number
 */
async function fill(element, argument, number) {
  const form = formOf(element);
  if (!form) return;
  const press = (/** @type {Element} */ box) => click(box, 1);
  await fillIn(form, argument, number, { type: typeInto, choose, press });
  if (element === form) form.requestSubmit(submitOf(form));
  else if (element.isConnected) click(element, 1);
}

/**
 * @param {HTMLElement} element
 * @param {string} value
 */
function typeInto(element, value) {
  const view = viewOf(element);
  moveTo(element);
  element.focus({ preventScroll: true });
  const details = { ...CANCELABLE, data: value, inputType: "insertText" };
  if (!send(element, new view.InputEvent("beforeinput", details))) return;
  setValue(element, value, view);
  send(element, new view.InputEvent("input", { ...details, cancelable: false }));
  send(element, new view.Event("change", { bubbles: true }));
}

/**
 * Sets a value by the prototype's setter: frameworks watch the element's own.
 * @param {HTMLElement} element
 * @param {string} value
 * @param {PageWindow} view
 */
function setValue(element, value, view) {
  if (/** @type {HTMLInputElement} */ (element).type === "file") {
    putFile(/** @type {HTMLInputElement} */ (element), value, view);
    return;
  }
  let prototype = null;
  if (element.localName === "textarea") prototype = view.HTMLTextAreaElement.prototype;
  if (element.localName === "input") prototype = view.HTMLInputElement.prototype;
  const setter = prototype && getOwnPropertyDescriptor(prototype, "value")?.set;
  if (setter) apply(setter, element, [value]);
  else element.textContent = value;
}

/**
 * @param {HTMLSelectElement} select
 * @param {number} index
 */
function choose(select, index) {
  const view = viewOf(select);
  const option = select.options[index];
  if (!option) return;
  moveTo(select);
  select.focus({ preventScroll: true });
  option.selected = true;
  send(select, new view.Event("input", { bubbles: true, composed: true }));
  send(select, new view.Event("change", { bubbles: true }));
}

/**
 * @param {Element} element
 */
async function scrollDown(element) {
  element.scrollTop = element.scrollHeight;
  // The scroll event and the observers come with a frame.
  await paint();
  shared.paintFirst = true;
}
