// @ts-check
import { agentOf, isMain, shared } from "../context.js";
import { equal } from "./check.js";

export const cases = {
  "the agent knows that it is in the main document": () => {
    equal(isMain, true);
  },
  "the first wait paints": () => {
    equal([shared.paintFirst, shared.unframed], [true, false]);
  },
  "a document without an agent has none": () => {
    equal(agentOf(window), undefined);
  },
};
