// The page agent, part 8: what can be done on the page. Found by listeners (hooked, handler attributes,
// frameworks' own keys, delegated), native controls and looks. What is invisible, covered or disabled is
// not offered.
const FAMILY = {
  click: ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"],
  "double-click": ["dblclick"],
  "context-menu": ["contextmenu"],
  hover: ["mouseover", "mouseenter", "mousemove", "pointerenter", "pointerover", "pointermove"],
  focus: ["focus", "focusin"],
  key: ["keydown", "keyup", "keypress"],
};
const PRESS = ["pointerdown", "mousedown", "touchstart"];
const LET_GO = ["pointerup", "mouseup", "touchend", "pointercancel", "pointerleave", "mouseleave"];
const OPERABLE = "button,a,input,select,textarea,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=switch],[role=radio],[role=treeitem],[role=menuitemcheckbox],[role=menuitemradio],[tabindex],[onclick],[contenteditable]";
const TEXTUAL = new Set(["text", "search", "email", "url", "tel", "password", "number", "date", "time", "month", "week", "datetime-local", "color", "range"]);
const KEYS = { Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39 };

function findOffers(elements, numbers) {
  const found = new Listening(elements);
  const offers = [];
  const offer = (kind, element, argument = "", onto = null) =>
    offers.push({
      kind,
      node: numbers.get(element),
      onto: onto && numbers.get(onto),
      argument: wellFormed(String(argument)),
      place: place(element) + (onto ? ">" + place(onto) : ""),
    });
  let over;
  const cover = () => (over === undefined ? (over = coverOfViewport()) : over);
  const drags = [];
  for (const element of elements) {
    const wants = wantsOf(element, found);
    if (wants.length === 0 || !operable(element, cover)) continue;
    for (const [kind, argument] of wants) {
      if (kind === "drag") drags.push(element);
      else offer(kind, element, argument);
    }
  }
  const targets = drags.length ? elements.filter((element) => found.hears(element, ["drop"]) && operable(element, cover)) : [];
  const pairs = drags.flatMap((source) => targets.filter((target) => target !== source).map((target) => [source, target]));
  for (const [source, target] of pairs.slice(0, 64)) offer("drag", source, "", target);
  for (const key of pageKeys(found)) offer("key", document.body ?? document.documentElement, key);
  return offers.sort((one, other) => one.node - other.node);
}

// What each element listens for, by whichever way it was said.
class Listening {
  constructor(elements) {
    this.types = new Map();
    this.delegates = [];
    for (const root of heard.roots) this.root(root);
    for (const element of elements) this.element(element);
    this.underDelegates();
  }

  hears(element, types) {
    const own = this.types.get(element);
    return own !== undefined && types.some((type) => own.has(type));
  }

  add(element, type, listener) {
    let types = this.types.get(element);
    if (!types) this.types.set(element, (types = new Map()));
    const all = types.get(type);
    if (all) all.push(listener);
    else types.set(type, [listener]);
  }

  root(root) {
    const types = heard.targets.get(root);
    const reacts = ownNames(root).some((name) => name.startsWith("_reactListening"));
    const query = this.jQuery(root);
    if (types && !reacts && !query?.delegated.has("click") && FAMILY.click.some((type) => types.has(type))) this.delegates.push(root);
  }

  element(element) {
    const names = ownNames(element);
    const query = names.length ? this.jQuery(element, names) : null;
    const reacts = names.some((name) => name.startsWith("_reactListening"));
    const hooked = heard.targets.get(element);
    if (hooked && !reacts) {
      for (const [type, all] of hooked) {
        if (query?.types.has(type)) continue;
        for (const { listener } of all) this.add(element, type, listener?.value ?? listener);
      }
    }
    for (const name of names) {
      if (name.startsWith("__reactProps$")) this.react(element, element[name]);
    }
    for (const { name } of element.attributes) {
      if (name.startsWith("on") && EVENTS.has(name.slice(2))) this.add(element, name.slice(2), element.getAttribute(name));
    }
  }

  react(element, properties) {
    for (const name of Object.keys(properties ?? {})) {
      if (!/^on[A-Z]/.test(name) || typeof properties[name] !== "function") continue;
      const type = name.slice(2).replace(/Capture$/, "").toLowerCase();
      this.add(element, type === "doubleclick" ? "dblclick" : type === "change" ? "input" : type, properties[name]);
    }
  }

