// @ts-check
// What can be done on the page: native controls, and elements that listen or look as if they did.
// What is invisible, covered, disabled or out of scope is withheld, with the reason.
import { currentValue, isField, TEXTUAL } from "./fields.js";
import { optionFor } from "./filling.js";
import { controlsOf, Forms, formOf } from "./forms.js";
import { hooked, listenersOf } from "./listeners.js";
import { FAMILY, handlerOf, isReactRoot, isTop, Listening } from "./listening.js";
import { apply, getOrInsert, native, ownNames, wellFormed } from "./natives.js";
import { coverOfViewport, hindranceOf } from "./operable.js";
import { hasHoverRule } from "./rules.js";
import { tracesOf } from "./traits.js";
import { isVisible } from "./tree.js";
import { givenFor, valueFor } from "./values.js";
import { isAllowed } from "./world.js";

export const MOST_OFFERS = 5000;
const MOST_DRAGS = 64;
const MOST_OPTIONS = 32;
// How many withheld actions are listed; the others are counted.
const MOST_WITHHELD = 200;
// The same in a large form.
const MOST_FORM_OPTIONS = 8;
// What sends a form.
const SENDING = new Set(["button", "input", "form"]);
const PRESS = ["pointerdown", "mousedown", "touchstart"];
const RELEASE = [
  ...["pointerup", "mouseup", "touchend"],
  ...["pointercancel", "pointerleave", "mouseleave"],
];
/**
 * The keys that are offered, with their codes.
 * @type {Record<string, number>}
 */
export const KEYS = {
  Enter: 13,
  Escape: 27,
  ArrowUp: 38,
  ArrowDown: 40,
  ArrowLeft: 37,
  ArrowRight: 39,
};

/** How many actions of the page are beyond the limits above. */
let beyond = 0;

/**
 * @param {CollectedTree} tree
 */
export function findOffers({ elements, numbers }) {
  const found = new Listening(elements);
  beyond = 0;
  /** @type {Map<Element, string>} */
  const traced = new Map();
  const traces = (/** @type {Element} */ element) =>
    getOrInsert(traced, element, () => tracesOf(element));
  /** @type {Offer[]} */
  const offers = [];
  /** @type {(kind: string, element: Element, argument?: Want[1], onto?: Element) => void} */
  const offer = (kind, element, argument = "", onto) => {
    offers.push({
      kind,
      node: /** @type {number} */ (numbers.get(element)),
      onto: onto ? /** @type {number} */ (numbers.get(onto)) : null,
      argument: wellFormed(String(argument)),
      place: traces(element) + (onto ? `>${traces(onto)}` : ""),
    });
  };
  /** @type {Withheld[]} */
  const withheld = [];
  let unlisted = 0;
  /** @type {(kind: string, element: Element, argument: Want[1], reason: Hindrance) => void} */
  const withhold = (kind, element, argument, reason) => {
    if (withheld.length >= MOST_WITHHELD) {
      unlisted++;
      return;
    }
    const node = /** @type {number} */ (numbers.get(element));
    withheld.push({ kind, node, argument: wellFormed(String(argument)), reason });
  };
  /** @type {Element | null | undefined} */
  let covering;
  const cover = () => {
    if (covering === undefined) covering = coverOfViewport();
    return covering;
  };
  const sources = [];
  const forms = new Forms(elements, found);
  const isReached = (/** @type {Element} */ field) => hindranceOf(field, cover) === "";
  for (const element of elements) {
    // A button that is disabled as long as a form is empty is not operable yet.
    const fills = SENDING.has(element.localName) ? forms.fillsOf(element) : [];
    if (fills.length && forms.canBeFilled(element, isReached)) {
      for (const argument of fills) offer("fill", element, argument);
    }
    const wants = wantsOf(element, found, forms);
    if (wants.length === 0) continue;
    const hindrance = hindranceOf(element, cover);
    for (const [kind, argument] of wants) {
      if (kind === AWAY) withhold("link", element, argument, "out-of-scope");
      else if (hindrance !== "") withhold(kind, element, argument, hindrance);
      else if (kind === "drag") sources.push(element);
      else offer(kind, element, argument);
    }
  }
  const takesDrops = (/** @type {Element} */ element) =>
    found.hears(element, ["drop"]) && hindranceOf(element, cover) === "";
  const targets = sources.length ? elements.filter(takesDrops) : [];
  const pairs = sources.flatMap((source) => {
    return targets.filter((target) => target !== source).map((target) => [source, target]);
  });
  for (const [source, target] of pairs.slice(0, MOST_DRAGS)) offer("drag", source, "", target);
  for (const key of pageKeys()) offer("key", document.body ?? document.documentElement, key);
  beyond += Math.max(0, pairs.length - MOST_DRAGS) + Math.max(0, offers.length - MOST_OFFERS);
  const listed = offers.sort((one, other) => one.node - other.node).slice(0, MOST_OFFERS);
  return { offers: listed, withheld, unlisted, beyond, avoided: avoidedNodes(elements, numbers) };
}

