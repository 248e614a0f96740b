// Copies what a page shows only once. The button is hidden without a script or a clipboard.
"use strict";
/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll("button[data-copy]");
for (const button of navigator.clipboard ? buttons : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy ?? "")?.textContent ?? "";
    await navigator.clipboard.writeText(text);
    button.textContent = button.dataset.copied ?? "";
  });
}
