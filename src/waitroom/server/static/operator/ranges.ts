// What part of the past is shown: a range up to now, or a span that was dragged. It is kept in the address.
import type { Span } from "./history";

const HOUR_MS = 3_600_000;
/** The ranges by name, in the order of the keys 1 to 7. */
export const RANGES: Record<string, number> = {
  "5m": HOUR_MS / 12, "15m": HOUR_MS / 4, "1h": HOUR_MS, "6h": 6 * HOUR_MS,
  "48h": 48 * HOUR_MS, "7d": 168 * HOUR_MS, "30d": 720 * HOUR_MS,
};
const USUAL = "1h";
/** A shorter span than this has nothing to show. */
const SHORTEST_MS = 30_000;

/** The range that is shown, the spans that were dragged within it, and how they are kept. */
export class Shown {
  range = USUAL;
  private zooms: Span[] = [];

  constructor() {
    const query = new URLSearchParams(location.search);
    const range = query.get("range") ?? "", since = Number(query.get("since")), until = Number(query.get("until"));
    if (range in RANGES) this.range = range;
    if (since > 0 && until - since >= SHORTEST_MS) this.zooms.push({ since, until });
  }

  /** Whether it is a span of the past, which no longer moves. */
  get isZoomed(): boolean {
    return this.zooms.length > 0;
  }

  /** What is shown at a moment. */
  span(now: number): Span {
    return this.zooms.at(-1) ?? { since: now - RANGES[this.range], until: now };
  }

  /** Show a range up to now. */
  choose(range: string): void {
    this.range = range;
    this.zooms = [];
    this.keep();
  }

  /** Show a part of the shown span; return whether there is anything to see in it. */
  zoom(span: Span): boolean {
    if (span.until - span.since < SHORTEST_MS) return false;
    this.zooms.push(span);
    this.keep();
    return true;
  }

  /** Show what was shown before the last zoom. */
  back(): void {
    this.zooms.pop();
    this.keep();
  }

  private keep(): void {
    const url = new URL(location.href), zoom = this.zooms.at(-1);
    url.searchParams.set("range", this.range);
    for (const name of ["since", "until"] as const) {
      if (zoom) url.searchParams.set(name, String(Math.round(zoom[name])));
      else url.searchParams.delete(name);
    }
    history.replaceState(history.state, "", url);
  }
}
