// @ts-check
import { passTime } from "../clock.js";
import { shared } from "../context.js";
import { perform } from "../perform.js";
import { placeOf } from "../place.js";
import { equal, show } from "./check.js";

/** @type {string[]} */
const events = [];

/**
 * Records events of some types on an element.
 * @param {Element} element
 * @param {string} types
 */
function record(element, types) {
  for (const type of types.split(" ")) element.addEventListener(type, () => events.push(type));
}

/**
 * @param {Element} element
 * @param {string} kind
 */
function act(element, kind, argument = "", onto = "") {
  return perform({ kind, place: placeOf(element) + onto, argument });
}

export const cases = {
  "a click is the whole sequence of events": async () => {
    const button = show("<button>b</button>");
    record(button, "pointerdown mousedown pointerup mouseup click");
    equal(await act(button, "click"), true);
    equal(events, ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]);
  },
  "a step on an element that is not there is not performed": async () => {
    equal(await perform({ kind: "click", place: "1/9", argument: "" }), false);
    equal(await perform({ kind: "drag", place: "1>1/9", argument: "" }), false);
    equal(await perform({ kind: "unknown", place: "1", argument: "" }), false);
  },
  "a double click and a context menu are told apart": async () => {
    const button = show("<button>b</button>");
    record(button, "click dblclick contextmenu");
    await act(button, "double-click");
    await act(button, "context-menu");
    equal(events, ["click", "click", "dblclick", "contextmenu"]);
  },
  "a long press lasts in virtual time": async () => {
    const button = show("<button>b</button>");
    record(button, "mouseup");
    button.addEventListener("mousedown", () => setTimeout(() => events.push("held"), 1000));
    await act(button, "long-press");
    equal(events, ["held", "mouseup"]);
    await passTime(1);
  },
  "hovering leaves what was hovered before": async () => {
    const first = show("<p>a</p><p>b</p>");
    record(first, "mouseenter mouseleave");
    await act(first, "hover");
    equal(shared.hovered === first, true);
    await act(first.nextSibling, "hover");
    equal(events, ["mouseenter", "mouseleave"]);
  },
  "a key on an element has its focus and its code": async () => {
    const box = show("<p tabindex=0>text</p>");
    box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      events.push(`${event.key} ${event.keyCode} ${document.activeElement === box}`);
    });
    await act(box, "key", "Escape");
    equal(events, ["Escape 27 true"]);
  },
  "Enter in a field sends its form": async () => {
    const form = show("<form><input><button>b</button></form>");
    form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      events.push(`sent by ${event.submitter?.localName}`);
    });
    await act(form.firstChild, "key", "Enter");
    equal(events, ["sent by button"]);
  },
  "typing goes past a framework's own setter": async () => {
    const input = show("<input>");
    Object.defineProperty(input, "value", { set: () => events.push("own"), configurable: true });
    record(input, "beforeinput input change");
    await act(input, "input", "typed");
    delete input.value;
    equal([events, input.value], [["beforeinput", "input", "change"], "typed"]);
  },
  "typing that the page prevents changes nothing": async () => {
    const input = show("<input>");
    input.addEventListener("beforeinput", (/** @type {Event} */ event) => event.preventDefault());
    await act(input, "input", "typed");
    equal(input.value, "");
  },
  "choosing an option tells the page": async () => {
    const select = show("<select><option>a<option>b</select>");
    record(select, "input change");
    await act(select, "choose", "1");
    equal([select.selectedIndex, events], [1, ["input", "change"]]);
  },
  "a drag is dropped only where it is accepted": async () => {
    const source = show("<p draggable=true>a</p><p>b</p>");
    const target = source.nextSibling;
    record(source, "dragstart dragend");
    record(target, "drop");
    await act(source, "drag", "", `>${placeOf(target)}`);
    equal(events, ["dragstart", "dragend"]);
    target.addEventListener("dragover", (/** @type {Event} */ event) => event.preventDefault());
    await act(source, "drag", "", `>${placeOf(target)}`);
    equal(events.slice(2), ["dragstart", "drop", "dragend"]);
  },
  "a click says where it was": async () => {
    const button = show("<button style='position: fixed; left: 10px; top: 20px'>b</button>");
    const { width, height } = button.getBoundingClientRect();
    button.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      equal([event.clientX, event.clientY], [10 + width / 2, 20 + height / 2]);
      events.push("click");
    });
    await act(button, "click");
    equal(events, ["click"]);
  },
  "a link into a new window is noted where no window may open": async () => {
    const link = show("<a href='/new' target=_blank>a</a>");
    link.addEventListener("click", (/** @type {Event} */ event) => event.preventDefault());
    await act(link, "click");
    equal(shared.notes, []);
    await act(show("<a href='/new' target=_blank>a</a>"), "click");
    equal(shared.notes.at(-1), ["window", `${location.origin}/new`]);
  },
  "scrolling goes to the end and paints": async () => {
    show("<p style='height: 5000px'>long</p>");
    const page = document.documentElement;
    await act(page, "scroll");
    equal([page.scrollTop > 3000, shared.paintFirst], [true, true]);
  },
};
