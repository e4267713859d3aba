// The page agent, part 4: what the page listens for, where its shadow roots are, and what it wants of the
// world outside (dialogs, windows, other addresses), which is answered or refused here and noted.
const heard = shared.heard ?? {
  // Event target -> type -> listeners.
  targets: new WeakMap(),
  // Every type that anything ever listened for: what nobody listens for need not be sent.
  types: new Set(),
  // Targets above the elements (window, document): the agent cannot walk to them.
  roots: new Set(),
  shadows: new WeakMap(),
  hasShadows: false,
  // Whether an intersection or resize observer waits for a frame.
  observes: false,
  intersects: false,
  // Whether an animation was started by script.
  animates: false,
};
shared.heard = heard;
// What happened since the step began: [kind, text, text?].
shared.notes ??= [];

function note(...words) {
  if (shared.notes.length < 100) shared.notes.push(words.map((word) => wellFormed(String(word).slice(0, 2000))));
}

// Events that only come with a frame, beside those of animations.
const FRAMED = new Set(["scroll", "scrollend", "scrollsnapchange", "scrollsnapchanging", "contentvisibilityautostatechange", "fullscreenchange"]);

function listen(target, type, listener, capture, removal) {
  if (!target || !listener) return;
  let types = heard.targets.get(target);
  if (!types) heard.targets.set(target, (types = new Map()));
  let all = types.get(type);
  if (!all) types.set(type, (all = []));
  if (all.some((one) => one.listener === listener && one.capture === capture)) return;
  const record = { listener, capture };
  all.push(record);
  heard.types.add(type);
  if (FRAMED.has(type)) needFrames();
  if (target.nodeType !== 1) heard.roots.add(target);
  removal?.(() => forget(target, type, listener, capture));
}

function forget(target, type, listener, capture) {
  const types = heard.targets.get(target);
  const all = types?.get(type);
  if (!all) return;
  const rest = all.filter((one) => one.listener !== listener || one.capture !== capture);
  if (rest.length) types.set(type, rest);
  else types.delete(type);
}

// The functions that listen on a target for a type.
function listeners(target, type) {
  return heard.targets.get(target)?.get(type) ?? [];
}

(function hookListeners() {
  const capturing = (options) => (typeof options === "object" && options !== null ? !!options.capture : !!options);
  replace(EventTarget.prototype, "addEventListener", (old) => function (type, listener, options) {
    const target = this ?? window;
    const capture = capturing(options);
    if (typeof options === "object" && options !== null && listener) {
      if (options.signal?.aborted) return apply(old, target, [type, listener, options]);
      listen(target, String(type), listener, capture, (gone) => {
        if (options.once) apply(native.add, target, [type, gone, { once: true, capture }]);
        if (options.signal) apply(native.add, options.signal, ["abort", gone, { once: true }]);
      });
    } else {
      listen(target, String(type), listener, capture);
    }
    return apply(old, target, [type, listener, options]);
  });
  replace(EventTarget.prototype, "removeEventListener", (old) => function (type, listener, options) {
    const target = this ?? window;
    forget(target, String(type), listener, capturing(options));
    return apply(old, target, [type, listener, options]);
  });

  // Handlers set as properties: element.onclick = ...
  for (const prototype of [HTMLElement.prototype, SVGElement.prototype, Document.prototype, window]) {
    for (const name of ownNames(prototype)) {
      const type = name.startsWith("on") && EVENTS.has(name.slice(2)) ? name.slice(2) : null;
      const descriptor = type && getOwnPropertyDescriptor(prototype, name);
      if (!descriptor?.set || !descriptor.configurable) continue;
      const handlers = new WeakMap();
      defineProperty(prototype, name, {
        ...descriptor,
        set(handler) {
          const target = this ?? window;
          const before = handlers.get(target);
          if (before) forget(target, type, before, false);
          if (typeof handler === "function") {
            handlers.set(target, handler);
            listen(target, type, handler, false);
          }
          apply(descriptor.set, target, [handler]);
        },
      });
    }
  }

  replace(Element.prototype, "attachShadow", (old) => function (init) {
    const root = apply(old, this, [init]);
    adoptShadow(this, root);
    return root;
  });
  replace(Element.prototype, "animate", (old) => function (...args) {
    heard.animates = true;
    return apply(old, this, args);
  });
  const drawing = [
    [Document, "startViewTransition"], [Element, "requestFullscreen"], [HTMLImageElement, "decode"],
    [HTMLVideoElement, "requestVideoFrameCallback"], [PerformanceObserver, "observe"],
  ];
  for (const [{ prototype }, name] of drawing) {
    replace(prototype, name, (old) => function (...args) {
      needFrames();
      return apply(old, this, args);
    });
  }
  const fonts = getOwnPropertyDescriptor(Document.prototype, "fonts");
  if (fonts?.get) {
    defineProperty(Document.prototype, "fonts", {
      ...fonts,
      get() {
        needFrames();
        return apply(fonts.get, this, []);
      },
    });
  }
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    const Old = window[name];
    if (!Old) continue;
    replace(Old.prototype, "observe", (old) => function (...args) {
      heard.observes = true;
      needFrames();
      if (name === "IntersectionObserver") heard.intersects = true;
      return apply(old, this, args);
    });
  }
})();

