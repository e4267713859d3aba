// The page agent, part 5: waiting until a page has done what it was going to do. Never a sleep: each round
// asks what is still to come, brings it about or waits for exactly that.

// Whether it settled before the deadline. Gives up at once when the document is being left, unless it
// should `stay` to see that.
async function settle(deadline, stay) {
  const until = clock.at + HORIZON;
  let last = -1;
  let painted = shared.paintFirst ? -1 : changes();
  shared.paintFirst = false;
  for (;;) {
    await turn();
    if (shared.unframed) return false;
    if (native.clock() > deadline) {
      for (const address of traffic.pending.values()) traffic.endless.add(address);
      return false;
    }
    if (shared.leaving) {
      if (!stay || held.length > 0) return true;
      // The document is about to go; if it does not (no content, a download), the page is here again.
      await sleep(10);
      if (native.clock() - (shared.leftAt ??= native.clock()) < 3000) continue;
      agent.stayed();
    }
    // Nobody says when a document has loaded or a worker is done; whatever else is awaited says so itself.
    if (loading() || workersBusy()) {
      await trafficChange(50);
      continue;
    }
    if (traffic.pending.size > 0) {
      await trafficChange(deadline - native.clock() + 1);
      continue;
    }
    const now = changes();
    if (now !== last) {
      last = now;
      continue;
    }
    if (!settings.frames && shared.checked !== now) {
      shared.checked = now;
      if (hasDrawn() && needFrames()) return false;
    }
    const due = nextDue(until);
    if (due < Infinity) {
      fireOne(due);
      continue;
    }
    if (finishAnimations()) {
      await paint();
      painted = changes();
      continue;
    }
    if (heard.observes && painted !== now) {
      painted = now;
      await observed();
      continue;
    }
    const open = opened();
    if (open !== (shared.opened ?? 0)) {
      shared.opened = open;
      await paint();
      continue;
    }
    return true;
  }
}

// Elements that do something of their own accord when they are drawn.
const DRAWN = "[autofocus],[loading=lazy],[onscroll],[onscrollend],marquee,video[autoplay],audio[autoplay]";

function hasDrawn() {
  for (const { document: page } of documents()) if (page.querySelector(DRAWN)) return true;
  return false;
}

// How many dialogs, details and popovers are open. The events of one that was closed or opened come late, but not
// later than the next frame.
function opened() {
  let count = 0;
  for (const { document: page } of documents()) count += page.querySelectorAll("dialog[open],details[open],:popover-open").length;
  return count;
}

// Documents that are still being read. Outside resources do not count once the tree is there.
function loading() {
  for (const { document: page, since } of documents()) {
    if (page.readyState === "complete") continue;
    if (page.readyState === "interactive" && native.clock() - since > 1500 && !insideResources(page)) continue;
    return true;
  }
  return false;
}

// Whether a resource of the application itself may still be on its way: one that is in the tree but has no
// entry among what was received.
function insideResources(page) {
  const received = new Set(page.defaultView.performance.getEntriesByType("resource").map((entry) => entry.name));
  for (const element of page.querySelectorAll("script[src],link[rel~=stylesheet][href],img[src]")) {
    const address = element.src || element.href;
    if (inside(address) && !received.has(address)) return true;
  }
  return false;
}

const since = new WeakMap();
function* documents(page = document) {
  if (!since.has(page)) since.set(page, native.clock());
  yield { document: page, since: since.get(page) };
  for (const frame of framesOf(page)) {
    const inner = innerDocument(frame);
    if (inner) yield* documents(inner);
  }
}

// Frames, those in shadow roots included only when there are any.
function framesOf(page) {
  const frames = [...page.getElementsByTagName("iframe"), ...page.getElementsByTagName("frame")];
  if (heard.hasShadows) for (const root of shadowRoots(page)) frames.push(...root.querySelectorAll("iframe"));
  return frames;
}

// The document of a frame of the same origin.
function innerDocument(frame) {
  try {
    return frame.contentWindow?.[settings.secret] ? frame.contentDocument : null;
  } catch {
    return null;
  }
}

function* shadowRoots(node) {
  for (const element of node.querySelectorAll("*")) {
    const root = shadowOf(element);
    if (root) {
      yield root;
      yield* shadowRoots(root);
    }
  }
}

// Brings animations to their end, so that their events fire; those without an end are stopped.
function finishAnimations() {
  let finished = false;
  for (const { document: page } of documents()) {
    if (!moves(page)) continue;
    // Whether a change is animated depends on what was drawn before.
    if (needFrames()) return true;
    const roots = heard.hasShadows ? [page, ...shadowRoots(page)] : [page];
    for (const root of roots) for (const animation of root.getAnimations()) finished = finish(animation) || finished;
  }
  return finished;
}

// Whether anything on the page can be animated, or looks otherwise when it is drawn. Asking for the animations themselves costs a pass over the
// styles in every step; the style sheets need be read only when they change.
const motions = new WeakMap();
function moves(page) {
  if (heard.animates || heard.hasShadows || page.querySelector("[style*=transition],[style*=animation],svg animate")) return true;
  let rules = page.adoptedStyleSheets.length;
  try {
    for (const sheet of page.styleSheets) rules += 1 + sheet.cssRules.length;
  } catch {
    // A style sheet of another origin cannot be read.
    return true;
  }
  const known = motions.get(page);
  if (known?.rules === rules) return known.moves;
  const texts = [...page.styleSheets, ...page.adoptedStyleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText));
  const found = texts.some((text) => /transition|animation|content-visibility|scroll-state/.test(text));
  motions.set(page, { rules, moves: found });
  return found;
}

function finish(animation) {
  if (animation.playState !== "running") return false;
  try {
    const end = animation.effect?.getComputedTiming().endTime;
    if (end === Infinity || !(animation.playbackRate > 0)) {
      animation.pause();
      return false;
    }
    animation.finish();
    return true;
  } catch {
    animation.cancel();
    return true;
  }
}
