// Loads the page again every two seconds, and shows how old the content is.
import { renew } from "./morph";
import { atRest } from "./press";
import { showTimes } from "./times";

const EVERY_MS = 2000, CHARTS_EVERY = 5, TIMEOUT_MS = 5000;
const STALE_S = 5, OFFLINE_S = 10;

/** Keep the live parts of a page up to date; `main` says where to get newer ones. */
export const follow = (main: HTMLElement): void => {
  const url = main.dataset.liveUrl;
  const updated = document.getElementById("updated"), offline = document.getElementById("offline");
  if (!url || !updated || !offline) return;
  const fresh = updated.textContent;
  updated.hidden = false; // without this script nothing here is live
  let last = Date.now(), round = 0, busy = false;

  const tellAge = () => {
    const age = Math.round((Date.now() - last) / 1000);
    updated.textContent = age < STALE_S ? fresh : (main.dataset.stale ?? "").replace("{n}", String(age));
    offline.hidden = age < OFFLINE_S;
  };

  const ask = async () => {
    // The server's own charts are useful only until the script has drawn its own.
    const visible = document.getElementById("drawn")?.hidden === false;
    const drawn = visible && round++ % CHARTS_EVERY === 0 ? "" : "&drawn=0";
    const headers = { accept: "text/html" }, signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url + drawn, { headers, signal });
    if (answer.status === 401) location.reload();
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    showTimes(page);
    atRest(() => renew(page));
    last = Date.now();
  };

  const look = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      await ask();
    } catch {
      // Away for a moment: `tellAge` says so if it lasts longer.
    } finally {
      busy = false;
      tellAge();
    }
  };

  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);
};
