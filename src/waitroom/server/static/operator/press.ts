// Whether something is being pressed. If a page moves between press and release, the click is lost.

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
// Released outside the page, so that it got no event.
addEventListener("pointermove", (event) => { if (pressed && event.buttons === 0) release(); }, true);

/** Do some work as soon as nothing is pressed; only the last of several is done. */
export const atRest = (work: () => void): void => {
  if (pressed) pending = work;
  else work();
};
