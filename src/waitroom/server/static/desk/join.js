// Joining works without this script; it adds the big buttons, and sends a form only once.
"use strict";
(() => {
  const size = document.getElementById("size");
  const form = size.form;
  const steps = [...form.querySelectorAll("[data-step]")];

  const most = () => Number(form.querySelector("[name=type]:checked")?.dataset.most ?? size.max);
  const show = () => {
    const n = Number(size.value);
    for (const one of steps) one.disabled = one.dataset.step < 0 ? n <= 1 : n >= most();
  };

  for (const one of steps) {
    one.hidden = false;
    one.addEventListener("click", () => {
      const n = Number.parseInt(size.value, 10) || 1;
      size.value = Math.min(most(), Math.max(1, n + Number(one.dataset.step)));
      show();
    });
  }
  form.addEventListener("change", () => {
    size.max = most();
    show();
  });
  form.addEventListener("submit", (event) => {
    // An impatient second tap: the server would answer with the same place, but need not be asked.
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
  window.addEventListener("pageshow", () => delete form.dataset.sent);
  document.querySelector("[aria-invalid]")?.focus();
  show();
})();
