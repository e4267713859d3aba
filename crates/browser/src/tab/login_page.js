// Finds the element of a step of a login, and prepares it for the browser's input. Runs only while
// argiope logs in. `selectors` has alternatives: each is a list of selectors, one inside the other,
// as Chrome's Recorder writes them (`#id`, `aria/Name`, `text/Name`, `xpath///form`, `pierce/#id`).
({ selectors, act, value }) => {
  const CONTROLS = "input, select, textarea, button, a, summary, [role], [tabindex]";
  const answer = { found: false, typed: false, x: 0, y: 0, wrong: "" };
  const trees = (root) => {
    const hosts = [...root.querySelectorAll("*")].filter((element) => element.shadowRoot);
    return [root, ...hosts.flatMap((element) => trees(element.shadowRoot))];
  };
  const all = (root) => trees(root).flatMap((tree) => [...tree.querySelectorAll("*")]);
  const plain = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const roleOf = (element) => {
    const tag = element.localName;
    const type = element.type ?? "";
    if (element.getAttribute("role")) return element.getAttribute("role");
    if (tag === "a") return "link";
    if (tag === "button" || /^(submit|button|reset|image)$/.test(type)) return "button";
    if (type === "checkbox" || type === "radio") return type;
    if (tag === "select") return "combobox";
    return tag === "input" || tag === "textarea" ? "textbox" : tag;
  };
  const namesOf = (element) => [
    element.getAttribute("aria-label"),
    ...[...(element.labels ?? [])].map((label) => label.textContent.replace(/:\s*$/, "")),
    ...[...(element.labels ?? [])].map((label) => label.textContent),
    element.getAttribute("placeholder"),
    element.getAttribute("title"),
    element.getAttribute("alt"),
    /^(submit|button|reset)$/.test(element.type ?? "") ? element.value : null,
    element.matches("input, select, textarea") ? null : element.textContent,
  ];
  const innermost = (found) =>
    found.find((element) => !found.some((other) => other !== element && element.contains(other)));
  const findOne = (root, selector) => {
    const [, kind, rest] = /^(aria|text|xpath|pierce)\/(.*)$/s.exec(selector) ?? [0, "", selector];
    if (kind === "xpath") {
      const first = XPathResult.FIRST_ORDERED_NODE_TYPE;
      return document.evaluate(rest, root, null, first, null).singleNodeValue;
    }
    if (kind === "text") {
      return innermost(all(root).filter((element) => plain(element.textContent) === plain(rest)));
    }
    if (kind === "aria") {
      const [, name, role] = /^(.*?)(?:\[role="([^"]*)"\])?$/s.exec(rest) ?? [0, rest, undefined];
      const isIt = (element) =>
        (role === undefined || roleOf(element) === role) &&
        namesOf(element).some((found) => plain(found) === plain(name) && plain(found) !== "");
      const found = all(root).filter(isIt);
      // A label reads as the field that it names.
      const controls = found.filter((element) => element.matches(CONTROLS));
      return innermost(controls.length > 0 ? controls : found);
    }
    const found = root.querySelector(rest);
    if (found || kind === "") return found;
    return trees(root)
      .map((tree) => tree.querySelector(rest))
      .find((element) => element);
  };
  const findInside = (path) => {
    let found = null;
    let root = document;
    for (const selector of path) {
      try {
        found = findOne(root, selector);
      } catch {
        answer.wrong = selector;
        return null;
      }
      if (!found) return null;
      root = found.shadowRoot ?? found.contentDocument ?? found;
    }
    return found;
  };
  const element = selectors.map(findInside).find((found) => found);
  if (!element) return answer;
  answer.wrong = "";
  answer.found = element.getClientRects().length > 0;
  if (act === "find" || !answer.found) return answer;
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  if (act === "aim") {
    answer.found = box.width > 0 && box.height > 0;
    answer.x = box.left + box.width / 2;
    answer.y = box.top + box.height / 2;
    return answer;
  }
  element.focus();
  const isText =
    element.isContentEditable ||
    (element.matches("input, textarea") &&
      !/^(checkbox|radio|range|color|date|datetime-local|month|week|time)$/.test(element.type));
  if (isText) {
    // The browser types over what is selected.
    if (element.select) element.select();
    else getSelection()?.selectAllChildren(element);
    answer.typed = true;
    return answer;
  }
  if (/^(checkbox|radio)$/.test(element.type)) {
    if (element.checked !== (value === "true" || value === "on")) element.click();
    return answer;
  }
  element.value = value;
  for (const type of ["input", "change"]) {
    element.dispatchEvent(new Event(type, { bubbles: true }));
  }
  return answer;
}
