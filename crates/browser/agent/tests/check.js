// @ts-check
// What the tests of the modules share. A test file exports `cases`: claim to function. Each case
// runs in a document of its own, in a real browser; see tests/chromium/agent.rs.

/**
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function equal(actual, expected) {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got !== wanted) throw new Error(`expected ${wanted}, got ${got}`);
}

/**
 * Replaces the body of the page, and gives its first element.
 * @param {string} html
 * @returns {any}
 */
export function show(html) {
  document.body.innerHTML = html;
  return document.body.firstElementChild;
}

/**
 * Adds a frame whose document has an agent in it, and gives the document once it has loaded.
 * @param {string} html
 * @returns {Promise<Document>}
 */
export function addFrame(html) {
  const frame = document.createElement("iframe");
  frame.srcdoc = html;
  return new Promise((resolve) => {
    frame.onload = () => {
      const view = /** @type {any} */ (frame.contentWindow);
      if (!view[settings.secret]) view[settings.secret] = () => ({});
      resolve(/** @type {Document} */ (frame.contentDocument));
    };
    document.body.append(frame);
  });
}
