// The operator page, live: the same numbers again every two seconds, and times in your own zone.
// Without this script the page works all the same; it is then renewed by reloading.
"use strict";
(() => {
  const EVERY_MS = 2000, CHARTS_EVERY = 5;
  /** @param {string} id */
  const by = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  const main = by("main");
  const lang = document.documentElement.lang;
  /** @type {Record<string, Intl.DateTimeFormat>} */
  const formats = {
    both: new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }),
    time: new Intl.DateTimeFormat(lang, { hour: "numeric", minute: "2-digit" }),
  };

  /** @param {Document} root */
  const showTimes = (root) => {
    /** @type {NodeListOf<HTMLTimeElement>} */
    const times = root.querySelectorAll("time[data-show]");
    for (const time of times) {
      time.textContent = formats[time.dataset.show ?? ""].format(new Date(time.dateTime));
    }
  };
  showTimes(document);

  const url = main.dataset.liveUrl;
  if (!url) return;
  const updated = by("updated"), offline = by("offline");
  const fresh = updated.textContent;
  let last = Date.now(), round = 0, busy = false;

  // Only what differs is replaced, so that focus, open details and half-filled forms stay.
  /** @param {string} html */
  const renew = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    showTimes(page);
    for (const part of page.querySelectorAll("[data-live]")) {
      const old = document.getElementById(part.id), active = document.activeElement;
      if (!old || old.innerHTML === part.innerHTML) continue;
      const href = old.contains(active) && active?.getAttribute("href");
      old.replaceChildren(...part.childNodes);
      /** @type {?HTMLAnchorElement} */
      const link = href ? old.querySelector(`a[href="${CSS.escape(href)}"]`) : null;
      link?.focus();
    }
  };

  const say = () => {
    const age = Math.round((Date.now() - last) / 1000);
    updated.textContent = age < 5 ? fresh : (main.dataset.stale ?? "").replace("{n}", String(age));
    offline.hidden = age < 10;
  };

  const look = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const drawn = round++ % CHARTS_EVERY === 0 ? "" : "&drawn=0";
      const answer = await fetch(url + drawn, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(5000) });
      if (answer.status === 401) location.reload();
      if (answer.ok) {
        renew(await answer.text());
        last = Date.now();
      }
    } catch {
      // Away for a moment: `say` tells once it is more than that.
    } finally {
      busy = false;
      say();
    }
  };

  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);
})();