function adoptShadow(host, root) {
  heard.hasShadows = true;
  heard.shadows.set(host, root);
  const observer = new MutationObserver(noticeAdded);
  observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
  shared.observers.push(observer);
}

function shadowOf(element) {
  return heard.shadows.get(element) ?? element.shadowRoot;
}

(function hookWorld() {
  replace(window, "alert", () => function (message) {
    note("dialog", "alert", message ?? "");
  });
  replace(window, "confirm", () => function (message) {
    note("dialog", "confirm", message ?? "");
    return true;
  });
  replace(window, "prompt", () => function (message, preset) {
    note("dialog", "prompt", message ?? "");
    return preset === undefined || preset === "" ? "argiope" : String(preset);
  });
  replace(window, "print", () => function () {
    note("dialog", "print", "");
  });
  replace(window, "open", () => function (address) {
    note("window", absolute(address ?? "about:blank"));
    return null;
  });
  // The way back through the history is taken later.
  for (const name of ["back", "forward", "go"]) {
    replace(History.prototype, name, (old) => function (...args) {
      awaitEvent(window, "popstate");
      return apply(old, this, args);
    });
  }
  if (!window.navigation) return;
  apply(native.add, window.navigation, ["navigate", (event) => {
    const address = event.destination.url;
    if (event.downloadRequest !== null && event.downloadRequest !== undefined) {
      note("download", address);
      event.preventDefault();
    } else if (event.destination.sameDocument) {
      note("route", address);
      if (event.hashChange) awaitEvent(window, "hashchange");
      if (event.navigationType === "traverse") awaitEvent(window, "popstate");
    } else if (!allowed(address)) {
      note("out-of-scope", address);
      event.preventDefault();
    } else if (!shared.released) {
      shared.leaving = true;
      traffic.wake?.();
      if (event.sourceElement?.closest?.("a[href],area[href]")) shared.linked = address;
      if (isRoot) note("route", address);
      if (isMain && !settings.guarded && event.cancelable) hold(event);
    }
  }]);
})();

// A document is left only while somebody outside sees where redirects lead, which costs every request of the page; so
// nobody watches until a page is left for the first time. That one navigation is held until somebody does.
const held = [];
function hold(event) {
  const { destination: { url }, navigationType, formData, sourceElement } = event;
  event.preventDefault();
  if (formData && sourceElement) held.push(() => sendForm(sourceElement));
  else if (navigationType === "reload") held.push(() => location.reload());
  else held.push(() => location[navigationType === "replace" ? "replace" : "assign"](url));
}

// The form was checked and the page has heard of it; what the button adds goes along. What is sent is settled at once, so
// that the form can be as it was: the page may stay.
function sendForm(source) {
  const form = source.form ?? source;
  const button = source === form ? null : source;
  const action = form.getAttribute("action");
  const field = document.createElement("input");
  if (button?.name) {
    [field.type, field.name, field.value] = ["hidden", button.name, button.value];
    form.append(field);
  }
  if (button?.hasAttribute("formaction")) form.setAttribute("action", button.formAction);
  apply(native.submit, form, []);
  field.remove();
  if (action === null) form.removeAttribute("action");
  else form.setAttribute("action", action);
}

function absolute(address) {
  try {
    return new URL(String(address), document.baseURI).href;
  } catch {
    return String(address);
  }
}

// Whether the application's own pages are there.
function allowed(address) {
  try {
    const url = new URL(address, document.baseURI);
    return url.origin === settings.origin || url.protocol === "about:" || url.protocol === "javascript:" || (url.protocol === "blob:" && url.origin === settings.origin);
  } catch {
    return false;
  }
}
