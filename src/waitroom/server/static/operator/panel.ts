// One chart: lines over time, a limit line, a caption with the values under the pointer.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./charts.css";
import { axisCount, axisTime, count, wait, when } from "./formats";
import { isKnown } from "./history";
import type { Drawn, Mark, Span } from "./history";
import { placeMarks } from "./marks";

/** One line of a chart. */
interface Line {
  /** The name of its values and its text. */
  name: string;
  /** The custom property with its colour. */
  colour: string;
  /** What the caption shows, if the line shows a sum. */
  told?: string;
  dashed?: boolean;
  filled?: boolean;
  /** A limit is drawn where it matters, and does not stretch the scale. */
  limit?: boolean;
}

/** What a chart shows. */
export interface Sort {
  name: string;
  lines: Line[];
  waits?: boolean;
}

/** Actions in one chart that concern all of them. */
export interface Hands {
  zoom: (span: Span) => void;
  back: () => void;
  step: (by: number) => void;
}

export const SORTS: Sort[] = [
  { name: "waiting", lines: [{ name: "waiting", colour: "--c-waiting", filled: true }] },
  {
    name: "places",
    lines: [
      { name: "taken", told: "called", colour: "--c-called" },
      { name: "inside", colour: "--c-inside", filled: true },
      { name: "capacity", colour: "--bad", dashed: true, limit: true },
    ],
  },
  {
    name: "pace",
    lines: [
      { name: "pace", colour: "--c-pace", filled: true },
      { name: "limit", colour: "--bad", dashed: true, limit: true },
    ],
  },
  {
    name: "waits",
    waits: true,
    lines: [
      { name: "waited", colour: "--c-waiting" },
      { name: "told", colour: "--c-called", dashed: true },
    ],
  },
];

const SYNC = "room", AXIS_WIDTH = 52, AXIS_HEIGHT = 26, LIMIT_IN_SIGHT = 3, SHORTEST_DRAG = 8, NEAR = 24;
const COUNTS = [1, 2, 5].flatMap((digit) => Array.from({ length: 9 }, (_, power) => digit * 10 ** power)).sort((a, b) => a - b);
const WAITS = [1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400];

const style = getComputedStyle(document.documentElement);
const colour = (name: string): string => style.getPropertyValue(name).trim();
const faint = (name: string): string => `color-mix(in srgb, ${colour(name)} 16%, transparent)`;

/** A chart with its caption, in a figure. */
export class Panel {
  readonly figure = document.createElement("figure");
  private readonly holder = document.createElement("div");
  private readonly keys: HTMLElement[] = [];
  private readonly clock = document.createElement("span");
  private readonly plot: uPlot;
  private drawn: Drawn = { at: [], values: {} };
  private span: Span = { since: 0, until: 1 };
  private marks: Mark[] = [];

