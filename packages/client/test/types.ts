// Checked by `tsc`: the client's types and those made from the OpenAPI document are the same.
import type { components } from "../src/api.js";
import type { Room, Ticket } from "../src/index.js";
import { Waitroom } from "../src/index.js";

type Api = components["schemas"];
export const same = {
  ticket: [(view: Ticket): Api["Ticket"] => view, (view: Api["Ticket"]): Ticket => view],
  room: [(view: Room): Api["RoomView"] => view, (view: Api["RoomView"]): Room => view],
};

// @ts-expect-error without `base` an app would ask its own bundle's address
export const lost = () => new Waitroom("concert");
// @ts-expect-error and so it would here
export const alsoLost = () => new Waitroom("concert", { bearer: true });
