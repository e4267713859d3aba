// The page agent, part 2: what the page is waiting for. Requests to the application's own site, scripts,
// style sheets and frames that were inserted hold the page; sockets, streams and outside hosts never do.
const traffic = shared.traffic ?? {
  // What is under way and holds the page: token -> address.
  pending: new Map(),
  // Addresses that were still busy when the time was up: they never hold a page again.
  endless: new Set(settings.endless),
  next: 1,
  // Whoever waits for a change.
  wake: null,
  // Counts messages between ports and changes of the tree: activity that is not traffic.
  activity: 0,
  workers: new Map(),
};
shared.traffic = traffic;

function inside(address) {
  try {
    const url = new URL(address, document.baseURI);
    if (url.protocol === "blob:" || url.protocol === "data:") return true;
    return (url.hostname === settings.site || url.hostname.endsWith("." + settings.site)) && !traffic.endless.has(bare(url));
  } catch {
    return false;
  }
}

// An address without what changes from request to request.
function bare(url) {
  return url.origin + url.pathname;
}

function begin(address) {
  if (!inside(address)) return 0;
  const token = traffic.next++;
  traffic.pending.set(token, bare(new URL(address, document.baseURI)));
  return token;
}

function end(token) {
  if (traffic.pending.delete(token)) traffic.wake?.();
}

// Holds the page until an event that the browser has promised, but not longer than a moment.
function awaitEvent(target, type) {
  if (!heard.types.has(type)) return;
  const token = traffic.next++;
  traffic.pending.set(token, "event:" + type);
  const done = () => end(token);
  apply(native.add, target, [type, done, { once: true }]);
  apply(native.timeout, window, [done, 300]);
}

// Until something ends, but not longer than some milliseconds. The timer goes with it: every one that fires wakes the page.
function trafficChange(longest) {
  return new native.Promise((resolve) => {
    const timer = apply(native.timeout, window, [resolve, longest]);
    traffic.wake = () => {
      apply(native.clearTimeout, window, [timer]);
      resolve();
    };
  });
}

// Workers answer soon or not at all: they hold a page for a moment only.
function workersBusy() {
  for (const [worker, since] of traffic.workers) {
    if (native.clock() - since < 200) return true;
    traffic.workers.delete(worker);
  }
  return false;
}

function changes() {
  for (const observer of shared.observers) noticeAdded(observer.takeRecords());
  return traffic.activity;
}

function noticeAdded(records) {
  traffic.activity += records.length;
  for (const record of records) for (const node of record.addedNodes) if (node.nodeType === 1) noticeElement(node);
}

// Scripts, style sheets and frames load after they were inserted.
function noticeElement(element) {
  awaitLoad(element);
  if (element.firstElementChild) for (const inner of element.querySelectorAll("script[src],link[rel~=stylesheet],iframe")) awaitLoad(inner);
}

const awaited = new WeakSet();
function awaitLoad(element) {
  let address = null;
  if (element.localName === "script" && element.src && /^$|javascript|^module$/.test(element.type)) address = element.src;
  else if (element.localName === "link" && element.relList?.contains("stylesheet") && element.href) address = element.href;
  else if (element.localName === "iframe" && (element.src || element.srcdoc)) address = element.srcdoc ? location.href : element.src;
  if (address === null || awaited.has(element) || document.readyState === "loading") return;
  awaited.add(element);
  const token = begin(address);
  if (!token) return;
  const done = () => end(token);
  apply(native.add, element, ["load", done, { once: true }]);
  apply(native.add, element, ["error", done, { once: true }]);
}

(function hookTraffic() {
  shared.observers ??= [];
  const observer = new MutationObserver(noticeAdded);
  observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  shared.observers.push(observer);

  replace(window, "fetch", (old) => function fetch(...args) {
    const request = args[0];
    const token = begin(typeof request === "object" && request !== null && "url" in request ? request.url : String(request));
    const answer = apply(old, this, args);
    if (token) answer.then(() => end(token), () => end(token));
    return answer;
  });
  for (const name of ["json", "text", "arrayBuffer", "blob", "formData", "bytes"]) {
    replace(Response.prototype, name, (old) => function () {
      const token = begin(this.url || location.href);
      const body = apply(old, this, []);
      if (token) body.then(() => end(token), () => end(token));
      return body;
    });
  }
  const opened = new WeakMap();
  replace(XMLHttpRequest.prototype, "open", (old) => function (method, address, ...rest) {
    opened.set(this, rest.length > 0 && rest[0] === false ? null : String(address));
    return apply(old, this, [method, address, ...rest]);
  });
  replace(XMLHttpRequest.prototype, "send", (old) => function (...args) {
    const address = opened.get(this);
    const token = address == null ? 0 : begin(address);
    if (token) apply(native.add, this, ["loadend", () => end(token), { once: true }]);
    try {
      return apply(old, this, args);
    } catch (error) {
      end(token);
      throw error;
    }
  });
  replace(MessagePort.prototype, "postMessage", (old) => function (...args) {
    traffic.activity++;
    return apply(old, this, args);
  });
  if (window.Worker) {
    replace(Worker.prototype, "postMessage", (old) => function (...args) {
      if (!traffic.workers.has(this)) apply(native.add, this, ["message", () => traffic.workers.delete(this), { once: true }]);
      traffic.workers.set(this, native.clock());
      return apply(old, this, args);
    });
  }
})();
