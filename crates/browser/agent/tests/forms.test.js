// @ts-check
import { chosenField, controlsOf, fieldsOf, noteChange } from "../forms.js";
import { findOffers } from "../offers.js";
import { collectTree } from "../tree.js";
import { equal, show } from "./check.js";

const nothing = () => {};

/** What is offered, in short. */
function offered() {
  const tree = collectTree();
  return findOffers(tree).offers.map(({ kind, node, argument }) => {
    const { tag, attributes } = tree.nodes[node];
    const name = attributes.find(([known]) => known === "name")?.[1] ?? tag;
    return `${kind} ${name} ${argument}`.trim();
  });
}

const FOUR = "<input name=a><input name=b><input name=c><input name=d>";

export const cases = {
  "a small form is explored field by field": () => {
    show("<form><input name=a><input name=b><button>b</button></form>");
    equal(offered(), ["input a argiope", "input b argiope", "click button"]);
  },
  "a large form is filled in and sent in one action": () => {
    show(`<form>${FOUR}<button>b</button></form>`);
    equal(offered(), ["fill button", "click button"]);
    show(`<form>${FOUR}<button disabled>b</button></form>`);
    equal(offered(), ["fill button"]);
    show(`<form>${FOUR}<button formnovalidate>cancel</button><input type=submit name=s></form>`);
    equal(offered(), ["click button", "fill s", "click s"]);
    show(`<form>${FOUR}</form>`);
    equal(offered().slice(0, 2), ["fill form", "submit form"]);
  },
  "each given value is a way to fill in a large form": () => {
    const rule = { selector: "[name=b]", label: null, name: null, type: null, autocomplete: null };
    settings.inputs.push({ ...rule, values: ["1", ""] });
    show(`<form>${FOUR}<button>b</button><button name=second>c</button></form>`);
    equal(offered(), [
      ...["fill button", "fill button b = 1", "fill button b =", "click button"],
      ...["fill second", "click second"],
    ]);
  },
  "a field of a large form is changed alone only if the page may answer": () => {
    const form = show(`<form>${FOUR}<input type=checkbox name=e><button>b</button></form>`);
    form.elements.a.addEventListener("input", nothing);
    equal(offered(), ["input a argiope", "check e", "fill button", "click button"]);
    noteChange(form.elements.a);
    form.elements.a.value = "argiope";
    equal(offered(), ["fill button", "click button"]);
  },
  "what comes with a change may be changed as well": () => {
    const form = show(`<form>${FOUR}<input type=checkbox name=e><button>b</button></form>`);
    noteChange(form.elements.e);
    form.elements.e.checked = true;
    form.insertAdjacentHTML("beforeend", "<input type=checkbox name=f>");
    equal(offered(), ["fill button", "click button", "check f"]);
  },
  "the fields of a form are those that a user can fill in": () => {
    const form = show(
      `<form><input name=elements><input type=hidden><input readonly><input disabled>
      <input style="display: none"><select><option>a</select><p contenteditable>x</p></form>`,
    );
    equal(
      fieldsOf(form).map((field) => field.localName),
      ["input", "select", "p"],
    );
    equal(controlsOf(form).length, 6);
  },
  "a field is named by its label or its name, and told apart": () => {
    const form = show("<form><label>A<input></label><label>A<input></label><input name=n></form>");
    const fields = fieldsOf(form);
    const at = (/** @type {string} */ argument) => {
      const { field, value } = chosenField(fields, argument);
      return [fields.indexOf(field), value];
    };
    equal(at("a = x = y"), [0, "x = y"]);
    equal(at("a (2) = "), [1, ""]);
    equal(at("n = 1"), [2, "1"]);
    equal(at("m = 1"), [-1, "1"]);
    equal(at("")[0], -1);
  },
};
