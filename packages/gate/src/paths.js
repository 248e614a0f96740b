// Which rule applies to a path, however it is spelled.
//
// Servers differ in how they read `%2e%2e`, `//`, `;x`, `\`, capitals and wide letters. So a path is
// read in every way that any of them might, and is protected if one reading is.

import { decoded, split } from "./text.js";

/** @typedef {{path: string, room: string | null, method?: string}} Place  `room` is null if everybody may go */
/** @typedef {{place?: Place, refused?: boolean}} Match */

const LONGEST_PATH = 8_192;
const MOST_LAYERS = 6; // of encoding
const LOST = "\ufffd";

/** Places, the most specific first: more segments, then fewer wildcards. */
export class Table {
  /** @type {{parts: string[], written: string[], place: Place}[]} */
  #rows;

  /** @param {Place[]} places */
  constructor(places) {
    this.#rows = places.map((place) => ({ parts: pattern(place.path), written: place.path.split("/").filter(Boolean), place }));
    // If a rule and a bypass have the same path, the rule wins: protecting is the safer error.
    this.#rows.sort(
      (a, b) => b.parts.length - a.parts.length || stars(a.parts) - stars(b.parts) || Number(a.place.room === null) - Number(b.place.room === null),
    );
  }

  /**
   * The place of a request.
   * @param {string} method
   * @param {string} path  as received, without its query
   * @returns {Match}
   */
  match(method, path) {
    const ways = readings(path);
    if (ways === null) return { refused: true };
    const exact = plain(path, ways);
    /** @type {Place | undefined} */
    let best;
    for (const way of ways) {
      const place = this.#first(method, way, exact);
      if (place === undefined) continue;
      if (best !== undefined && best.room !== place.room) return { refused: true }; // a pass for one room must not open the other
      if (best === undefined || place.path.length > best.path.length) best = place;
    }
    return { place: best };
  }

  /** @param {string} method @param {string[]} way @param {string[] | null} exact */
  #first(method, way, exact) {
    for (const { parts, written, place } of this.#rows) {
      if (!covers(parts, way) || (place.method !== undefined && place.method !== method)) continue;
      if (place.room !== null) return place;
      // `/concert/HEALTH` may be a seat of that name: a bypass is for one spelling only.
      if (exact !== null && covers(written, exact)) return undefined;
    }
    return undefined;
  }
}

/** Read `"POST /pay"` or `"/thanks"`. @param {string} text @param {string | null} room @returns {Place} */
export function worded(text, room) {
  const [method, path] = split(text, " ");
  return path ? { path: path.trim(), room, method: method.toUpperCase() } : { path: text, room };
}

/** The segments of a rule's path. @param {string} path */
function pattern(path) {
  const text = path.startsWith("/") ? folded(path) : null;
  const parts = text === null ? [".."] : segments(text);
  if (parts.includes("..")) throw new TypeError(`${JSON.stringify(path)} is not a path that can be read in one way; it begins with /`);
  return parts;
}

/** Every way to read a path; null if there is none. @param {string} path */
function readings(path) {
  const text = path.length > LONGEST_PATH ? null : folded(path);
  if (text === null) return null;
  const texts = text.includes(LOST) ? [text, text.replaceAll(LOST, "")] : [text];
  /** @type {Map<string, string[]>} */
  const ways = new Map();
  for (const parts of texts.map(segments)) {
    for (const way of [parts, resolved(parts)]) ways.set(way.join("/"), way);
  }
  return [...ways.values()];
}

/** The segments of a path with only one reading, spelled plainly. @param {string} path @param {string[][]} ways */
function plain(path, ways) {
  const text = `/${ways[0].join("/")}`;
  const given = caseless(path);
  if (ways.length > 1 || (text !== given && text !== given.replace(/\/$/, ""))) return null;
  return path.split("/").filter(Boolean);
}

/** A path without any layer of encoding, case and look-alike spelling. @param {string} path */
function folded(path) {
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    const wide = path.replace(/%u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    const text = caseless(decoded(wide).normalize("NFKC")).replace(/\p{Cf}/gu, "");
    if (/[\p{Cc}\p{Cs}\p{Cn}]/u.test(text)) return null; // nor what this runtime does not know yet
    if (text === path) return text;
    path = text;
  }
  return null;
}

/** @param {string} text */
function caseless(text) {
  return text.toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/** @param {string} text */
function segments(text) {
  const parts = text.split(/[/\\]+/).map((part) => part.split(/[;?#]/)[0].trim());
  return parts.map((part) => (part === ".." ? part : part.replace(/[. ]+$/, ""))).filter(Boolean);
}

/** @param {string[]} parts */
function resolved(parts) {
  /** @type {string[]} */
  const path = [];
  for (const part of parts) {
    if (part === "..") path.pop();
    else path.push(part);
  }
  return path;
}

/** @param {string[]} wanted @param {string[]} parts */
function covers(wanted, parts) {
  return wanted.length <= parts.length && wanted.every((part, at) => part === "*" || part === parts[at]);
}

/** @param {string[]} parts */
function stars(parts) {
  return parts.filter((part) => part === "*").length;
}
