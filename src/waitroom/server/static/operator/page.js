// The operator page, live: the same numbers again every two seconds, and times in your own zone.
// Without this script the page works all the same; it is then renewed by reloading.
"use strict";
(() => {
  const EVERY_MS = 2000, CHARTS_EVERY = 5;
  const main = document.getElementById("main");
  const lang = document.documentElement.lang;
  const shapes = {
    both: { dateStyle: "medium", timeStyle: "medium" },
    time: { hour: "numeric", minute: "2-digit" },
  };
  const writers = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, new Intl.DateTimeFormat(lang, shape)]),
  );

  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[data-show]")) {
      time.textContent = writers[time.dataset.show].format(new Date(time.dateTime));
    }
  };
  showTimes(document);

  const url = main.dataset.liveUrl;
  if (!url) return;
  const updated = document.getElementById("updated");
  const fresh = updated.textContent;
  const offline = document.getElementById("offline");
  let last = Date.now(), round = 0, busy = false;

  // Only what differs is replaced, so that focus, open details and half-filled forms stay.
  const renew = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    showTimes(page);
    for (const part of page.querySelectorAll("[data-live]")) {
      const old = document.getElementById(part.id);
      if (!old || old.innerHTML === part.innerHTML) continue;
      const focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
      old.replaceChildren(...part.childNodes);
      if (focused) old.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    }
  };

  const say = () => {
    const age = Math.round((Date.now() - last) / 1000);
    updated.textContent = age < 5 ? fresh : main.dataset.stale.replace("{n}", age);
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
