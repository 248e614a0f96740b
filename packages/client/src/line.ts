// A place as state that changes: what a view shows, and what it can do. It depends on no framework.
import { Problem, Waitroom } from "./index.js";
import type { Following, Options, Room, Ticket } from "./index.js";

/**
 * `unknown` until Waitroom has said whether there is a place; `out` without one; `gone` when one has ended, and
 * `problem.body.reason` says how.
 */
export type Phase = "unknown" | "out" | "waiting" | "called" | "inside" | "gone";

export interface LineView {
  readonly phase: Phase;
  /** The last known place: position, estimate, once inside the pass. */
  readonly ticket: Ticket | null;
  readonly room: Room | null;
  /** Waitroom cannot be reached; the place is kept, and it tries again by itself. */
  readonly away: boolean;
  /** Why the last call was refused, or how the place has ended. */
  readonly problem: Problem | null;
}

export interface LineOptions extends Omit<Options, "ticket"> {
  /** Where to keep a ticket that is not in a cookie, so that a reload finds it; by default `sessionStorage`. */
  storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null | undefined;
}

/** This is also rendered on a server, where there is no visitor. */
export const NOTHING: LineView = { phase: "unknown", ticket: null, room: null, away: false, problem: null };

export class Line {
  readonly #room: string;
  readonly #options: LineOptions;
  readonly #listeners = new Set<() => void>();
  #view = NOTHING;
  #place: Waitroom | null = null;
  #following: Following | null = null;

  constructor(room: string, options: LineOptions) {
    this.#room = room;
    this.#options = options;
  }

  readonly current = (): LineView => this.#view;

  /** Call back after each change. The place is followed while anybody listens, even one from before a reload. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#follow();
    return () => {
      this.#listeners.delete(listener);
      if (!this.#listeners.size) this.#stop();
    };
  };

  /** Take a place, or keep the one there is: in response to a person, not at once. */
  readonly join = (options?: { enter?: boolean; code?: string }): Promise<Ticket | null> =>
    this.#act((place) => place.join(options));

  /** Go inside, when called. */
  readonly enter = (): Promise<Ticket | null> => this.#act((place) => place.enter());

  /** Extend the session. */
  readonly renew = (): Promise<Ticket | null> => this.#act((place) => place.renew());

  /** Let some people go first. */
  readonly defer = (places: number): Promise<Ticket | null> => this.#act((place) => place.defer(places));

  /** Give up the place. */
  readonly leave = (): Promise<void> => this.#end((place) => place.leave());

  /** End the session. */
  readonly finish = (): Promise<void> => this.#end((place) => place.finish());

  get #storage() {
    if (this.#options.storage !== undefined) return this.#options.storage;
    try { return globalThis.sessionStorage; } catch { return null; } // a browser may forbid it
  }

  get #key() { return `waitroom-ticket ${this.#room} ${this.#options.base}`; }

  /** Created late: some rendering servers have no `crypto` or `location`. */
  get #waitroom() {
    const { base, bearer } = this.#options;
    return this.#place ??= new Waitroom(this.#room, { base, bearer, ticket: this.#storage?.getItem(this.#key) ?? null });
  }

  /** Do something that answers with the place; a refusal is told as `problem`. */
  async #act(call: (place: Waitroom) => Promise<Ticket>): Promise<Ticket | null> {
    const place = this.#waitroom;
    this.#stop(); // earlier answers would arrive after this
    try {
      const ticket = await call(place);
      this.#hear(ticket);
      return ticket;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#set({ problem });
      return null;
    } finally {
      if (this.#listeners.size) this.#follow();
    }
  }

  async #end(call: (place: Waitroom) => Promise<void>): Promise<void> {
    const place = this.#waitroom;
    try {
      await call(place);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      return this.#set({ problem });
    }
    this.#stop();
    this.#forget();
    this.#set({ ...NOTHING, phase: "out", room: this.#view.room });
  }

  #follow() {
    const { phase, ticket } = this.#view, place = this.#waitroom;
    this.#stop();
    if (phase === "out" || phase === "gone") return;
    if (place.bearer && !place.ticket) return this.#set({ phase: "out" }); // no need to ask
    const following: Following = place.follow({
      ...(ticket ? { view: ticket } : {}),
      ticket: (view) => this.#hear(view),
      room: (room) => this.#set({ room }),
      away: (problem) => this.#set({ away: true, problem }),
      gone: (problem) => {
        this.#following = null;
        this.#forget();
        // A visitor who has just opened the page had no place, or one that ended meanwhile.
        const known = this.#view.ticket !== null, before = this.#view.away ? null : this.#view.problem;
        this.#set({ phase: known ? "gone" : "out", ticket: null, away: false, problem: known ? problem : before });
      },
    });
    this.#following = following;
  }

  #stop() {
    this.#following?.stop();
    this.#following = null;
  }

  #hear(ticket: Ticket) {
    if (this.#place?.ticket) this.#storage?.setItem(this.#key, this.#place.ticket);
    this.#set({ phase: ticket.state, ticket, away: false, problem: null });
  }

  #forget() {
    this.#storage?.removeItem(this.#key);
    this.#place = null; // a new place needs a new key against repeats
  }

  #set(change: Partial<LineView>) {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
