// @ts-check
import { placeOf } from "../place.js";
import { findAgain, tracesOf } from "../traits.js";
import { equal, show } from "./check.js";

/** @param {string} selector */
const at = (selector) => /** @type {Element} */ (document.querySelector(selector));

export const cases = {
  "an element is found at its place while the page is the same": () => {
    show("<p>a</p><button>save</button>");
    const traces = tracesOf(at("button"));
    equal(traces.startsWith(`${placeOf(at("button"))}~`), true);
    at("button").textContent = "other";
    equal(findAgain(traces) === at("button"), true);
    equal(findAgain(placeOf(at("p"))) === at("p"), true);
  },
  "an element that has moved is found by its traits": () => {
    settings.ignore = ".ad";
    show("<button>buy</button><button>sell</button>");
    const traces = tracesOf(document.body.children[1]);
    document.body.insertAdjacentHTML("afterbegin", "<button class=ad>look</button>");
    equal(findAgain(traces).textContent, "sell");
    document.body.firstElementChild?.remove();
    document.body.firstElementChild?.remove();
    equal(findAgain(traces).textContent, "sell");
  },
  "rows that read the same are told apart by the text around": () => {
    settings.ignore = ".ad";
    const row = (/** @type {string} */ text) => `<li>${text}<button>delete</button></li>`;
    show(`<ul>${row("milk")}${row("tea")}</ul>`);
    const traces = tracesOf(at("li:last-child button"));
    at("ul").insertAdjacentHTML("afterbegin", row("ad").replace("<li", "<li class=ad"));
    equal(findAgain(traces).parentElement.firstChild.data, "tea");
  },
  "a text that has changed does not hide an element": () => {
    settings.masks = [{ selector: "i", what: "text" }];
    show("<button>inbox 3</button><button>sent</button>");
    const traces = tracesOf(at("button"));
    at("button").textContent = "inbox 4";
    equal(findAgain(traces)?.textContent, "inbox 4");
  },
  "an element is missing if none or several are as likely": () => {
    settings.ignore = ".ad";
    show("<p><button>buy</button></p>");
    const traces = tracesOf(at("button"));
    show("<div><a href='/'>elsewhere</a></div>");
    equal(findAgain(traces), null);
    show("<p></p><p><button>buy</button><button>buy</button></p>");
    equal(findAgain(traces), null);
  },
  "the traits of an element name its place in the structure first": () => {
    show("<p><b>a</b></p><p><b>c</b></p><div><b>a</b></div>");
    const structure = (/** @type {number} */ index) =>
      tracesOf(document.querySelectorAll("b")[index]).split("~")[1].split(".")[0];
    equal(structure(0) === structure(1), true);
    equal(structure(0) === structure(2), false);
  },
};
