// @ts-check
// What each element listens for, however the page says so: hooked listeners, handler attributes,
// React's properties, jQuery's lists, and delegation to a container.
import { EVENTS, hooked } from "./listeners.js";
import { getOrInsert, ownNames } from "./natives.js";

// Event types whose listeners make the agent offer each kind of action.
export const FAMILY = {
  click: ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"],
  "double-click": ["dblclick"],
  "context-menu": ["contextmenu"],
  hover: ["mouseover", "mouseenter", "mousemove", "pointerenter", "pointerover", "pointermove"],
  focus: ["focus", "focusin"],
  key: ["keydown", "keyup", "keypress"],
};
// What a user takes for a control.
const CONTROLS = [
  "button,a,input,select,textarea,summary,[tabindex],[onclick],[contenteditable]",
  "[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox]",
  "[role=switch],[role=radio],[role=treeitem],[role=menuitemcheckbox],[role=menuitemradio]",
].join(",");

/**
 * @param {Element} element
 */
export function isTop(element) {
  return element.localName === "html" || element.localName === "body";
}

/**
 * The function behind a listener: frameworks such as Vue listen with an invoker that holds it.
 * @param {any} listener
 */
export function handlerOf(listener) {
  return listener?.value ?? listener;
}

/**
 * Whether React listens on a target for all elements below it.
 * @param {string[]} names
 */
export function isReactRoot(names) {
  return names.some((name) => name.startsWith("_reactListening"));
}

export class Listening {
  /** @param {Element[]} elements */
  constructor(elements) {
    /**
     * Element to type to listeners.
     * @type {Map<Element, Map<string, unknown[]>>}
     */
    this.types = new Map();
    /**
     * Targets that handle clicks for elements below them.
     * @type {any[]}
     */
    this.containers = [];
    /**
     * Elements that look operable below a container.
     * @type {Set<Element>}
     */
    this.delegated = new Set();
    /**
     * Elements that are containers.
     * @type {Set<Element>}
     */
    this.delegating = new Set();
    for (const root of hooked.roots) this.addRoot(root);
    for (const element of elements) this.addElement(element);
    this.addDelegated();
  }

  /**
   * @param {Element} element
   * @param {string[]} types
   */
  hears(element, types) {
    const own = this.types.get(element);
    return own !== undefined && types.some((type) => own.has(type));
  }

  /**
   * @param {Element} element
   * @param {string} type
   * @param {unknown} listener
   */
  add(element, type, listener) {
    const types = getOrInsert(this.types, element, () => new Map());
    getOrInsert(types, type, () => []).push(listener);
  }

  /** @param {EventTarget} root */
  addRoot(root) {
    const types = hooked.targets.get(root);
    const names = ownNames(root);
    const query = this.addJQuery(root, names);
    if (!types || isReactRoot(names) || query?.delegated.has("click")) return;
    if (FAMILY.click.some((type) => types.has(type))) this.containers.push(root);
  }

  /** @param {Element} element */
  addElement(element) {
    const names = ownNames(element);
    const query = names.length ? this.addJQuery(element, names) : null;
    const own = hooked.targets.get(element);
    if (own && !isReactRoot(names)) {
      for (const [type, all] of own) {
        if (query?.types.has(type)) continue;
        for (const { listener } of all) this.add(element, type, handlerOf(listener));
      }
    }
    for (const name of names) {
      if (name.startsWith("__reactProps$")) {
        this.addReact(element, /** @type {any} */ (element)[name]);
      }
    }
    for (const { name } of element.attributes) {
      const type = name.slice(2);
      if (name.startsWith("on") && EVENTS.has(type)) {
        this.add(element, type, element.getAttribute(name));
      }
    }
  }

  /**
   * @param {Element} element
   * @param {any} properties
   */
  addReact(element, properties) {
    for (const name of Object.keys(properties ?? {})) {
      if (!/^on[A-Z]/.test(name) || typeof properties[name] !== "function") continue;
      const said = name
        .slice(2)
        .replace(/Capture$/, "")
        .toLowerCase();
      const type = said === "doubleclick" ? "dblclick" : said === "change" ? "input" : said;
      this.add(element, type, properties[name]);
    }
  }

  /**
   * jQuery keeps a list of its own, with the selectors of delegated handlers.
   * @param {any} target
   * @param {string[]} names
   */
  addJQuery(target, names) {
    const key = names.find((name) => /^jQuery\d+$/.test(name));
    const events = key && target[key]?.events;
    if (!events || typeof events !== "object") return null;
    const types = new Set();
    const delegated = new Set();
    for (const type of Object.keys(events)) {
      /** @type {any[]} */
      const handlers = Object.values(events[type] ?? []);
      for (const { selector, handler, origType } of handlers) {
        types.add(type);
        if (!selector) {
          if (target.nodeType === 1) this.add(target, origType || type, handler);
          continue;
        }
        delegated.add(type);
        try {
          const tree = target.nodeType ? target : document;
          for (const element of tree.querySelectorAll(selector)) {
            this.add(element, origType || type, handler);
          }
        } catch {
          // Selectors of jQuery's own that the browser does not know.
        }
      }
    }
    return { types, delegated };
  }

  /** Delegation by hand shows only the container: what looks operable inside is offered instead. */
  addDelegated() {
    for (const [element, types] of this.types) {
      if (!FAMILY.click.some((type) => types.has(type))) continue;
      if (isTop(element)) this.containers.push(element);
      else if (!element.matches(CONTROLS) && operableInside(element).length > 0) {
        this.containers.push(element);
      }
    }
    for (const container of this.containers) {
      for (const element of operableInside(container)) this.delegated.add(element);
      if (container.nodeType === 1) this.delegating.add(container);
    }
  }
}

/**
 * What looks operable inside a container: controls, and what has the pointer of a link.
 * @param {any} container
 * @returns {Element[]}
 */
function operableInside(container) {
  const isTree = container.nodeType === 1 || container.nodeType === 11;
  const tree = isTree ? container : (container.document ?? container);
  const found = [...tree.querySelectorAll(CONTROLS)];
  for (const element of tree.querySelectorAll("*")) {
    if (found.includes(element)) continue;
    if (hasPointer(element) && !hasPointer(element.parentElement)) found.push(element);
  }
  return found.filter((element) => element !== container);
}

/**
 * @param {Element | null} element
 */
function hasPointer(element) {
  return element !== null && getComputedStyle(element).cursor === "pointer";
}
