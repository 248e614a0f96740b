// The gate as Hono middleware: `app.use(middleware(gate))`, before everything else.

/**
 * As much of Hono's context as the gate needs.
 * @typedef {object} Context
 * @property {{raw: Request}} req
 * @property {Response} res
 * @property {(name: string, value: string, options: {append: boolean}) => unknown} header
 * @property {(name: any, value: any) => unknown} set  `c.get("waitroom").finish()` ends a session
 */

/** @param {ReturnType<typeof import("./index.js").waitroom>} gate */
export function middleware(gate) {
  /** @param {Context} context @param {() => Promise<void>} next @returns {Promise<Response | void>} */
  return async function waitroomGate(context, next) {
    const visit = await gate.visit(context.req.raw, { waitUntil: waitUntilOf(context) });
    if (visit.answer) return visit.answer;
    context.set("waitroom", visit);
    await next();
    await visit.renewing;
    for (const value of visit.cookies(context.res.status)) context.header("set-cookie", value, { append: true });
  };
}

/** Hono has an execution context on edge runtimes only, and throws elsewhere. @param {any} context */
function waitUntilOf(context) {
  try {
    const { executionCtx } = context;
    return /** @param {Promise<unknown>} work */ (work) => executionCtx.waitUntil(work);
  } catch {
    return undefined;
  }
}
