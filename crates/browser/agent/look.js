// @ts-check
// A look at the page: `Look` in src/agent.rs reads it.
import { native, wellFormed } from "./natives.js";
import { findOffers } from "./offers.js";
import { rawHash } from "./raw.js";
import { collectTree, MOST_NODES } from "./tree.js";

/**
 * The look as one text, which crosses to the browser many times faster than a tree of objects. As
 * objects where a library has given `toJSON` to arrays, objects or texts: the text would be wrong.
 */
export function look() {
  const isTaught = [Array, Object, String].some((type) => "toJSON" in type.prototype);
  return isTaught ? lookAround() : native.json(lookAround());
}

function lookAround() {
  const tree = collectTree();
  const offers = findOffers(tree);
  /** @type {any} */
  const navigation = performance.getEntriesByType("navigation")[0];
  const { nodes } = tree;
  return {
    raw: rawHash(),
    truncated: nodes.length >= MOST_NODES,
    page: { url: location.href, title: wellFormed(document.title), nodes, offers },
    source: wellFormed(document.documentElement.outerHTML),
    status: navigation?.responseStatus ?? 0,
    type: document.contentType,
  };
}
