// @ts-check
// Documents that a script writes anew (`document.open`, `document.write` after the load). The
// window and its hooks stay, but the browser removes all listeners, and a document that is never
// closed stays "loading".
import { shared } from "./context.js";
import { hooked } from "./listeners.js";
import { apply, replace } from "./natives.js";
import { forgetInserted, observeChanges } from "./traffic.js";
import { listenToWindow } from "./world.js";

(function hookWriting() {
  for (const name of ["open", "write", "writeln"]) {
    replace(Document.prototype, name, (old) => {
      return function (...args) {
        // With three arguments it is `window.open`.
        if (name === "open" && args.length > 2) return apply(window.open, window, args);
        return rewrite(this, () => apply(old, this, args));
      };
    });
  }
})();

/**
 * Writes to a document. Scripts that are written run at once, so what the browser removes is
 * forgotten before, and put back if the document was not written anew.
 * @param {Document} page
 * @param {() => unknown} write
 */
function rewrite(page, write) {
  const view = page.defaultView;
  const before = page.documentElement;
  if (!view || !before || page.readyState === "loading") return write();
  const targets = [view, page];
  const listeners = targets.map((target) => hooked.targets.get(target));
  for (const target of targets) hooked.targets.delete(target);
  shared.rewritten.add(page);
  const result = write();
  if (page.documentElement === before) {
    shared.rewritten.delete(page);
    targets.forEach((target, at) => {
      const known = listeners[at];
      if (known) hooked.targets.set(target, known);
    });
    return result;
  }
  forgetInserted(page);
  observeChanges(page);
  if (page === document) listenToWindow();
  return result;
}
