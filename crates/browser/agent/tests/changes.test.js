// @ts-check
import { isChanged, noteField } from "../changes.js";
import { equal, show } from "./check.js";

export const cases = {
  "a field is changed while it holds something else than before": () => {
    const input = show("<input value=a>");
    input.value = "b";
    equal(isChanged(input), false);
    noteField(input);
    input.value = "c";
    noteField(input);
    equal(isChanged(input), true);
    input.value = "b";
    equal(isChanged(input), false);
  },
  "boxes and lists are compared by what is chosen": () => {
    const box = show("<input type=checkbox><select><option>a<option>b</select>");
    const list = box.nextSibling;
    noteField(box);
    noteField(list);
    box.checked = true;
    list.selectedIndex = 1;
    equal([isChanged(box), isChanged(list)], [true, true]);
  },
};