  // jQuery keeps its own list, with the selectors of delegated handlers.
  jQuery(target, names = ownNames(target)) {
    const key = names.find((name) => /^jQuery\d+$/.test(name));
    const events = key && target[key]?.events;
    if (!events || typeof events !== "object") return null;
    const types = new Set();
    const delegated = new Set();
    for (const type of Object.keys(events)) {
      for (const { selector, handler, origType } of Object.values(events[type] ?? [])) {
        types.add(type);
        if (!selector) {
          if (target.nodeType === 1) this.add(target, origType || type, handler);
          continue;
        }
        delegated.add(type);
        try {
          for (const element of (target.nodeType ? target : document).querySelectorAll(selector)) this.add(element, origType || type, handler);
        } catch {}
      }
    }
    return { types, delegated };
  }

  // Hand-written delegation shows only the container: what looks operable inside is offered instead.
  underDelegates() {
    for (const [element, types] of this.types) {
      if (!FAMILY.click.some((type) => types.has(type))) continue;
      if (isTop(element)) this.delegates.push(element);
      else if (!element.matches(OPERABLE) && this.operableInside(element).length > 0) this.delegates.push(element);
    }
    this.delegated = new Set();
    for (const container of this.delegates) {
      for (const element of this.operableInside(container)) this.delegated.add(element);
      if (container.nodeType === 1) this.types.get(container).delegates = true;
    }
  }

  operableInside(container) {
    const inside = container.nodeType === 1 || container.nodeType === 11 ? container : (container.document ?? container);
    const found = [...inside.querySelectorAll(OPERABLE)];
    for (const element of inside.querySelectorAll("*")) {
      if (!found.includes(element) && pointer(element) && !pointer(element.parentElement)) found.push(element);
    }
    return found.filter((element) => element !== container);
  }
}

function pointer(element) {
  return element !== null && getComputedStyle(element).cursor === "pointer";
}

function isTop(element) {
  return element.localName === "html" || element.localName === "body";
}

// The kinds of action that an element would answer to.
function wantsOf(element, found) {
  const wants = [];
  const native = nativeWants(element, found, wants);
  const hears = (types) => found.hears(element, types);
  if (!isTop(element)) {
    const own = found.types.get(element);
    const clicks = hears(FAMILY.click) && !own.delegates;
    const drags = element.draggable && element.localName !== "a" && element.localName !== "img" ? true : hears(["dragstart"]);
    if (!native && (clicks || found.delegated.has(element)) && !field(element)) wants.push(["click", ""]);
    if (hears(FAMILY["double-click"])) wants.push(["double-click", ""]);
    if (hears(FAMILY["context-menu"])) wants.push(["context-menu", ""]);
    if (hears(PRESS) && hears(LET_GO) && !drags) wants.push(["long-press", ""]);
    if (hears(FAMILY.hover) || hoverRule(element)) wants.push(["hover", ""]);
    if (drags) wants.push(["drag", ""]);
    if (hears(FAMILY.focus) && element.tabIndex >= 0) wants.push(["focus", ""]);
    for (const key of keysOf(own)) wants.push(["key", key]);
  }
  if (scrolls(element, found)) wants.push(["scroll", ""]);
  return wants;
}

// Fields are typed into, not clicked.
function field(element) {
  return element.localName === "textarea" || element.localName === "select" || (element.localName === "input" && TEXTUAL.has(element.type)) || element.localName === "option";
}

// Controls of the browser itself; true if a click is settled by this.
function nativeWants(element, found, wants) {
  switch (element.localName) {
    case "button":
      wants.push(["click", ""]);
      return true;
    case "summary":
      wants.push(["click", ""]);
      return element.parentElement?.localName === "details";
    case "a":
    case "area":
      return link(element, found, wants);
    case "select":
      for (const option of [...element.options].filter((one) => !one.selected && !one.disabled).slice(0, 32)) wants.push(["choose", option.index]);
      return true;
    case "textarea":
      return type(element, wants);
    case "form":
      if (!submitButton(element) && [...element.elements].some((one) => field(one) && seen(one))) wants.push(["submit", ""]);
      return false;
    case "input":
      return input(element, wants);
  }
  if (element.isContentEditable && !element.parentElement?.isContentEditable) return type(element, wants);
  return false;
}

function input(element, wants) {
  if (["button", "submit", "reset", "image"].includes(element.type)) wants.push(["click", ""]);
  else if (element.type === "checkbox" || (element.type === "radio" && !element.checked)) wants.push(["check", ""]);
  else if (TEXTUAL.has(element.type)) return type(element, wants);
  return true;
}

