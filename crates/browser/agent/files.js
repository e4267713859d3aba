// @ts-check
// Files for uploads: small, valid and made here. No file of the machine is ever read.

// The name of every file that argiope makes, before its ending.
const STEM = "argiope";
const PDF = [
  "%PDF-1.4",
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj",
  "trailer<</Root 1 0 R>>",
  "%%EOF\n",
].join("\n");
// The two tables of a picture without detail are all ones.
const ONES = "/".repeat(86);
const JPEG = [
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP",
  "2wBDAf",
  "wAARCAABAAEDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFA" +
    "EBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AJgA/9k=",
].join(ONES);

/**
 * Ending to type and content; what begins with `base64,` is not text.
 * @type {Map<string, [string, string]>}
 */
const CONTENTS = new Map([
  [
    "png",
    [
      "image/png",
      "base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    ],
  ],
  ["jpg", ["image/jpeg", `base64,${JPEG}`]],
  ["jpeg", ["image/jpeg", `base64,${JPEG}`]],
  ["gif", ["image/gif", "base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"]],
  [
    "svg",
    ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>\n'],
  ],
  ["pdf", ["application/pdf", PDF]],
  ["txt", ["text/plain", "argiope\n"]],
  ["md", ["text/markdown", "# argiope\n"]],
  ["csv", ["text/csv", "name,value\nargiope,7\n"]],
  ["json", ["application/json", '{"name":"argiope","value":7}\n']],
  ["xml", ["application/xml", '<?xml version="1.0"?>\n<argiope/>\n']],
  ["html", ["text/html", "<!doctype html><title>argiope</title>\n"]],
  ["zip", ["application/zip", "base64,UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="]],
  ["wav", ["audio/wav", "base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="]],
]);

/**
 * The name of the file for a field: of the first accepted type that argiope can make.
 * @param {HTMLInputElement} input
 */
export function fileNameFor({ accept }) {
  const accepted = accept
    .toLowerCase()
    .split(",")
    .map((one) => one.trim());
  const known = [...CONTENTS].find(([ending, [type]]) => {
    const kind = `${type.split("/")[0]}/*`;
    return accepted.some((one) => one === `.${ending}` || one === type || one === kind);
  });
  // Where argiope can make none of them, the ending at least is right.
  const other = accepted.find((one) => /^\.[a-z0-9]{1,8}$/.test(one))?.slice(1);
  return `${STEM}.${known?.[0] ?? other ?? "txt"}`;
}

/**
 * Puts one file into a field.
 * @param {HTMLInputElement} input
 * @param {string} name
 * @param {PageWindow} view
 */
export function putFile(input, name, view) {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const [type, content] = CONTENTS.get(ending) ?? ["application/octet-stream", "argiope\n"];
  const transfer = new view.DataTransfer();
  // The same bytes and the same time on every walk.
  transfer.items.add(new view.File([bytesOf(content)], name, { type, lastModified: 0 }));
  input.files = transfer.files;
}

/**
 * @param {string} content
 * @returns {BlobPart}
 */
function bytesOf(content) {
  if (!content.startsWith("base64,")) return content;
  const text = atob(content.slice("base64,".length));
  return Uint8Array.from(text, (one) => one.charCodeAt(0));
}