  constructor(private readonly sort: Sort, private readonly words: Record<string, string>, private readonly hands: Hands) {
    this.figure.append(this.caption(), this.holder);
    this.figure.className = "plotted";
    this.figure.dataset.chart = sort.name;
    this.plot = new uPlot(this.options(), [[], ...sort.lines.map(() => [])], this.holder);
    this.clock.className = "clock";
    const { over } = this.plot;
    over.append(this.clock);
    over.tabIndex = 0;
    over.setAttribute("role", "group");
    over.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        event.preventDefault();
        hands.step(event.key === "ArrowLeft" ? -1 : 1);
      }
    });
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(this.holder);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot.redraw());
  }

  /** Show other values, or another span. */
  show(drawn: Drawn, span: Span, marks: Mark[]): void {
    this.drawn = drawn;
    this.span = span;
    this.marks = marks;
    this.plot.setData([drawn.at, ...this.sort.lines.map((line) => drawn.values[line.name])]);
    this.tell();
  }

  /** Move the pointer to a point. */
  point(index: number): void {
    this.plot.setCursor({ left: this.plot.valToPos(this.drawn.at[index], "x"), top: 1 });
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(this.holder.clientWidth, 120), height: this.holder.clientHeight || 160 };
  }

  private caption(): HTMLElement {
    const caption = document.createElement("figcaption"), title = document.createElement("strong");
    title.textContent = this.words[`chart_${this.sort.name}`];
    caption.append(title);
    for (const line of this.sort.lines) {
      const key = document.createElement("span"), stroke = document.createElement("i"), value = document.createElement("b");
      key.className = line.dashed ? "key dashed" : "key";
      stroke.style.color = `var(${line.colour})`;
      const name = this.words[line.told ?? line.name];
      key.append(stroke, name === title.textContent ? "" : name, value);
      this.keys.push(value);
      caption.append(key);
    }
    return caption;
  }

  private readonly format = (value: number): string => this.sort.waits ? wait(value) : count(value);

  /** Write the values under the pointer; without one, the last values. */
  private tell(): void {
    const { left = -1, idxs = [] } = this.plot.cursor, { values } = this.drawn;
    const told = this.sort.lines.map((line, index) => {
      const column = values[line.told ?? line.name] ?? [], under = idxs[index + 1];
      const value = left < 0 ? column.filter(isKnown).at(-1) : isKnown(under) ? column[under] : null;
      const text = isKnown(value) ? this.format(value) : "–";
      this.keys[index].textContent = text;
      if (line.limit) this.keys[index].parentElement?.toggleAttribute("hidden", !isKnown(value));
      return `${this.words[line.told ?? line.name]} ${text}`;
    });
    this.clock.hidden = left < 0;
    if (left >= 0) this.tellTime(left);
    this.plot.over.setAttribute("aria-label", `${this.words[`chart_${this.sort.name}`]}: ${told.join(", ")}`);
  }

  private tellTime(left: number): void {
    const nearest = this.drawn.at[this.plot.cursor.idx ?? -1];
    const isNear = isKnown(nearest) && Math.abs(this.plot.valToPos(nearest, "x") - left) <= NEAR;
    const width = this.plot.over.clientWidth, half = this.clock.offsetWidth / 2;
    this.clock.textContent = when(isNear ? nearest : this.plot.posToVal(left, "x"));
    this.clock.style.left = `${Math.max(Math.min(left, width - half), half)}px`;
  }

  private options(): uPlot.Options {
    const axis: uPlot.Axis = {
      stroke: () => colour("--soft"), font: "12px system-ui, sans-serif", gap: 4,
      grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false },
    };
    return {
      ...this.size(),
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        // The pointer is shared, a drag is not: each chart would zoom for itself.
        sync: { key: SYNC, filters: { pub: (type) => type !== "mousedown" && type !== "mouseup" } },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        hover: { prox: NEAR },
        bind: { dblclick: () => () => (this.hands.back(), null) },
      },
      scales: {
        x: { time: true, range: () => [this.span.since / 1000, this.span.until / 1000] },
        y: { range: (_, _low, high) => [0, this.top(high)] },
      },
      axes: [
        { ...axis, size: AXIS_HEIGHT, space: 70, values: (_, splits, _index, _space, step) => splits.map((at) => axisTime(at, step)) },
        {
          ...axis, size: AXIS_WIDTH, space: 32, incrs: this.sort.waits ? WAITS : COUNTS,
          values: (_, splits) => splits.map(this.sort.waits ? wait : axisCount),
        },
      ],
      series: [{}, ...this.sort.lines.map((line) => this.series(line))],
      bands: this.sort.name === "places" ? [{ series: [1, 2], fill: () => faint("--c-called") }] : undefined,
      hooks: {
        setCursor: [() => this.tell()],
        setSelect: [(plot) => this.select(plot)],
        draw: [(plot) => placeMarks(plot, this.marks, this.sort.name === SORTS[0].name)],
      },
    };
  }

  private series(line: Line): uPlot.Series {
    const stepped = line.limit && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {};
    return {
      stroke: () => colour(line.colour),
      width: line.limit ? 1.5 : 2,
      dash: line.dashed ? [6, 4] : undefined,
      fill: line.filled ? () => faint(line.colour) : undefined,
      auto: !line.limit,
      points: { show: false },
      ...stepped,
    };
  }

  /** Return the top of the scale: a limit far above everything would flatten the lines. */
  private top(high: number | null): number {
    const limits = this.sort.lines.filter((line) => line.limit).flatMap((line) => this.drawn.values[line.name] ?? []);
    const limit = Math.max(0, ...limits.slice(-2000).map((value) => value ?? 0));
    const highest = Math.max(high ?? 0, this.sort.waits ? 60 : 4);
    return 1.08 * (limit <= LIMIT_IN_SIGHT * highest ? Math.max(highest, limit) : highest);
  }

  private select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < SHORTEST_DRAG) return;
    const since = 1000 * plot.posToVal(left, "x"), until = 1000 * plot.posToVal(left + width, "x");
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.hands.zoom({ since, until });
  }
}
