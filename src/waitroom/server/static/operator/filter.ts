// Filters the list of rooms while somebody types. Without a script the form asks the server.

/** Filter the rooms of a page by the text in its field. */
export const filterRooms = (main: HTMLElement): void => {
  const field = main.querySelector<HTMLInputElement>("#filter[data-shown]");
  const none = main.querySelector<HTMLElement>("#no-match");
  if (!field || !none) return;

  // Write only what differs: the observer below sees every write, and would never stop.
  const hide = (part: HTMLElement, hides: boolean) => {
    if (part.hidden !== hides) part.hidden = hides;
  };

  const tell = (shown: number, all: number) => {
    const count = main.querySelector("#shown");
    const text = (field.dataset.shown ?? "").replace("{n}", String(shown)).replace("{of}", String(all));
    if (count && count.textContent !== text) count.textContent = text;
    hide(none, shown > 0);
  };

  const apply = () => {
    const wanted = field.value.trim().toLocaleLowerCase();
    const rooms = [...main.querySelectorAll<HTMLElement>(".room[data-words]")];
    for (const room of rooms) hide(room, !room.dataset.words?.includes(wanted));
    tell(rooms.filter((room) => !room.hidden).length, rooms.length);
    const quiet = main.querySelector<HTMLDetailsElement>("#quiet-rooms");
    if (wanted && quiet) quiet.open = true;
  };

  field.addEventListener("input", apply);
  // Newer numbers may bring rooms that do not match.
  new MutationObserver(() => { if (field.value.trim()) apply(); })
    .observe(main, { childList: true, subtree: true, attributeFilter: ["hidden"] });
};
