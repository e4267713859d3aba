// The page agent: one script in every document of the same origin, before any script of the page. Agents
// in frames share the state of the one in the topmost document that they can reach.
const EVENTS = new Set(("click dblclick contextmenu mousedown mouseup mouseover mouseout mouseenter mouseleave mousemove pointerdown pointerup pointerover pointerenter pointerleave pointermove pointercancel touchstart touchend focus focusin blur keydown keyup keypress input change submit scroll dragstart drop dragover hashchange popstate").split(" "));

const isMain = window.parent === window;
const isRoot = (() => {
  try {
    return isMain || !window.parent[settings.secret];
  } catch {
    return true;
  }
})();
// Until the first frame nobody has looked at a document: what its observers see is still to come.
const shared = isRoot ? { paintFirst: true, unframed: false } : window.parent[settings.secret].shared;
