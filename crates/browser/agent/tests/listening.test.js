// @ts-check
import { FAMILY, handlerOf, isReactRoot, isTop, Listening } from "../listening.js";
import { equal, show } from "./check.js";

const nothing = () => {};
const listen = () => new Listening([...document.querySelectorAll("*")]);

export const cases = {
  "listeners, handlers and attributes are heard": () => {
    show("<p></p><p onclick='1'></p><p></p><p></p>");
    const [hooked, attribute, property, none] = /** @type {any} */ (document.body.children);
    hooked.addEventListener("mousedown", nothing);
    property.onclick = nothing;
    const found = listen();
    const heard = [hooked, attribute, property, none].map((one) => found.hears(one, FAMILY.click));
    equal(heard, [true, true, true, false]);
  },
  "React's properties are heard instead of its root": () => {
    const root = show("<div><p></p></div>");
    root._reactListening1 = true;
    root.addEventListener("click", nothing);
    root.firstChild.__reactProps$1 = { onClick: nothing, onDoubleClick: nothing, id: 1 };
    const found = listen();
    equal([...(found.types.get(root.firstChild)?.keys() ?? [])], ["click", "dblclick"]);
    equal([found.hears(root, FAMILY.click), isReactRoot(["_reactListening1"])], [false, true]);
  },
  "jQuery's handlers are heard where their selectors match": () => {
    const root = show("<ul><li></li><li class=on></li></ul>");
    root.addEventListener("click", nothing);
    root.jQuery123 = { events: { click: [{ selector: ".on", handler: nothing }] } };
    const found = listen();
    const [plain, matched] = root.children;
    const heard = [root, plain, matched].map((one) => found.hears(one, ["click"]));
    equal(heard, [false, false, true]);
  },
  "what looks operable in a container that listens is delegated to": () => {
    const root = show("<div><button></button><i style='cursor: pointer'></i><p></p></div>");
    root.addEventListener("click", nothing);
    const found = listen();
    equal(
      [...found.delegated].map((one) => one.localName),
      ["button", "i"],
    );
    equal([found.delegating.has(root), found.containers.length], [true, 1]);
  },
  "a control that listens is no container": () => {
    const button = show("<button><a href='/'></a></button>");
    button.addEventListener("click", nothing);
    equal(listen().containers.length, 0);
  },
  "a listener on the document is delegation": () => {
    show("<button></button>");
    document.addEventListener("click", nothing);
    equal(listen().delegated.has(document.body.children[0]), true);
  },
  "an invoker stands for the function that it holds": () => {
    equal(handlerOf(Object.assign(() => {}, { value: nothing })) === nothing, true);
    equal(handlerOf(nothing) === nothing, true);
    equal(handlerOf(null), null);
  },
  "only the root and the body are the top": () => {
    equal([isTop(document.documentElement), isTop(document.body)], [true, true]);
    equal(isTop(show("<p></p>")), false);
  },
};
