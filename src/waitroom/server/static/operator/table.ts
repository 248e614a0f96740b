// The data of the charts as a table, newest first.
import { count, wait, when } from "./formats";
import { isKnown } from "./history";
import type { Drawn } from "./history";

const MOST_ROWS = 60;
const COLUMNS: [string, (value: number) => string][] = [
  ["waiting", count], ["called", count], ["inside", count], ["pace", count], ["waited", wait], ["told", wait],
];

/** Fill the body of the table; of many points, take evenly spread ones. */
export const fillTable = (body: HTMLElement, { at, values }: Drawn): void => {
  const every = Math.max(1, Math.ceil(at.length / MOST_ROWS));
  const rows: HTMLElement[] = [];
  for (let index = at.length - 1; index >= 0; index -= every) {
    if (!isKnown(values.waiting[index])) continue;
    const row = document.createElement("tr");
    const cells = [when(at[index]), ...COLUMNS.map(([name, format]) => {
      const value = values[name][index];
      return isKnown(value) ? format(value) : "–";
    })];
    row.append(...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    rows.push(row);
  }
  body.replaceChildren(...rows);
};
