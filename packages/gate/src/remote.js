// Calls to Waitroom: each has a deadline, and none throws.

/** @typedef {{status: number, headers: Headers, json: () => Record<string, unknown>}} Reply */
/** @typedef {"slow" | "down"} NoAnswer  late, or nobody is there */

export class Remote {
  #base;
  #deadlineMs;

  /** @param {string} url @param {number} deadlineMs */
  constructor(url, deadlineMs) {
    this.#base = url.replace(/\/+$/, "");
    this.#deadlineMs = deadlineMs;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{pass?: string, body?: unknown, patience?: number}} [more]  `patience` is in deadlines
   * @returns {Promise<Reply | NoAnswer>}
   */
  async ask(method, path, { pass, body, patience = 1 } = {}) {
    const headers = new Headers({ "cache-control": "no-cache" });
    if (pass !== undefined) headers.set("authorization", `Bearer ${pass}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    try {
      // Not `redirect: "error"`, which edge runtimes do not know; a redirect is not an answer from Waitroom.
      const answer = await fetch(this.#base + path, {
        method, headers, redirect: "manual", signal: AbortSignal.timeout(patience * this.#deadlineMs),
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await answer.text();
      if (answer.status === 502) return "down"; // from a proxy that could not reach it
      return { status: answer.status, headers: answer.headers, json: () => parsed(text) };
    } catch (error) {
      return error instanceof Error && error.name === "TimeoutError" ? "slow" : "down";
    }
  }
}

/** Whether an answer is about the request, not from a Waitroom that cannot answer now. @param {Reply | NoAnswer} outcome @returns {outcome is Reply} */
export function isVerdict(outcome) {
  return typeof outcome !== "string" && outcome.status < 500 && outcome.status !== 429 && (outcome.status < 300 || outcome.status >= 400);
}

/** @param {string} text @returns {Record<string, unknown>} */
function parsed(text) {
  try {
    const document = JSON.parse(text);
    return typeof document === "object" && document !== null ? document : {};
  } catch {
    return {};
  }
}
