// What was done and what happened, as lines across the charts; the first chart has flags that explain them.
import type uPlot from "uplot";
import { when } from "./formats";
import type { Mark } from "./history";

/** Flags closer than this are merged, otherwise nobody could press them. */
const APART_PX = 18;
/** Most lines of text for one flag. */
const MOST_TOLD = 8;

interface Group {
  left: number;
  marks: Mark[];
}

const grouped = (plot: uPlot, marks: Mark[]): Group[] => {
  const groups: Group[] = [];
  for (const mark of [...marks].sort((a, b) => a.at_ms - b.at_ms)) {
    const left = plot.valToPos(mark.at_ms / 1000, "x"), last = groups.at(-1);
    if (left < 0 || left > plot.over.clientWidth) continue;
    if (last && left - last.left < APART_PX) last.marks.push(mark);
    else groups.push({ left, marks: [mark] });
  }
  return groups;
};

const told = (mark: Mark): HTMLElement => {
  const line = document.createElement("span"), time = document.createElement("small");
  const text = document.createElement(mark.href ? "a" : "span");
  if (mark.href && text instanceof HTMLAnchorElement) text.href = mark.href;
  time.textContent = [when(mark.at_ms / 1000), mark.by].filter(Boolean).join(" · ");
  text.textContent = mark.text;
  line.append(time, text);
  return line;
};

const flag = (group: Group, toTheLeft: boolean): HTMLElement[] => {
  const button = document.createElement("button"), tip = document.createElement("span");
  const lines = group.marks.slice(-MOST_TOLD);
  button.type = "button";
  button.textContent = group.marks.length > 1 ? String(group.marks.length) : "";
  button.setAttribute("aria-label", lines.map((mark) => `${when(mark.at_ms / 1000)}: ${mark.text}`).join("; "));
  tip.className = toTheLeft ? "tip left" : "tip";
  tip.append(...lines.map(told));
  return [button, tip];
};

const keyOf = (group: Group): string => group.marks.map((mark) => `${mark.at_ms} ${mark.kind}`).join();

/** Put the marks into a chart. Existing ones are only moved, so that a focus stays. */
export const placeMarks = (plot: uPlot, marks: Mark[], flags: boolean): void => {
  const groups = grouped(plot, marks);
  const old = new Map([...plot.over.querySelectorAll<HTMLElement>(".mark")].map((node) => [node.dataset.key, node]));
  for (const group of groups) {
    const key = keyOf(group), node = old.get(key) ?? document.createElement("div");
    if (!old.delete(key)) {
      node.className = "mark";
      node.dataset.key = key;
      node.dataset.kind = group.marks[group.marks.length - 1].kind;
      if (flags) node.append(...flag(group, group.left > plot.over.clientWidth / 2));
      plot.over.append(node);
    }
    node.style.left = `${group.left}px`;
    node.classList.toggle("end", group.left > plot.over.clientWidth - APART_PX);
  }
  for (const node of old.values()) node.remove();
};
