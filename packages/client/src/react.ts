"use client";
import { useMemo, useSyncExternalStore } from "react";
import { Line, NOTHING } from "./line.js";
import type { LineOptions, LineView } from "./line.js";

export type { LineOptions, LineView, Phase } from "./line.js";

export interface Place extends LineView, Pick<Line, "join" | "enter" | "renew" | "defer" | "leave" | "finish"> {}

const atFirst = () => NOTHING;

/**
 * One person's place in one room, live while the component is mounted. Rendered on a server, and until Waitroom has
 * answered, its `phase` is `unknown`.
 */
export function useWaitroom(room: string, { base, bearer, storage }: LineOptions): Place {
  const address = String(base);
  const line = useMemo(() => new Line(room, { base: address, bearer, storage }), [room, address, bearer, storage]);
  const view = useSyncExternalStore(line.subscribe, line.current, atFirst);
  return useMemo(() => {
    const { join, enter, renew, defer, leave, finish } = line;
    return { ...view, join, enter, renew, defer, leave, finish };
  }, [line, view]);
}
