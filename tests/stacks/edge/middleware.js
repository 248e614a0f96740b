// The gate as Next.js middleware, which runs in its edge runtime, for tests.

import { NextResponse } from "next/server";
import { waitroom } from "@waitroom/gate";

const { SITE, WAITROOM_URL, WAITROOM_DEADLINE_MS } = process.env;
const gate = waitroom({
  url: WAITROOM_URL, site: SITE, rules: { "/concert": "concert" }, finish: ["POST /concert/order"],
  deadlineMs: Number(WAITROOM_DEADLINE_MS),
});

export function middleware(request, event) {
  return gate.handle(request, () => NextResponse.next(), { waitUntil: (work) => event.waitUntil(work) });
}
