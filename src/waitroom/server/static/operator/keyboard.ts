// Keyboard shortcuts; `?` lists them. Never while somebody is typing.
import type { Charts } from "./charts";

const OVERVIEW = "/admin", SECOND_KEY_MS = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

/** Listen to the keys of every page, and to those of the charts if there are any. */
export const listenToKeys = (charts: Charts | null): void => {
  const help = document.getElementById("keys") as HTMLDialogElement | null;
  let goAt = 0;
  const open = () => { if (help && !help.open) help.showModal(); };
  const search = () => document.querySelector<HTMLInputElement>("[role=search] input:not([type=hidden])")?.focus();

  const press = (key: string, at: number): boolean => {
    const goes = at - goAt < SECOND_KEY_MS;
    goAt = 0;
    if (key === "r" && goes) location.assign(OVERVIEW);
    else if (key === "g") goAt = at;
    else if (key === "/") search();
    else if (key === "?") open();
    else if (key === "Escape" && charts?.isZoomed) charts.back();
    else if (charts && /^[1-7]$/.test(key)) charts.choose(key);
    else return false;
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || help?.open) return;
    if (press(event.key, event.timeStamp)) event.preventDefault();
  });
  const button = document.getElementById("keys-button");
  if (button) button.hidden = false;
  button?.addEventListener("click", open);
};
