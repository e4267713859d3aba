const other = `http://localhost:${new URLSearchParams(location.search).get("port")}`;
fetch(`${other}/shared-worker`, { method: "POST", mode: "no-cors", body: "x" }).catch(() => {});
