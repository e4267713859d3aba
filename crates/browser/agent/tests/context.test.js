// @ts-check
import { agentOf, isMain, isRoot, shared } from "../context.js";
import { equal } from "./check.js";

export const cases = {
  "the agent of the main document is the root": () => {
    equal([isMain, isRoot], [true, true]);
  },
  "the first wait paints": () => {
    equal([shared.paintFirst, shared.unframed], [true, false]);
  },
  "a document without an agent has none": () => {
    equal(agentOf(window), undefined);
  },
};
