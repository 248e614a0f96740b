// A room's past as the server sends it, and what the charts draw of it.

type Column = (number | null)[];

/** Columns of equal length, of which the charts need these. A row of nulls marks the beginning of a gap. */
export interface History {
  step: string;
  step_ms: number;
  at_ms: number[];
  waiting: Column;
  called: Column;
  inside: Column;
  called_total: Column;
  /** How long the last person called had waited; null if nobody was called. */
  waited_s: Column;
  /** The wait that a newcomer was told. */
  told_s: Column;
  capacity: Column;
  per_minute: Column;
}

/** What somebody did, or what happened. */
export interface Mark {
  at_ms: number;
  kind: string;
  text: string;
  by?: string | null;
  href?: string | null;
}

/** A time span, in milliseconds. */
export interface Span {
  since: number;
  until: number;
}

/** null is a gap; undefined has no value of its own, and the line continues. */
export type Values = (number | null | undefined)[];

/** Return whether there is a value. */
export const isKnown = (value: number | null | undefined): value is number => typeof value === "number";

/** What is drawn: times in seconds, and values by name. */
export interface Drawn {
  at: number[];
  values: Record<string, Values>;
}

const MINUTE_MS = 60_000;
const TIMEOUT_MS = 10_000;
/** Over a shorter time a single batch would look like a flood. */
const SHORTEST_MS = 10_000;

const ask = async <Answer>(url: string, span: Span, step = ""): Promise<Answer> => {
  const query = `since_ms=${Math.floor(span.since)}&until_ms=${Math.ceil(span.until)}${step && `&step=${step}`}`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(`${url}?${query}`, { signal });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return await answer.json() as Answer;
};

/** Return the past of a room. */
export const askHistory = (url: string, span: Span, step?: string): Promise<History> => ask(url, span, step);

/** Return the actions and events of a room. */
export const askMarks = async (url: string, span: Span): Promise<Mark[]> =>
  (await ask<{ marks: Mark[] }>(url, span)).marks;

/** Join newer points to older ones; if both have a moment, the newer one is right. `since` is the oldest to keep. */
export const joined = (old: History, newer: History, since = 0): History => {
  const before = newer.at_ms.length ? newer.at_ms[0] : Infinity;
  const kept = old.at_ms.map((at) => at >= since && at < before);
  const columns = Object.entries(newer).map(([name, column]) => {
    const earlier: unknown = old[name as keyof History];
    return [name, Array.isArray(column) && Array.isArray(earlier)
      ? [...earlier.filter((_, index) => kept[index]), ...column] : column];
  });
  return Object.fromEntries(columns) as History;
};

/** Return the index of the last value in a sorted list that is not above a value, or -1. */
const lastUpTo = (sorted: number[], value: number): number => {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
};

/** Return how many were called per minute up to a point: over a minute, or over one span. */
const pace = (history: History, ends: number[], index: number): number | null => {
  const back = history.step_ms < MINUTE_MS ? Math.max(0, lastUpTo(ends, ends[index] - MINUTE_MS)) : index - 1;
  const before = history.called_total[back], after = history.called_total[index];
  if (!isKnown(before) || !isKnown(after) || ends[index] - ends[back] < SHORTEST_MS / 2) return null;
  return Math.max(0, after - before) * MINUTE_MS / Math.max(ends[index] - ends[back], SHORTEST_MS);
};

/** Return the wait that was told on arrival, as far as it is known. */
const toldOnArrival = (history: History, ends: number[], arrived: number): number | undefined =>
  history.told_s[lastUpTo(ends, arrived)] ?? undefined;

/** Counts are those at the end of a span; the last span may not be over yet. A gap begins just after one. */
const endsOf = (history: History, now: number): number[] => history.at_ms.map((at, index) => {
  if (history.waiting[index] === null) return at + 1;
  return history.step_ms < MINUTE_MS ? at : Math.min(at + history.step_ms, Math.max(now, at + 2));
});

const sum = (...values: (number | null)[]): number | null =>
  values.every(isKnown) ? values.reduce((total, value) => total + value, 0) : null;

/** Return what to draw. */
export const drawn = (history: History, now: number): Drawn => {
  const ends = endsOf(history, now);
  const at: number[] = [];
  const values: Record<string, Values> =
    { waiting: [], inside: [], taken: [], called: [], capacity: [], pace: [], limit: [], waited: [], told: [] };
  ends.forEach((end, index) => {
    const waited = history.waited_s[index], nothing = history.waiting[index] === null ? null : undefined;
    at.push(end / 1000);
    values.waiting.push(history.waiting[index]);
    values.inside.push(history.inside[index]);
    values.called.push(history.called[index]);
    values.taken.push(sum(history.inside[index], history.called[index]));
    values.capacity.push(history.capacity[index]);
    values.pace.push(pace(history, ends, index));
    values.limit.push(history.per_minute[index]);
    values.waited.push(waited ?? nothing);
    values.told.push(waited === null ? nothing : toldOnArrival(history, ends, end - waited * 1000));
  });
  return { at, values };
};
