const other = `http://localhost:${new URLSearchParams(location.search).get("port")}`;
addEventListener("install", (event) => {
  const sent = fetch(`${other}/service-worker`, { method: "POST", mode: "no-cors", body: "x" });
  event.waitUntil(sent.catch(() => {}));
});
