// Where people are sent: the waiting page, and from there back to this site, whatever Host says.

import { decoded, quoted, split } from "./text.js";

const CODE = "waitroom_code";
const LONGEST_RETURN = 1_500;
const NOT_IN_PATH = /[^\w\-.~/!$&'()*+,;=:@%]/gu;
const NOT_IN_QUERY = /[^\w\-.~/!$&'()*+,;=:@%?]/gu;
const NOT_PLAIN = /[^\w\-.~]/gu;

/** An address without a host: one slash, the path, and the query without a code. @param {string} path @param {string} query */
export function onSite(path, query) {
  const rest = query
    .split("&")
    .filter((part) => part && !isCode(part))
    .join("&");
  return `/${quoted(path.replace(/^[/\\]+/, ""), NOT_IN_PATH)}${rest && `?${quoted(rest, NOT_IN_QUERY)}`}`;
}

/** The address to come back to. @param {string} site @param {string} path @param {string} query */
export function returnTo(site, path, query) {
  const urls = [site + onSite(path, query), site + onSite(path, "")];
  return urls.find((url) => url.length <= LONGEST_RETURN) ?? `${site}/`;
}

/** @param {string} publicUrl @param {string} room @param {string} back */
export function waitingPage(publicUrl, room, back) {
  return `${publicUrl}/rooms/${quoted(room, NOT_PLAIN)}?return=${quoted(back, NOT_PLAIN)}`;
}

/** The one-time code in a query, if it has one. @param {string} query */
export function codeOf(query) {
  for (const part of query.split("&")) {
    const [name, value] = split(part, "=");
    if (name === CODE && /^[\w.~-]{16,128}$/.test(value)) return value;
  }
  return undefined;
}

/** Whether a part of a query is a code, however it is spelled. @param {string} part */
function isCode(part) {
  return decoded(split(part, "=")[0].replaceAll("+", " ")).trim().toLowerCase() === CODE;
}
