// The page agent, part 9: doing what a user does, by events of our own making. What a page does not
// believe (because it asks whether the event is trusted, or because the style rules must see the pointer)
// is done from outside by the browser's input, with `aim` to tell where.
async function perform({ kind, place: where, argument }) {
  const [first, second] = where.split(">");
  const element = at(first);
  const onto = second === undefined ? null : at(second);
  if (!element || (second !== undefined && !onto)) return false;
  switch (kind) {
    case "click": case "check": click(element, 1); break;
    case "double-click": click(element, 1); click(element, 2); mouse(element, "dblclick", { detail: 2 }); break;
    case "context-menu": contextMenu(element); break;
    case "long-press": await longPress(element); break;
    case "hover": hover(element); break;
    case "focus": focus(element); break;
    case "drag": drag(element, onto); break;
    case "key": key(element, argument); break;
    case "input": enter(element, argument); break;
    case "choose": choose(element, Number(argument)); break;
    case "submit": element.requestSubmit(); break;
    case "scroll": await scroll(element); break;
    case "link": location.assign(argument); break;
    default: return false;
  }
  return true;
}

function send(element, event) {
  return apply(native.dispatch, element, [event]);
}

// Sends an event if anybody listens for it at all.
function mouse(element, type, more = {}) {
  if (!heard.types.has(type) && !BY_ATTRIBUTE.has(type)) return true;
  return send(element, mouseEvent(element, type, more));
}
const BY_ATTRIBUTE = new Set(["dblclick", "contextmenu", "mouseover", "mousedown", "mouseup"]);

function mouseEvent(element, type, more) {
  const view = element.ownerDocument.defaultView;
  const quiet = type.endsWith("enter") || type.endsWith("leave");
  const details = {
    bubbles: !quiet, cancelable: !quiet, composed: true, view, detail: 1,
    button: 0, buttons: 0, pointerId: 1, pointerType: "mouse", isPrimary: true, ...more,
  };
  const Event = type.startsWith("pointer") || type === "click" ? view.PointerEvent : view.MouseEvent;
  const event = new Event(type, details);
  // Where it happened costs a layout, and hardly anybody asks.
  let box = null;
  const lazily = (name, of) => defineProperty(event, name, { configurable: true, get: () => of((box ??= element.getBoundingClientRect())) });
  const x = (box) => box.left + box.width / 2;
  const y = (box) => box.top + box.height / 2;
  for (const name of ["clientX", "x", "screenX"]) lazily(name, x);
  for (const name of ["clientY", "y", "screenY"]) lazily(name, y);
  lazily("pageX", (box) => x(box) + view.scrollX);
  lazily("pageY", (box) => y(box) + view.scrollY);
  lazily("offsetX", (box) => box.width / 2);
  lazily("offsetY", (box) => box.height / 2);
  return event;
}

function touch(element, type) {
  if (!heard.types.has(type)) return;
  const view = element.ownerDocument.defaultView;
  const box = element.getBoundingClientRect();
  const point = new view.Touch({ identifier: 1, target: element, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 });
  const touches = type === "touchend" ? [] : [point];
  send(element, new view.TouchEvent(type, { bubbles: true, cancelable: true, composed: true, touches, targetTouches: touches, changedTouches: [point] }));
}

// The pointer goes from where it was to an element.
function moveTo(element) {
  const before = shared.hovered;
  if (!before || before === element || before.contains(element)) return;
  shared.hovered = null;
  if (!before.isConnected) return;
  for (const type of ["pointerout", "mouseout"]) mouse(before, type, { relatedTarget: element });
  for (let node = before; node && !node.contains(element); node = node.parentElement) {
    for (const type of ["pointerleave", "mouseleave"]) mouse(node, type, { relatedTarget: element });
  }
}

function press(element, buttons = { button: 0, buttons: 1 }) {
  moveTo(element);
  touch(element, "touchstart");
  mouse(element, "pointerdown", buttons);
  if (mouse(element, "mousedown", buttons)) focusFor(element);
}

function letGo(element, button = 0) {
  touch(element, "touchend");
  mouse(element, "pointerup", { button });
  mouse(element, "mouseup", { button });
}

function click(element, count) {
  press(element);
  letGo(element);
  const proceeds = send(element, mouseEvent(element, "click", { detail: count }));
  const link = element.closest("a[target],area[target]");
  if (proceeds && link?.href && !/^(|_self|_top|_parent)$/.test(link.target)) note("window", link.href);
}