function type(element, wants) {
  const value = valueFor(element);
  if (!element.readOnly && currentValue(element) !== value) wants.push(["input", value]);
  return true;
}

function currentValue(element) {
  return "value" in element ? element.value : element.textContent;
}

// One fixed valid value per kind of field.
function valueFor(element) {
  switch (element.localName === "input" ? element.type : "text") {
    case "email": return "argiope@example.com";
    case "url": return "https://example.com/";
    case "tel": return "5550100";
    case "password": return "Argiope-1";
    case "date": return "2024-01-15";
    case "time": return "10:30";
    case "month": return "2024-01";
    case "week": return "2024-W03";
    case "datetime-local": return "2024-01-15T10:30";
    case "color": return "#336699";
    case "range": return element.value === (element.max || "100") ? element.min || "0" : element.max || "100";
    case "number": return numberFor(element);
  }
  let text = "argiope";
  if (element.minLength > text.length) text = text.padEnd(Math.min(element.minLength, 1000), "e");
  return element.maxLength >= 0 ? text.slice(0, element.maxLength) : text;
}

function numberFor({ min, max, step }) {
  let number = 7;
  if (max !== "" && number > Number(max)) number = Number(max);
  if (min !== "" && number < Number(min)) number = Number(min);
  const stride = Number(step);
  if (stride > 0) number = Number(min || 0) + Math.round((number - Number(min || 0)) / stride) * stride;
  return String(number);
}

function submitButton(form) {
  return [...form.elements].some((one) => (one.type === "submit" || one.type === "image") && seen(one));
}

// A link is an address of its own unless something handles the click on it.
function link(element, found, wants) {
  if (!element.hasAttribute("href")) return false;
  const address = element.href?.baseVal ?? element.href;
  if (handled(element, found) || /^javascript:/i.test(address)) {
    wants.push(["click", ""]);
    return true;
  }
  let url;
  try {
    url = new URL(address, document.baseURI);
  } catch {
    return true;
  }
  if (url.origin !== settings.origin || !/^https?:$/.test(url.protocol)) return true;
  const here = new URL(location.href);
  const fragment = url.hash !== "" || /#$/.test(address);
  if (fragment && url.pathname === here.pathname && url.search === here.search) {
    if (routed()) wants.push(["click", ""]);
    return true;
  }
  wants.push(["link", url.href]);
  return true;
}

function routed() {
  return ["hashchange", "popstate"].some((type) => listeners(window, type).length > 0) || !!window.onhashchange || !!document.body?.hasAttribute("onhashchange");
}

// Whether anything on the way up listens for clicks.
function handled(element, found) {
  if (found.delegated.has(element)) return true;
  for (let node = element; node; node = node.parentElement ?? node.getRootNode?.().host) {
    if (found.hears(node, FAMILY.click)) return true;
  }
  return false;
}

// The keys that a handler speaks of; the usual ones if it speaks of none.
function keysOf(types) {
  if (!types) return [];
  const handlers = FAMILY.key.flatMap((type) => types.get(type) ?? []);
  return handlers.length ? keysIn(handlers) : [];
}

function keysIn(handlers) {
  const text = handlers.map((handler) => (typeof handler === "function" ? apply(native.text, handler, []) : typeof handler?.handleEvent === "function" ? apply(native.text, handler.handleEvent, []) : String(handler))).join("\n").slice(0, 200000);
  const said = Object.keys(KEYS).filter((key) => text.includes(key) || new RegExp(`(keyCode|which|code)\\D{0,12}\\b${KEYS[key]}\\b`).test(text));
  return said.length ? said : Object.keys(KEYS);
}

// Keys that the page as a whole listens for.
function pageKeys(found) {
  const handlers = [];
  for (const root of [window, document, document.documentElement, document.body]) {
    const own = FAMILY.key.flatMap((type) => listeners(root, type)).map(({ listener }) => listener?.value ?? listener);
    // The names of a window are many: they are read only where they matter.
    if (own.length && !ownNames(root).some((name) => name.startsWith("_reactListening"))) handlers.push(...own);
  }
  return handlers.length ? keysIn(handlers) : [];
}