/**
 * The nodes that a selector of the crawl names, and those inside them.
 * @param {Element[]} elements
 * @param {Map<Element, number>} numbers
 * @returns {number[]}
 */
function avoidedNodes(elements, numbers) {
  if (settings.avoid === "") return [];
  const isAvoided = (/** @type {any} */ element) => {
    for (let node = element; node; node = node.getRootNode().host) {
      if (node.closest(settings.avoid)) return true;
    }
    return false;
  };
  return elements.filter(isAvoided).map((element) => /** @type {number} */ (numbers.get(element)));
}

/**
 * The kinds of action that an element would answer to.
 * @param {Element} element
 * @param {Listening} found
 * @param {Forms} forms
 */
function wantsOf(element, found, forms) {
  /** @type {Want[]} */
  const wants = [];
  const isControl = addNative(element, found, forms, wants);
  if (!isTop(element)) addHeard(element, found, isControl, wants);
  if (isScrollable(element, found)) wants.push(["scroll", ""]);
  return wants;
}

/**
 * Adds what an element listens for.
 * @param {Element} element
 * @param {Listening} found
 * @param {boolean} isControl
 * @param {Want[]} wants
 */
function addHeard(element, found, isControl, wants) {
  const hears = (/** @type {string[]} */ types) => found.hears(element, types);
  const { draggable, tabIndex } = /** @type {HTMLElement} */ (element);
  const isDragged = draggable && element.localName !== "a" && element.localName !== "img";
  const drags = isDragged || hears(["dragstart"]);
  const clicks = hears(FAMILY.click) && !found.delegating.has(element);
  if (!isControl && (clicks || found.delegated.has(element)) && !isField(element)) {
    wants.push(["click", ""]);
  }
  if (hears(FAMILY["double-click"])) wants.push(["double-click", ""]);
  if (hears(FAMILY["context-menu"])) wants.push(["context-menu", ""]);
  if (hears(PRESS) && hears(RELEASE) && !drags) wants.push(["long-press", ""]);
  if (hears(FAMILY.hover) || hasHoverRule(element)) wants.push(["hover", ""]);
  if (drags) wants.push(["drag", ""]);
  if (hears(FAMILY.focus) && tabIndex >= 0) wants.push(["focus", ""]);
  for (const key of keysOf(found.types.get(element))) wants.push(["key", key]);
}

/**
 * Adds what the browser's own controls do; true if that covers a click.
 * @param {any} element
 * @param {Listening} found
 * @param {Forms} forms
 * @param {Want[]} wants
 */
