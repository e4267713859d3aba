// @ts-check
// Where this agent runs. One agent starts in every document of the same origin, before any script
// of the page. Agents in frames share the state of the agent in the topmost reachable document.

export const isMain = window.parent === window;

/**
 * Whether the document is in a sandbox without scripts. The agent runs there all the same, but no
 * timer fires and no listener is called, not even its own.
 */
export const isScriptless = matchMedia("(scripting: none)").matches;

/**
 * The agent in a document of the same origin; nothing where there is none. A page can find the
 * function under this name, but does not know the key that it asks for.
 * @param {Window} view
 * @returns {{ shared: SharedState } | undefined}
 */
export function agentOf(view) {
  return /** @type {any} */ (view)[settings.secret]?.(settings.key);
}

const isRoot = (() => {
  try {
    return isMain || !agentOf(window.parent);
  } catch {
    return true;
  }
})();

// Each module adds its own fields when it starts. Until the first frame no observer of the page
// has been told anything, so the first wait paints.
const fresh = /** @type {SharedState} */ ({ paintFirst: true, unframed: false });
// A setter that the page gives to all objects must not get hold of it.
Reflect.setPrototypeOf(fresh, null);

/** @type {SharedState} */
export const shared = isRoot ? fresh : /** @type {any} */ (agentOf(window.parent)).shared;
