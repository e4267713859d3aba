// @ts-check
// A look at the page: `Look` in src/agent.rs reads it.
import { native, wellFormed } from "./natives.js";
import { withoutNumbers } from "./numbers.js";
import { findOffers, MOST_OFFERS } from "./offers.js";
import { rawHash } from "./raw.js";
import { collectTree } from "./tree.js";

// What is kept of a document's source and title, in characters. A message holds 64 MB.
const LONGEST_DOCUMENT = 8_000_000;
const LONGEST_TITLE = 10_000;

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
  const { offers, ...ledger } = findOffers(tree);
  /** @type {any} */
  const navigation = performance.getEntriesByType("navigation")[0];
  const { nodes } = tree;
  const title = withoutNumbers(wellFormed(document.title.slice(0, LONGEST_TITLE)));
  return {
    raw: rawHash(),
    truncated: tree.isCut || offers.length >= MOST_OFFERS,
    page: { url: location.href, title, nodes, offers },
    source: wellFormed(document.documentElement.outerHTML.slice(0, LONGEST_DOCUMENT)),
    status: navigation?.responseStatus ?? 0,
    type: document.contentType,
    ...ledger,
  };
}
