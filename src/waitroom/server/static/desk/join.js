// Joining works without this script; it adds the big buttons, and sends a form only once.
"use strict";
(() => {
  const size = /** @type {HTMLInputElement} */ (document.getElementById("size"));
  const form = /** @type {HTMLFormElement} */ (size.form);
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = form.querySelectorAll("[data-step]");

  const most = () => {
    /** @type {?HTMLInputElement} */
    const type = form.querySelector("[name=type]:checked");
    return Number(type?.dataset.most ?? size.max);
  };
  const show = () => {
    const n = Number(size.value);
    for (const button of buttons) button.disabled = Number(button.dataset.step) < 0 ? n <= 1 : n >= most();
  };

  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const n = Number.parseInt(size.value, 10) || 1;
      size.value = String(Math.min(most(), Math.max(1, n + Number(button.dataset.step))));
      show();
    });
  }
  form.addEventListener("change", () => {
    size.max = String(most());
    show();
  });
  form.addEventListener("submit", (event) => {
    // An impatient second tap: the server would answer with the same place, so it is not sent.
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
  window.addEventListener("pageshow", () => delete form.dataset.sent);
  /** @type {?HTMLElement} */
  const invalid = document.querySelector("[aria-invalid]");
  invalid?.focus();
  show();
})();
