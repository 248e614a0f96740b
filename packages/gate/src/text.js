// Small texts: percent-encoding and cookies.

const BYTES = new TextEncoder();

/** Decode one layer of `%XX`; invalid UTF-8 becomes U+FFFD. @param {string} text */
export function decoded(text) {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(run.slice(1).split("%"), (hex) => parseInt(hex, 16))),
  );
}

/** Percent-encode what a pattern finds. @param {string} text @param {RegExp} unsafe with the flags g and u */
export function quoted(text, unsafe) {
  return text.replace(unsafe, (char) =>
    Array.from(BYTES.encode(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/**
 * All cookies with a name, in order: another page may have set a second one.
 * @param {string} header
 * @param {string} name
 */
export function cookies(header, name) {
  const values = [];
  for (const part of header.split(";")) {
    const [key, value] = split(part.trim(), "=");
    if (key === name && value) values.push(value.replace(/^[ "]+|[ "]+$/g, ""));
  }
  return values;
}

/** @param {string} text @param {string} mark @returns {[string, string]} */
export function split(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
