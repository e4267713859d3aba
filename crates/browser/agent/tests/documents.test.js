// @ts-check
import { documents, framesOf, innerDocument, shadowRoots } from "../documents.js";
import { addFrame, equal, show } from "./check.js";

export const cases = {
  "frames of the same origin are documents of the page": async () => {
    const inner = await addFrame("<p>inner</p>");
    const found = [...documents()].map(({ document: page }) => page);
    equal([found.length, found[0] === document, found[1] === inner], [2, true, true]);
  },
  "a document keeps the time at which it was first seen": async () => {
    const [first] = [...documents()];
    const [second] = [...documents()];
    equal(first.since, second.since);
  },
  "a frame without an agent is not part of the page": () => {
    const frame = show('<iframe src="data:text/html,other"></iframe>');
    equal([innerDocument(frame), innerDocument(document.body)], [null, null]);
    equal(framesOf(document).length, 1);
  },
  "a frame whose properties throw is not part of the page": () => {
    const frame = show("<iframe></iframe>");
    const get = () => {
      throw new Error("thrown by the page");
    };
    Object.defineProperty(frame, "contentWindow", { get });
    equal(innerDocument(frame), null);
  },
  "shadow roots are found in shadow roots, and frames in them": () => {
    const outer = show("<div></div>").attachShadow({ mode: "closed" });
    outer.innerHTML = "<p></p>";
    const inner = outer.firstChild.attachShadow({ mode: "open" });
    inner.innerHTML = "<iframe></iframe>";
    const roots = [...shadowRoots(document)];
    equal([roots.length, roots[0] === outer, roots[1] === inner], [2, true, true]);
    equal(framesOf(document).length, 1);
  },
};
