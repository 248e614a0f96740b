// Filters the list of rooms while somebody types. Without a script the form asks the server.

/** Filter the rooms of a page by what stands in its field. */
export const filterRooms = (main: HTMLElement): void => {
  const field = main.querySelector<HTMLInputElement>("#filter[data-shown]");
  const none = main.querySelector<HTMLElement>("#no-match");
  if (!field || !none) return;

  const tell = (shown: number, all: number) => {
    const count = main.querySelector("#shown");
    const text = (field.dataset.shown ?? "").replace("{n}", String(shown)).replace("{of}", String(all));
    if (count && count.textContent !== text) count.textContent = text;
    none.hidden = shown > 0;
  };

  const apply = () => {
    const wanted = field.value.trim().toLocaleLowerCase();
    const rooms = [...main.querySelectorAll<HTMLElement>(".room[data-words]")];
    for (const room of rooms) {
      const hides = !room.dataset.words?.includes(wanted);
      if (room.hidden !== hides) room.hidden = hides;
    }
    tell(rooms.filter((room) => !room.hidden).length, rooms.length);
    const quiet = main.querySelector<HTMLDetailsElement>("#quiet-rooms");
    if (wanted && quiet) quiet.open = true;
  };

  field.addEventListener("input", apply);
  // Newer numbers may bring rooms that do not match.
  new MutationObserver(() => { if (field.value.trim()) apply(); })
    .observe(main, { childList: true, subtree: true, attributeFilter: ["hidden"] });
};