function addNative(element, found, forms, wants) {
  switch (element.localName) {
    case "button":
      wants.push(["click", ""]);
      return true;
    case "summary":
      wants.push(["click", ""]);
      return element.parentElement?.localName === "details";
    case "a":
    case "area":
      return addLink(element, found, wants);
    case "select":
      addOptions(element, forms, wants);
      return true;
    case "textarea":
      return addTyping(element, forms, wants);
    case "form":
      if (sendsByKeyOnly(element)) wants.push(["submit", ""]);
      return false;
    case "input":
      return addInput(element, forms, wants);
  }
  if (element.isContentEditable && !element.parentElement?.isContentEditable) {
    return addTyping(element, forms, wants);
  }
  return false;
}

/**
 * @param {HTMLSelectElement} select
 * @param {Forms} forms
 * @param {Want[]} wants
 */
function addOptions(select, forms, wants) {
  if (!forms.mayChange(select)) return;
  const isFree = (/** @type {HTMLOptionElement} */ one) => one && !one.selected && !one.disabled;
  const given = givenFor(select)?.map((value) => select.options[optionFor(select, value)]);
  const options = (given ?? [...select.options]).filter(isFree);
  const form = formOf(select);
  const most = form && forms.about(form).isLarge ? MOST_FORM_OPTIONS : MOST_OPTIONS;
  const kept = given ? options : options.slice(0, most);
  for (const option of kept) wants.push(["choose", option.index]);
  beyond += options.length - kept.length;
}

/**
 * @param {HTMLInputElement} element
 * @param {Forms} forms
 * @param {Want[]} wants
 */
function addInput(element, forms, wants) {
  const { type } = element;
  if (["button", "submit", "reset", "image"].includes(type)) wants.push(["click", ""]);
  else if (type === "checkbox" || (type === "radio" && !element.checked)) {
    if (forms.mayChange(element)) wants.push(["check", ""]);
  } else if (type === "file" || TEXTUAL.has(type)) return addTyping(element, forms, wants);
  return true;
}

/**
 * Adds what is typed into a field: every given value, otherwise a valid one of argiope's own.
 * @param {any} element
 * @param {Forms} forms
 * @param {Want[]} wants
 */
function addTyping(element, forms, wants) {
  if (element.readOnly || !forms.mayChange(element)) return true;
  const isFile = element.type === "file";
  const isOther = (/** @type {string} */ value) => {
    return isFile ? element.files[0]?.name !== value : currentValue(element) !== value;
  };
  const given = givenFor(element);
  const values = given && !formOf(element) ? forms.looseValues(element, given) : given;
  if (values) for (const value of values.filter(isOther)) wants.push(["enter", value]);
  else if (isOther(valueFor(element))) wants.push(["input", valueFor(element)]);
  return true;
}

/**
 * Whether a form has fields to send but no button to send them.
 * @param {HTMLFormElement} form
 */
function sendsByKeyOnly(form) {
  const elements = controlsOf(form);
  const isButton = (/** @type {any} */ one) => one.type === "submit" || one.type === "image";
  if (elements.some((one) => isButton(one) && isVisible(one))) return false;
  return elements.some((one) => isField(one) && isVisible(one));
}

// The kind of a link that leads out of the scope, until it is withheld.
const AWAY = "away";

/**
 * A link is an address of its own unless something handles the click on it.
 * @param {any} element
 * @param {Listening} found
 * @param {Want[]} wants
 */
function addLink(element, found, wants) {
  if (!element.hasAttribute("href")) return false;
  const address = element.href?.baseVal ?? element.href;
  if (isClickHandled(element, found) || /^javascript:/i.test(address)) {
    wants.push(["click", ""]);
    return true;
  }
  let url;
  try {
    url = new URL(address, document.baseURI);
  } catch {
    return true;
  }
  if (!isAllowed(url.href) || !/^https?:$/.test(url.protocol)) {
    wants.push([AWAY, url.href]);
    return true;
  }
  const here = new URL(location.href);
  const hasFragment = url.hash !== "" || /#$/.test(address);
  if (hasFragment && url.pathname === here.pathname && url.search === here.search) {
    if (routesByFragment()) wants.push(["click", ""]);
    return true;
  }
  wants.push(["link", url.href]);
  return true;
}

