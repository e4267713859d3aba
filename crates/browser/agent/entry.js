// The page agent, part 10: what is called from outside. One call performs a whole path and says where it
// ended; it stops at the first step that does not lead where it should.

// Steps that are done for the first time share a call for so long, in milliseconds: whoever asked wants to hear of them.
const TURN = 500;

const agent = {
  shared,

  // Performs steps; after each but the last the page must be the expected one. What happens in a step that is done for the
  // first time is told, also if others come after it.
  async run(steps) {
    const result = { done: 0, missing: false, raw: "", settled: true, notes: [], passed: [], link: null, leaving: false, held: held.length > 0, unframed: false, endless: [] };
    const began = native.clock();
    let first = false;
    // The page wants to go elsewhere by itself.
    if (result.held) return { ...result, missing: true };
    for (const step of steps) {
      beginStep();
      const found = await perform(step);
      if (!found) {
        result.missing = true;
        break;
      }
      if (first) result.passed.push(result.notes);
      first = step.first === true;
      result.settled = await settle(native.clock() + settings.cap, false);
      result.unframed = shared.unframed;
      if (result.unframed) break;
      result.link = shared.linked;
      result.notes = shared.notes;
      result.leaving = shared.leaving;
      result.held = held.length > 0;
      result.done++;
      if (result.leaving) break;
      result.raw = raw();
      if (!result.settled) result.endless = [...traffic.endless];
      if (step.expect !== undefined && step.expect !== result.raw) break;
      if (first && (result.link !== null || !result.settled || native.clock() - began > TURN)) break;
    }
    if (result.done === 0) result.raw = raw();
    return result;
  },

  // Waits until the page has settled; after a load, or after input from outside.
  async settle() {
    const settled = await settle(native.clock() + settings.cap, true);
    return { done: 0, missing: false, raw: raw(), settled, notes: shared.notes, passed: [], link: shared.linked, leaving: false, held: held.length > 0, unframed: shared.unframed, endless: settled ? [] : [...traffic.endless] };
  },

  look,

  // Where the middle of an element is in the window, after scrolling it into view.
  aim(where) {
    beginStep();
    const element = at(where.split(">")[0]);
    if (!element) return null;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = [...element.getClientRects()].find((one) => one.width > 0 && one.height > 0);
    if (!box) return null;
    let [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    for (let view = element.ownerDocument.defaultView; view !== window; view = view.parent) {
      const frame = view.frameElement.getBoundingClientRect();
      x += frame.left + view.frameElement.clientLeft;
      y += frame.top + view.frameElement.clientTop;
    }
    shared.pointed = true;
    return { x, y };
  },

  // Somebody watches over navigations from now on: those that were held go on.
  guard() {
    settings.guarded = true;
    shared.released = held.length > 0;
    shared.leaving = shared.released;
    for (const go of held.splice(0)) go();
    return true;
  },

  // The document that was being left stays: the answer was a download, or was refused.
  stayed() {
    shared.leaving = false;
    shared.released = false;
  },

  // Before the page is left for good: nothing of it may be there the next time. What is cleared from outside reaches the
  // process of the page some time later.
  clear() {
    for (const name of ["sessionStorage", "localStorage"]) {
      try {
        window[name].clear();
      } catch {}
    }
    return true;
  },
};

function beginStep() {
  shared.opened = opened();
  shared.notes = [];
  shared.linked = null;
  shared.leftAt = undefined;
  agent.stayed();
}

defineProperty(window, settings.secret, { value: agent });
