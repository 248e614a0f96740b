// The gate in front of node:http and Express. It imports nothing from Node.

/** @typedef {{method?: string, url?: string, originalUrl?: string, headers: Record<string, string | string[] | undefined>, waitroom?: import("./index.js").Visit}} Incoming */
/**
 * @typedef {object} Outgoing
 * @property {(status: number, ...rest: any[]) => unknown} writeHead
 * @property {(name: string, value: string | string[]) => unknown} setHeader
 * @property {(name: string) => number | string | string[] | undefined} getHeader
 * @property {(body?: any) => unknown} end
 */
/** @typedef {ReturnType<typeof import("./index.js").waitroom>} Gate */

/**
 * The gate as middleware: `app.use(middleware(gate))`, before everything else. `request.waitroom.finish()` ends a session.
 * @param {Gate} gate
 */
export function middleware(gate) {
  /** @param {Incoming} request @param {Outgoing} response @param {(error?: unknown) => void} next */
  return async function waitroomGate(request, response, next) {
    try {
      const url = request.originalUrl ?? request.url ?? "";
      if (!url.startsWith("/")) return await sent(new Response("not an address of this site\n", { status: 400 }), response, false);
      const visit = await visited(gate, request, url);
      if (visit.answer) return await sent(visit.answer, response, request.method === "HEAD");
      request.waitroom = visit;
      carry(visit, response);
    } catch (error) {
      return next(error); // never let a request through because the gate broke
    }
    next();
  };
}

/** @param {Gate} gate @param {Incoming} request @param {string} url */
function visited(gate, request, url) {
  /** @param {string} name */
  const get = (name) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  // `//x/concert` is a path here and not a host, so the path is put behind a host unchanged.
  return gate.visit({ method: request.method ?? "GET", url: `http://site${url}`, headers: { get }, original: request });
}

/** @param {Response} answer @param {Outgoing} response @param {boolean} bare */
async function sent(answer, response, bare) {
  const headers = Object.fromEntries(answer.headers);
  delete headers["set-cookie"];
  const cookies = answer.headers.getSetCookie();
  response.writeHead(answer.status, cookies.length ? { ...headers, "set-cookie": cookies } : headers);
  response.end(bare ? "" : await answer.text());
}

/** Add our cookies when the headers are sent. @param {import("./index.js").Visit} visit @param {Outgoing} response */
function carry(visit, response) {
  if (visit.pass === undefined) return;
  const { writeHead } = response;
  response.writeHead = function (status, ...rest) {
    response.writeHead = writeHead;
    const cookies = visit.cookies(status);
    const given = rest.at(-1);
    if (cookies.length && given !== null && typeof given === "object") {
      // Headers given here would replace those set before.
      const pairs = Array.isArray(given) ? pairsOf(given) : Object.entries(given);
      for (const [name, value] of pairs) add(response, name, value);
      rest.pop();
    }
    for (const value of cookies) add(response, "set-cookie", value);
    return writeHead.call(response, status, ...rest);
  };
}

/** @param {Outgoing} response @param {string} name @param {any} value */
function add(response, name, value) {
  const several = name.toLowerCase() === "set-cookie";
  const before = several ? [response.getHeader(name) ?? []].flat().map(String) : [];
  response.setHeader(name, several ? [...before, ...[value].flat()] : value);
}

/** @param {any[]} flat @returns {[string, any][]} */
function pairsOf(flat) {
  if (Array.isArray(flat[0])) return flat;
  return flat.flatMap((name, at) => (at % 2 ? [] : [[name, flat[at + 1]]]));
}
