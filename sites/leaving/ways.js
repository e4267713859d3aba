// Each way tries to reach another origin: another name of this machine. A test names another port
// by the query, and records what arrives there. Paths under /resource/ may be loaded by default.
const port = new URLSearchParams(location.search).get("port") ?? location.port;
const other = `http://localhost:${port}`;
const socket = other.replace("http", "ws");
const at = (id) => document.getElementById(id);
const quietly = (promise) => promise.catch(() => {});

function insert(tag, attributes, text = "") {
  const element = Object.assign(document.createElement(tag), { textContent: text });
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  at("room").append(element);
  return element;
}

function frame(attributes) {
  return insert("iframe", attributes);
}

function submit(attributes, fields = { a: "b" }) {
  const form = insert("form", { method: "post", ...attributes });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  form.submit();
}

function worker(code) {
  return new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
}

function post(path) {
  return `fetch("${other}/${path}", { method: "POST", mode: "no-cors", body: "x" }).catch(() => {});`;
}

/** @type {Record<string, () => unknown>} */
const ways = {
  "fetch get": () => quietly(fetch(`${other}/fetch-get`)),
  "fetch get without cors": () => quietly(fetch(`${other}/fetch-opaque`, { mode: "no-cors" })),
  "fetch post": () => quietly(fetch(`${other}/fetch-post`, { method: "POST", mode: "no-cors", body: "x" })),
  "fetch delete": () => quietly(fetch(`${other}/fetch-delete`, { method: "DELETE" })),
  "fetch kept alive": () =>
    quietly(fetch(`${other}/keepalive`, { method: "POST", mode: "no-cors", keepalive: true, body: "x" })),
  "fetch after a redirect": () =>
    quietly(fetch(`/leave?status=307&to=${other}/fetch-redirected`, { method: "POST", mode: "no-cors", body: "x" })),
  "fetch later": () => window.fetchLater?.(`${other}/fetch-later`, { activateAfter: 0 }),
  request: () => {
    const request = new XMLHttpRequest();
    request.open("POST", `${other}/request`);
    request.send("x");
  },
  beacon: () => navigator.sendBeacon(`${other}/beacon`, "x"),
  "beacon at the end": () => {
    addEventListener("pagehide", () => navigator.sendBeacon(`${other}/last-beacon`, "x"));
  },
  ping: () => insert("a", { href: "#pinged", ping: `${other}/ping` }, "ping").click(),
  socket: () => new WebSocket(`${socket}/socket`),
  "event source": () => new EventSource(`${other}/event-source`),
  "form in a frame": () => {
    frame({ name: "sink" });
    submit({ action: `${other}/form-in-frame`, target: "sink" });
  },
  form: () => submit({ action: `${other}/form` }),
  "form by get": () => submit({ action: `${other}/form-get`, method: "get" }),
  "form after a redirect": () => submit({ action: `/leave?status=307&to=${other}/form-redirected` }),
  "form by its button": () => {
    const form = insert("form", { method: "post", action: "/" });
    const button = document.createElement("button");
    button.setAttribute("formaction", `${other}/form-action`);
    form.append(button);
    form.requestSubmit(button);
  },
  "frame of a document": () => frame({ src: `${other}/frame` }),
  "frame after a redirect": () => frame({ src: `/leave?to=${other}/frame-redirected` }),
  "frame that posts": () => {
    frame({ srcdoc: `<form method=post action="${other}/frame-posts"></form><script>document.forms[0].submit()</script>` });
  },
  "frame in a sandbox": () => frame({ sandbox: "allow-scripts", srcdoc: `<script>${post("sandbox")}</script>` }),
  "frame of data": () => frame({ src: `data:text/html,<script>${encodeURIComponent(post("data-frame"))}</script>` }),
  "frame without hooks": () => {
    const { contentWindow: inner } = frame({});
    quietly(inner.fetch(`${other}/inner-fetch`, { method: "POST", mode: "no-cors", body: "x" }));
    new inner.WebSocket(`${socket}/inner-socket`);
  },
  "frame that leaves for all": () => {
    frame({ srcdoc: `<script>top.location.href = "${other}/top-from-frame"</script>` });
  },
  object: () => insert("object", { data: `${other}/object` }),
  embed: () => insert("embed", { src: `${other}/embed` }),
  navigation: () => {
    location.href = `${other}/navigation`;
  },
  "navigation by the history": () => window.navigation.navigate(`${other}/navigate`),
  "navigation after a redirect": () => {
    location.href = `/leave?to=${other}/navigation-redirected`;
  },
  link: () => insert("a", { href: `${other}/link` }, "link").click(),
  "link by its base": () => {
    insert("base", { href: `${other}/` });
    insert("a", { href: "based" }, "based").click();
  },
  download: () => insert("a", { href: `${other}/download`, download: "x" }, "download").click(),
  refresh: () => insert("meta", { "http-equiv": "refresh", content: `0; url=${other}/refresh` }),
  window: () => window.open(`${other}/window`),
  "window without opener": () => window.open(`${other}/window-apart`, "_blank", "noopener"),
  "link to a window": () => insert("a", { href: `${other}/link-window`, target: "_blank", rel: "noopener" }, "x").click(),
  worker: () => worker(post("worker")),
  "socket of a worker": () => worker(`new WebSocket("${socket}/worker-socket");`),
  "worker of a worker": () => {
    const inner = JSON.stringify(post("inner-worker"));
    worker(`new Worker(URL.createObjectURL(new Blob([${inner}])));`);
  },
  "shared worker": () => new SharedWorker("shared.js?port=" + port),
  "service worker": () => quietly(navigator.serviceWorker.register("service.js?port=" + port)),
  prefetch: () => insert("link", { rel: "prefetch", href: `${other}/prefetch` }),
  preconnect: () => insert("link", { rel: "preconnect", href: other }),
  "hint of a name": () => insert("link", { rel: "dns-prefetch", href: other }),
  preload: () => insert("link", { rel: "preload", as: "fetch", href: `${other}/preload`, crossorigin: "" }),
  speculation: () => {
    const rules = { source: "list", urls: [`${other}/prerender`], eagerness: "immediate" };
    insert("script", { type: "speculationrules" }, JSON.stringify({ prerender: [rules], prefetch: [rules] }));
  },
  "report of a violation": () => frame({ src: `/reporting?to=${other}/violation` }),
  manifest: () => insert("link", { rel: "manifest", href: `${other}/manifest` }),
  video: () => insert("video", { src: `${other}/video`, autoplay: "", muted: "" }),
  track: () => {
    insert("video", { src: "/nothing" }).append(
      Object.assign(document.createElement("track"), { src: `${other}/track`, default: true }),
    );
  },
  peer: () => {
    const iceServers = [
      { urls: `stun:localhost:${port}` },
      { urls: `turn:localhost:${port}?transport=tcp`, username: "a", credential: "b" },
      { urls: `turn:localhost:${port}?transport=udp`, username: "a", credential: "b" },
    ];
    const peer = new RTCPeerConnection({ iceServers });
    peer.createDataChannel("x");
    quietly(peer.createOffer().then((offer) => peer.setLocalDescription(offer)));
  },
  transport: () => {
    const transport = new WebTransport(`https://localhost:${port}/transport`);
    quietly(transport.ready);
    quietly(transport.closed);
  },
  "encrypted fetch": () => quietly(fetch(`https://localhost:${port}/encrypted`)),
  "encrypted socket": () => new WebSocket(`wss://localhost:${port}/encrypted`),
  "resource: script": () => insert("script", { src: `${other}/resource/script.js` }),
  "resource: module": () => quietly(import(`${other}/resource/module.js`)),
  "resource: script of a worker": () => worker(`importScripts("${other}/resource/worker.js");`),
  "resource: style": () => insert("link", { rel: "stylesheet", href: `${other}/resource/style.css` }),
  "resource: image": () => insert("img", { src: `${other}/resource/image.svg` }),
  "resource: font": () => quietly(new FontFace("far", `url(${other}/resource/font.woff)`).load()),
};

function back() {
  at("said").textContent = "Nothing was tried.";
  at("room").replaceChildren();
  show();
}

function attempt(name) {
  at("said").textContent = `tried: ${name}`;
  at("ways").replaceChildren(button("back", back));
  try {
    ways[name]();
  } catch {
    // Some ways are not open to every page.
  }
}

function button(text, action) {
  const button = Object.assign(document.createElement("button"), { textContent: text });
  button.addEventListener("click", action);
  return button;
}

function show() {
  at("ways").replaceChildren(...Object.keys(ways).map((name) => button(name, () => attempt(name))));
}
show();
