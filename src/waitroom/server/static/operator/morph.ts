// Updates parts of the page node by node. What somebody has just pressed, focused, selected, opened or
// typed in stays the same node, so no tap and no half-filled form is lost.
import { Idiomorph } from "idiomorph";

/** Return whether somebody has typed or chosen something that was not sent yet. */
const isEdited = (field: Element): boolean => {
  if (field instanceof HTMLInputElement) {
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  }
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLOptionElement) return field.selected !== field.defaultSelected;
  return false;
};

const beforeAttributeUpdated = (name: string, element: Element): boolean => {
  if (name === "open" && element.matches("details, dialog")) return false;
  return !(["value", "checked", "selected"].includes(name) && isEdited(element));
};

/** Update every live part of the page from a newer page. */
export const renew = (page: Document): void => {
  for (const part of page.querySelectorAll("[data-live]")) {
    const old = document.getElementById(part.id);
    if (!old || old.isEqualNode(part)) continue;
    void Idiomorph.morph(old, part, {
      morphStyle: "outerHTML", ignoreActiveValue: true, callbacks: { beforeAttributeUpdated },
    });
  }
};