function routesByFragment() {
  const types = ["hashchange", "popstate"];
  if (types.some((type) => listenersOf(window, type).length > 0)) return true;
  return !!window.onhashchange || !!document.body?.hasAttribute("onhashchange");
}

/**
 * Whether an element or one above it listens for clicks.
 * @param {Element} element
 * @param {Listening} found
 */
function isClickHandled(element, found) {
  if (found.delegated.has(element)) return true;
  /** @type {any} */
  let node = element;
  for (; node; node = node.parentElement ?? node.getRootNode?.().host) {
    if (found.hears(node, FAMILY.click)) return true;
  }
  return false;
}

/**
 * The keys that an element's own handlers listen for.
 * @param {Map<string, unknown[]> | undefined} types
 */
function keysOf(types) {
  return types ? keysIn(FAMILY.key.flatMap((type) => types.get(type) ?? [])) : [];
}

/** The keys that the page as a whole listens for. */
function pageKeys() {
  const handlers = [];
  for (const root of [window, document, document.documentElement, document.body]) {
    const own = FAMILY.key.flatMap((type) => listenersOf(root, type));
    // A window has many names: they are read only where they matter.
    if (own.length && !isReactRoot(ownNames(root))) {
      handlers.push(...own.map(({ listener }) => handlerOf(listener)));
    }
  }
  return keysIn(handlers);
}

// The most that is read of the handlers' sources.
const LONGEST_SOURCE = 200000;

// How sources name keys, beside their codes: constants and old names.
const NAMES = {
  Enter: "Enter|ENTER|KEY_ENTER|RETURN|KEY_RETURN",
  Escape: "Escape|Esc|ESC|ESCAPE|KEY_ESC|KEY_ESCAPE",
  ArrowUp: "ArrowUp|ARROW_UP|KEY_UP|UP_ARROW",
  ArrowDown: "ArrowDown|ARROW_DOWN|KEY_DOWN|DOWN_ARROW",
  ArrowLeft: "ArrowLeft|ARROW_LEFT|KEY_LEFT|LEFT_ARROW",
  ArrowRight: "ArrowRight|ARROW_RIGHT|KEY_RIGHT|RIGHT_ARROW",
};

/**
 * The keys that handlers name in their source. A handler that names none is for other keys, or
 * passes the event on: pressing all keys would multiply the actions of every page.
 * @param {unknown[]} handlers
 */
function keysIn(handlers) {
  if (handlers.length === 0) return [];
  const text = handlers.map(sourceOf).join("\n").slice(0, LONGEST_SOURCE);
  return Object.entries(NAMES)
    .filter(([key, names]) => {
      if (new RegExp(`(?<![A-Za-z])(?:${names})(?![A-Za-z])`).test(text)) return true;
      return new RegExp(`(keyCode|which|code)\\D{0,12}\\b${KEYS[key]}\\b`).test(text);
    })
    .map(([key]) => key);
}

/**
 * @param {any} handler
 * @returns {string}
 */
function sourceOf(handler) {
  const called = typeof handler === "function" ? handler : handler?.handleEvent;
  return typeof called === "function" ? apply(native.text, called, []) : String(handler);
}

/**
 * @param {Element} element
 * @param {Listening} found
 */
function isScrollable(element, found) {
  const page = element.ownerDocument;
  const isPage = element === page.scrollingElement;
  const hears = (/** @type {EventTarget | null} */ root) =>
    root !== null && listenersOf(root, "scroll").length > 0;
  const listens = isPage
    ? [window, document, document.body].some(hears)
    : found.hears(element, ["scroll"]);
  if (!listens && !hooked.intersects) return false;
  const view = /** @type {PageWindow} */ (page.defaultView);
  const room = element.scrollHeight - (isPage ? view.innerHeight : element.clientHeight);
  if (room <= 1) return false;
  return isPage || /auto|scroll/.test(getComputedStyle(element).overflowY);
}
