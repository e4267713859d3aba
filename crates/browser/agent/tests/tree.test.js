// @ts-check
import { frameAround } from "../documents.js";
import { collectTree, isVisible } from "../tree.js";
import { addFrame, equal, show } from "./check.js";

/** The tree of the body: indented tags with what they say. */
function lines() {
  const { nodes } = collectTree();
  return nodes.slice(2).map(({ depth, tag, text, attributes, visible }) => {
    const said = attributes.map(([name, value]) => `${name}=${value}`);
    return [" ".repeat(depth - 2) + tag, text, ...said, visible ? "" : "hidden"]
      .filter((word) => word)
      .join(" ");
  });
}

export const cases = {
  "the tree has texts and attributes, and no scripts": () => {
    show('<p title="a">text</p><script>1</script><style></style>');
    equal(lines(), ["p title=a", " #text text"]);
  },
  "a hash replaces the end of a long text, and the tree is whole": () => {
    const texts = ["a", "b"].map((last) => {
      show("<p></p>").textContent = "x".repeat(150000) + last;
      const { nodes, isCut } = collectTree();
      equal(isCut, false);
      return nodes[nodes.length - 1].text;
    });
    equal(
      texts.map((text) => [text.length < 100100, text.startsWith("x".repeat(100000))]),
      [
        [true, true],
        [true, true],
      ],
    );
    equal(texts[0] === texts[1], false);
  },
  "what is not displayed is there, but hidden": () => {
    show('<p hidden>a</p><p style="opacity: 0"></p>');
    equal(lines(), ["p hidden= hidden", " #text a hidden", "p style=opacity: 0 hidden"]);
  },
  "what is parked out of sight is hidden, but can be read aloud": () => {
    const dot = "position: absolute; width: 1px; height: 1px; overflow: hidden";
    for (const style of ["position: absolute; left: -9999px", "transform: none", dot]) {
      show("<p><b>a</b></p>").style.cssText = style;
      const parked = style === "transform: none" ? "" : " .parked= hidden";
      const [, bold, text] = lines();
      equal([style, bold, text], [style, ` b${parked}`, `  #text a${parked && " hidden"}`]);
    }
  },
  "what a scroll bar leads to is visible": () => {
    const log = show("<div><p style='height: 900px'>a</p><p>b</p></div>");
    log.style.cssText = "height: 20px; overflow: auto";
    log.scrollTop = 2000;
    equal(log.firstChild.getBoundingClientRect().bottom < 0, true);
    equal(
      lines().some((line) => line.includes("hidden")),
      false,
    );
  },
  "a box whose label is visible is as visible as the label": () => {
    show("<label>a<input type=checkbox hidden></label>");
    equal(lines(), ["label", " #text a", " input type=checkbox hidden="]);
  },
  "what is written for browsers without scripts is left out": () => {
    const other = "<b></b><noscript><p>enable scripts</p></noscript>";
    const parsed = new DOMParser().parseFromString(other, "text/html");
    document.body.replaceChildren(...parsed.querySelectorAll("b, noscript"));
    equal(document.querySelectorAll("noscript p").length, 1);
    equal(lines(), ["b"]);
  },
  "values of fields are attributes": () => {
    show("<input value=a><input type=checkbox><textarea></textarea>");
    const [text, box, area] = /** @type {any} */ (document.body.children);
    text.value = "b";
    box.checked = true;
    area.value = "c";
    const values = ["input value=a .value=b", "input type=checkbox .checked=", "textarea .value=c"];
    equal(lines(), values);
  },
  "shadow roots and frames are in their places": async () => {
    const root = show("<div>light</div>").attachShadow({ mode: "closed" });
    root.innerHTML = "<b></b>";
    equal(lines(), ["div", " #shadow", "  b", " #text light"]);
    document.body.replaceChildren();
    const inner = await addFrame("<title></title><i></i>");
    equal(lines().slice(1), [" #document", "  html", "   body", "    i"]);
    const frame = document.querySelector("iframe");
    equal(frameAround(inner) === frame, true);
    equal(frameAround(document), null);
  },
  "options are as visible as their list": () => {
    const select = show("<select><option>a</select>");
    equal(isVisible(select.options[0]), true);
    select.hidden = true;
    equal(isVisible(select.options[0]), false);
  },
  "ignored elements are left out": () => {
    show("<p class=ad>a</p><p>b</p>");
    settings.ignore = ".ad";
    equal(lines(), ["p", " #text b"]);
  },
  "elements have the numbers of their nodes": () => {
    show("<p>a</p><p>b</p>");
    const { nodes, elements, numbers } = collectTree();
    for (const element of elements) {
      equal(nodes[numbers.get(element) ?? -1].tag, element.localName);
    }
    equal(nodes.length < 200000, true);
  },
};
