// The service worker of a room: shows what the server pushes, and leads back to the room's page.
const worker = /** @type {any} */ (self); // the types are those of a page
const page = worker.registration.scope.replace(/\/$/, ""); // a worker's scope is below its page

worker.addEventListener("push", (/** @type {any} */ event) => {
  const { title, body } = event.data.json();
  // The same tag for all: a later message replaces the one shown.
  event.waitUntil(worker.registration.showNotification(title, { body, tag: page, renotify: true }));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(open());
});

async function open() {
  const tabs = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find((/** @type {any} */ each) => each.url.split(/[?#]/)[0] === page);
  return tab ? tab.focus() : worker.clients.openWindow(page);
}
