// @ts-check
import { currentValue, isField, labelsOf, mistakeOf, typeOf } from "../fields.js";
import { equal, show } from "./check.js";

export const cases = {
  "fields are typed into or chosen from": () => {
    show("<input><input type=checkbox><textarea></textarea><select></select><button></button>");
    equal([...document.body.children].map(isField), [true, false, true, true, false]);
  },
  "the current value of an editable element is its text": () => {
    equal(currentValue(show("<p contenteditable>text</p>")), "text");
    equal(currentValue(show("<input value=text>")), "text");
    equal(currentValue(show("<input value=a995700000001>")), "a{n}");
  },
  "the type of a field is the one that people write": () => {
    show("<input type=EMAIL><textarea></textarea><select></select><p contenteditable></p>");
    const types = [...document.body.children].map(typeOf);
    equal(types, ["email", "textarea", "select", "contenteditable"]);
  },
  "a field is called by its label, without the text of other fields": () => {
    const label = show("<label> Colour:<select><option>red</select></label>");
    equal(labelsOf(label.lastElementChild), ["colour"]);
    equal(labelsOf(show("<input aria-label='Search * ' placeholder=Find>")), ["search", "find"]);
    show("<p id=a>The  name</p><input aria-labelledby='a b'>");
    equal(labelsOf(document.querySelector("input")), ["the name"]);
  },
  "the browser's complaint is known once the form was sent": () => {
    const form = show("<form><input type=email required><button>b</button></form>");
    const [email] = form.elements;
    equal(mistakeOf(email), undefined);
    form.requestSubmit();
    equal(mistakeOf(email), "value missing");
    email.value = "wrong";
    equal(mistakeOf(email), "type mismatch");
    email.value = "a@b.c";
    equal(mistakeOf(email), undefined);
    email.setCustomValidity("is taken");
    equal(mistakeOf(email), "is taken");
    form.noValidate = true;
    equal(mistakeOf(email), undefined);
  },
};
