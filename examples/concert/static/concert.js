// Keeps the seat map and the clocks alive. Without it the pages still work, and show the moment they were rendered.

const LOOK_MS = 2000;

/** Shows each seat as it is now. @param {HTMLElement} map */
async function look(map) {
  const answer = await fetch(map.dataset.seats ?? "", { headers: { accept: "application/json" } });
  if (answer.status === 429) return location.reload(); // the visit is over: the gate leads to the line
  if (!answer.ok) return;
  for (const seat of await answer.json()) {
    /** @type {?HTMLButtonElement} */
    const button = map.querySelector(`button[value="${seat.id}"]`);
    if (!button || button.className === seat.state) continue;
    button.className = seat.state;
    button.disabled = seat.state === "held" || seat.state === "sold";
    button.setAttribute("aria-label", `${button.dataset.name}, ${map.dataset[seat.state]}`);
  }
}

/** Counts down to the end of a hold. @param {HTMLElement} clock */
function tick(clock) {
  const left = Math.ceil((Date.parse(clock.dataset.until ?? "") - Date.now()) / 1000);
  if (left <= 0) return location.reload(); // the server says what comes next
  clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  clock.parentElement?.removeAttribute("hidden");
  setTimeout(tick, 1000, clock);
}

/** @type {?HTMLElement} */
const seats = document.querySelector("[data-seats]");
if (seats) {
  setInterval(() => document.hidden || look(seats).catch(() => {}), LOOK_MS);
}
/** @type {NodeListOf<HTMLElement>} */
const clocks = document.querySelectorAll("[data-until]");
clocks.forEach((clock) => tick(clock));