// A mouse press moves the focus, as the browser would; that costs a layout, so only where it can matter.
const FOCUS = ["focus", "focusin", "blur", "focusout", "change", "keydown", "keyup", "keypress"];
function focusFor(element) {
  if (!field(element) && !FOCUS.some((type) => heard.types.has(type))) return;
  const target = element.closest("input,select,textarea,button,a[href],summary,[tabindex],[contenteditable]");
  if (target) target.focus({ preventScroll: true });
  else element.ownerDocument.activeElement?.blur?.();
}

function contextMenu(element) {
  press(element, { button: 2, buttons: 2 });
  letGo(element, 2);
  mouse(element, "contextmenu", { button: 2 });
}

async function longPress(element) {
  press(element);
  await pass(1500);
  letGo(element);
}

function hover(element) {
  moveTo(element);
  shared.hovered = element;
  const entered = [];
  for (let node = element; node; node = node.parentElement) entered.unshift(node);
  for (const kind of ["pointer", "mouse"]) {
    mouse(element, kind + "over");
    for (const node of entered) if (listeners(node, kind + "enter").length || node === element) mouse(node, kind + "enter");
    mouse(element, kind + "move");
  }
}

function focus(element) {
  if (element.ownerDocument.activeElement === element) element.blur();
  element.focus({ preventScroll: true });
}

function drag(element, onto) {
  const view = element.ownerDocument.defaultView;
  const dataTransfer = new view.DataTransfer();
  const fire = (target, type) => {
    const box = target.getBoundingClientRect();
    const details = { bubbles: true, cancelable: true, composed: true, view, dataTransfer, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
    return send(target, new view.DragEvent(type, details));
  };
  moveTo(element);
  if (!fire(element, "dragstart")) return;
  fire(element, "drag");
  fire(onto, "dragenter");
  const accepted = !fire(onto, "dragover");
  if (accepted) fire(onto, "drop");
  fire(element, "dragend");
}

function key(element, name) {
  const view = element.ownerDocument.defaultView;
  const code = KEYS[name] ?? 0;
  const details = { key: name, code: name, keyCode: code, which: code, bubbles: true, cancelable: true, composed: true, view };
  if (!isTop(element)) element.focus({ preventScroll: true });
  const active = isTop(element) ? (element.ownerDocument.activeElement ?? element) : element;
  const proceed = send(active, new view.KeyboardEvent("keydown", details));
  if (proceed && name === "Enter") {
    send(active, new view.KeyboardEvent("keypress", details));
    // A field's form is sent by Enter; a button is clicked by it.
    if (active.localName === "input" && active.form && TEXTUAL.has(active.type)) active.form.requestSubmit(submitOf(active.form));
  }
  send(active, new view.KeyboardEvent("keyup", details));
}

function submitOf(form) {
  return [...form.elements].find((one) => one.type === "submit" && !one.disabled) ?? null;
}

function enter(element, value) {
  const view = element.ownerDocument.defaultView;
  moveTo(element);
  element.focus({ preventScroll: true });
  const details = { bubbles: true, cancelable: true, composed: true, data: value, inputType: "insertText" };
  if (!send(element, new view.InputEvent("beforeinput", details))) return;
  setValue(element, value, view);
  send(element, new view.InputEvent("input", { ...details, cancelable: false }));
  send(element, new view.Event("change", { bubbles: true }));
}

// By the prototype's setter: frameworks watch the element's own.
function setValue(element, value, view) {
  const prototype = element.localName === "textarea" ? view.HTMLTextAreaElement.prototype : element.localName === "input" ? view.HTMLInputElement.prototype : null;
  if (prototype) apply(getOwnPropertyDescriptor(prototype, "value").set, element, [value]);
  else element.textContent = value;
}

function choose(select, index) {
  const view = select.ownerDocument.defaultView;
  const option = select.options[index];
  if (!option) return;
  moveTo(select);
  select.focus({ preventScroll: true });
  option.selected = true;
  send(select, new view.Event("input", { bubbles: true, composed: true }));
  send(select, new view.Event("change", { bubbles: true }));
}

async function scroll(element) {
  element.scrollTop = element.scrollHeight;
  // The scroll event and the observers come with a frame.
  await paint();
  shared.paintFirst = true;
}
