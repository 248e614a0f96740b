// Whether something is being pressed. A page that moves between press and release would lose the click.

let pressed = false;
let pending: (() => void) | null = null;

const release = (): void => {
  pressed = false;
  pending?.();
  pending = null;
};

addEventListener("pointerdown", () => { pressed = true; }, true);
// The click comes after the release.
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(release), true);
// Released where the page could not hear of it.
addEventListener("pointermove", (event) => { if (pressed && event.buttons === 0) release(); }, true);

/** Do something as soon as nothing is pressed; of several things the last one counts. */
export const atRest = (work: () => void): void => {
  if (pressed) pending = work;
  else work();
};
