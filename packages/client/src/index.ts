// The client that the server serves as `/waitroom.js`, for apps with a bundler. Their address differs, so `base`,
// the address of Waitroom, must be given.
import { Waitroom as ServedWaitroom } from "./waitroom.js";

export { Problem } from "./waitroom.js";
export type { Eta, Following, Handoff, Listener, ProblemBody, Room, Ticket } from "./waitroom.js";

export interface Options {
  /** Where Waitroom is, like `https://wait.example`, or `/` behind one proxy with the app. */
  base: string | URL;
  /** Keep the ticket here rather than in a cookie; by default if `base` is another origin. */
  bearer?: boolean | undefined;
  /** An earlier ticket, with `bearer`. */
  ticket?: string | null | undefined;
}

/** One person's place in one room. */
export class Waitroom extends ServedWaitroom {
  constructor(room: string, options: Options) {
    if (!options?.base) throw new TypeError("Waitroom needs `base`: where its server is, like https://wait.example");
    super(room, options);
  }
}
