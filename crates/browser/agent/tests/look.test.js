// @ts-check
import { look } from "../look.js";
import { rawHash } from "../raw.js";
import { equal, show } from "./check.js";

export const cases = {
  "a look is one text with everything about the page": () => {
    show("<button>b</button>");
    const seen = JSON.parse(/** @type {string} */ (look()));
    equal([seen.raw, seen.truncated, seen.type], [rawHash(), false, "text/html"]);
    equal([seen.page.url, seen.page.title, seen.status], [location.href, document.title, 200]);
    equal(
      seen.page.offers.map((/** @type {Offer} */ offer) => offer.kind),
      ["click"],
    );
    equal(seen.source.includes("<button>b</button>"), true);
  },
  "a look is an object where a library has taught arrays to write themselves": () => {
    /** @type {any} */ (Array.prototype).toJSON = () => "taught";
    equal(typeof look(), "object");
  },
};
