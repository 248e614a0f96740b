// A site as a Worker behind the gate of the package, for tests.

import { waitroom } from "@waitroom/gate";

let gate;

function site(request) {
  return new Response(`the site, at ${new URL(request.url).pathname}\n`, { headers: { "set-cookie": "basket=1" } });
}

export default {
  fetch(request, env, context) {
    gate ??= waitroom({
      url: env.WAITROOM_URL, site: env.SITE, rules: { "/concert": "concert" }, finish: ["POST /concert/order"],
      deadlineMs: Number(env.WAITROOM_DEADLINE_MS),
    });
    return gate.handle(request, () => site(request), { waitUntil: (work) => context.waitUntil(work) });
  },
};
