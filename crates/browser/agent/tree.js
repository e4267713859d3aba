// The page agent, part 7: a look at the page, as plain data: the tree as a user perceives it, with shadow
// roots and frames of the same origin in their places. What to make of it is decided outside.
const LIMITS = { nodes: 200000, text: 100000, attribute: 20000, offers: 5000 };
const UNSEEN = new Set(["script", "style", "noscript", "template", "link", "meta", "head", "base"]);

// Where a node is: child numbers from the root element, `s` for a step into a shadow root, `f` into a frame.
function place(element) {
  const steps = [];
  for (let node = element; ; ) {
    const parent = node.parentNode;
    if (!parent) break;
    if (parent.nodeType === 9) {
      const frame = parent === document ? null : parent.defaultView?.frameElement;
      if (!frame) break;
      steps.push("f");
      node = frame;
      continue;
    }
    let index = 0;
    for (let before = node.previousElementSibling; before; before = before.previousElementSibling) index++;
    steps.push(index);
    if (parent.nodeType === 11) {
      steps.push("s");
      node = parent.host;
    } else {
      node = parent;
    }
  }
  return steps.reverse().join("/");
}

// The element at a place; null if there is none.
function at(place) {
  let node = document.documentElement;
  if (place === "") return node;
  for (const step of place.split("/")) {
    if (!node) return null;
    if (step === "s") node = shadowOf(node);
    else if (step === "f") node = innerDocument(node)?.documentElement ?? null;
    else node = node.children[Number(step)] ?? null;
  }
  return node;
}

// Half a surrogate pair is not text outside of a browser.
function wellFormed(text) {
  return text.toWellFormed();
}

// As one text, which crosses to the browser many times faster than a tree of objects; as objects where a library
// has taught arrays or texts to write themselves.
function look() {
  const taught = [Array, Object, String].some((type) => "toJSON" in type.prototype);
  return taught ? lookAround() : native.json(lookAround());
}

function lookAround() {
  const nodes = [];
  const elements = [];
  const numbers = new Map();
  collect(document.documentElement, 0, nodes, elements, numbers);
  const truncated = nodes.length >= LIMITS.nodes;
  const offers = findOffers(elements, numbers).slice(0, LIMITS.offers);
  return {
    raw: raw(),
    truncated,
    page: { url: location.href, title: wellFormed(document.title), nodes, offers },
    source: wellFormed(document.documentElement.outerHTML),
    status: performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0,
    type: document.contentType,
  };
}

function collect(element, depth, nodes, elements, numbers) {
  if (nodes.length >= LIMITS.nodes || depth > 2000 || UNSEEN.has(element.localName) || ignored(element)) return;
  const visible = seen(element);
  numbers.set(element, nodes.length);
  nodes.push({ depth, tag: element.localName, text: "", attributes: attributesOf(element), visible });
  elements.push(element);
  const shadow = shadowOf(element);
  if (shadow) {
    nodes.push({ depth: depth + 1, tag: "#shadow", text: "", attributes: [], visible });
    collectChildren(shadow, depth + 2, visible, nodes, elements, numbers);
  }
  const inner = element.localName === "iframe" || element.localName === "frame" ? innerDocument(element) : null;
  if (inner?.documentElement) {
    nodes.push({ depth: depth + 1, tag: "#document", text: "", attributes: [], visible });
    collect(inner.documentElement, depth + 2, nodes, elements, numbers);
  }
  collectChildren(element, depth + 1, visible, nodes, elements, numbers);
}

function collectChildren(parent, depth, visible, nodes, elements, numbers) {
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === 1) collect(child, depth, nodes, elements, numbers);
    else if (child.nodeType === 3 && nodes.length < LIMITS.nodes) {
      nodes.push({ depth, tag: "#text", text: wellFormed(child.data.slice(0, LIMITS.text)), attributes: [], visible });
    }
  }
}

function ignored(element) {
  return settings.ignore !== "" && element.matches(settings.ignore);
}

// Whether a user can see it. The elements of a frame or of a closed part are as visible as their host.
function seen(element) {
  if (element.localName === "option" || element.localName === "optgroup") return seen(element.parentElement);
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })) return false;
  const frame = element.ownerDocument === document ? null : element.ownerDocument.defaultView?.frameElement;
  return !frame || seen(frame);
}

function attributesOf(element) {
  const attributes = [];
  for (const { name, value } of element.attributes) attributes.push([name, wellFormed(value.slice(0, LIMITS.attribute))]);
  switch (element.localName) {
    case "input":
      if (element.type === "checkbox" || element.type === "radio") {
        if (element.checked) attributes.push([".checked", ""]);
        if (element.indeterminate) attributes.push([".indeterminate", ""]);
      } else if (element.type !== "file") attributes.push([".value", wellFormed(element.value.slice(0, LIMITS.text))]);
      break;
    case "textarea":
      attributes.push([".value", wellFormed(element.value.slice(0, LIMITS.text))]);
      break;
    case "option":
      if (element.selected) attributes.push([".selected", ""]);
      break;
  }
  if (element.popover && element.matches(":popover-open")) attributes.push([".open", ""]);
  return attributes;
}