function scrolls(element, found) {
  const top = element === element.ownerDocument.scrollingElement;
  const listens = top
    ? [window, document, document.body].some((root) => root && listeners(root, "scroll").length > 0)
    : found.hears(element, ["scroll"]);
  if (!listens && !heard.intersects) return false;
  const room = element.scrollHeight - (top ? element.ownerDocument.defaultView.innerHeight : element.clientHeight);
  if (room <= 1) return false;
  return top || /auto|scroll/.test(getComputedStyle(element).overflowY);
}

// Whether a style rule shows or hides something while the pointer is on this element.
function hoverRule(element) {
  for (const selector of hoverSelectors(element.ownerDocument)) {
    try {
      if (element.matches(selector)) return true;
    } catch {}
  }
  return false;
}

const hovering = new WeakMap();
function hoverSelectors(page) {
  const sheets = page.styleSheets.length;
  const known = hovering.get(page);
  if (known?.sheets === sheets) return known.selectors;
  const selectors = new Set();
  for (const sheet of page.styleSheets) {
    try {
      collectHover(sheet.cssRules, selectors);
    } catch {}
  }
  hovering.set(page, { sheets, selectors });
  return selectors;
}

function collectHover(rules, selectors) {
  for (const rule of rules) {
    if (rule.cssRules?.length) collectHover(rule.cssRules, selectors);
    if (!rule.selectorText?.includes(":hover") || !rule.style) continue;
    if (!rule.style.display && !rule.style.visibility && !rule.style.opacity) continue;
    for (const selector of rule.selectorText.split(",")) {
      const end = selector.indexOf(":hover");
      // What appears must be another element: a rule on the hovered element itself shows nothing new.
      if (end > 0 && /[\s>+~]/.test(selector.slice(end))) selectors.add(selector.slice(0, end).trim());
    }
  }
}

// Visible, enabled, and not under something else.
function operable(element, cover) {
  if (!present(element) || disabled(element)) return false;
  if (isTop(element) || element.localName === "form") return true;
  return uncovered(element, cover);
}

// Like `seen`, but what is only transparent can still be clicked.
function present(element) {
  if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) return false;
  const frame = element.ownerDocument === document ? null : element.ownerDocument.defaultView?.frameElement;
  return !frame || present(frame);
}

function disabled(element) {
  if (element.matches(":disabled") || element.closest("[inert]") || element.closest("[aria-disabled=true]")) return true;
  const modal = element.ownerDocument.querySelector("dialog:modal");
  return modal !== null && !modal.contains(element);
}

function uncovered(element, cover) {
  const view = element.ownerDocument.defaultView;
  const box = [...element.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  if (!box) return [...element.children].some((child) => child.getClientRects().length > 0 && uncovered(child, cover));
  const points = [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
  let tried = 0;
  for (const [x, y] of points) {
    const [left, top] = [box.left + box.width * x, box.top + box.height * y];
    if (left < 0 || top < 0 || left >= view.innerWidth || top >= view.innerHeight) continue;
    tried++;
    if (hits(element, left, top)) return true;
  }
  // Out of view: it can be scrolled to, unless something covers the whole view.
  return tried === 0 && reachable(element, box, view) && (cover()?.contains(element) ?? true);
}

// Whether scrolling can bring it into view.
function reachable(element, box, view) {
  const scroller = element.ownerDocument.scrollingElement;
  return box.right + (scroller?.scrollLeft ?? 0) > 0 && box.bottom + (scroller?.scrollTop ?? 0) > 0;
}

function hits(element, x, y) {
  let hit = (element.getRootNode().elementFromPoint ? element.getRootNode() : element.ownerDocument).elementFromPoint(x, y);
  for (; hit; hit = hit.parentElement ?? hit.getRootNode().host) {
    if (hit === element) return true;
    if (hit.localName === "label" && hit.control === element) return true;
  }
  return false;
}

// The fixed element that covers the whole view, if there is one: a dialog made by hand.
function coverOfViewport() {
  const [width, height] = [innerWidth, innerHeight];
  let cover = null;
  for (const [x, y] of [[0.5, 0.5], [0.02, 0.02], [0.98, 0.02], [0.02, 0.98], [0.98, 0.98]]) {
    let fixed = null;
    for (let hit = document.elementFromPoint(width * x, height * y); hit; hit = hit.parentElement) {
      if (getComputedStyle(hit).position === "fixed") fixed = hit;
    }
    if (!fixed) return null;
    cover ??= fixed;
    if (!cover.contains(fixed) && !fixed.contains(cover) && cover.parentElement !== fixed.parentElement) return null;
    if (fixed.contains(cover)) cover = fixed;
  }
  return cover;
}
