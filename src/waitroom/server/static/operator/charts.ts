// The charts of a room: the requested past, kept up to date, in four panels with one pointer.
import { askHistory, askMarks, drawn, joined } from "./history";
import type { Drawn, History, Mark, Span } from "./history";
import { Panel, SORTS } from "./panel";
import { RANGES, Shown } from "./ranges";
import { fillTable } from "./table";

/** How often the newest points are requested: every small part of the shown span, but not more often than this. */
const SOONEST_MS = 5_000, PART = 720;
const MINUTE_MS = 60_000;
/** When the charts are drawn and the page listens: the budget of the page measures it. */
const READY = "console-ready";

/** The charts of the page. */
export class Charts {
  private readonly shown = new Shown();
  private readonly panels: Panel[];
  private readonly ahead: number;
  private history: History | null = null;
  /** How much of the past before the shown span is useful. */
  private lead = 0;
  private marks: Mark[] = [];
  private drawn: Drawn = { at: [], values: {} };
  private index = -1;
  private round = 0;
  private timer = 0;

  constructor(private readonly section: HTMLElement) {
    const words = JSON.parse(section.dataset.words ?? "{}") as Record<string, string>;
    const hands = { zoom: this.zoom, back: this.back, step: this.step };
    this.ahead = Number(section.dataset.now) - Date.now();
    this.panels = SORTS.map((sort) => new Panel(sort, words, hands));
    for (const button of this.buttons()) button.addEventListener("click", () => this.choose(button.dataset.range ?? ""));
    this.part("zoom-out").addEventListener("click", this.back);
    this.table().addEventListener("toggle", () => this.fill());
    document.addEventListener("visibilitychange", () => this.plan(0));
  }

  /** Show a range up to now; `range` is one of the names, or its number from 1. */
  choose(range: string): void {
    const name = Object.keys(RANGES)[Number(range) - 1] ?? range;
    if (!(name in RANGES)) return;
    this.shown.choose(name);
    void this.load();
  }

  /** Whether there is something to go back from. */
  get isZoomed(): boolean {
    return this.shown.isZoomed;
  }

  readonly back = (): void => {
    if (!this.isZoomed) return;
    this.shown.back();
    void this.load();
  };

  /** Request everything to show, and draw it; the old drawing stays until then. */
  async load(): Promise<void> {
    // At first exactly the hour that the page let the browser request while the script was loading.
    const span = this.round ? this.span() : this.shown.span(Number(this.section.dataset.now));
    const round = ++this.round;
    this.history = null;
    this.tellRange();
    try {
      const [history, marks] = await Promise.all([this.ask(span), askMarks(this.url("timeline"), span).catch(() => [])]);
      if (round !== this.round) return;
      [this.history, this.marks] = [history, marks];
      this.draw();
      await this.loadArrivals(round, span);
    } catch {
      // The server is away, which the page says. The drawing stays, and is requested again.
    }
    if (round === this.round) this.plan();
  }

  private readonly zoom = (span: Span): void => {
    if (this.shown.zoom(span)) void this.load();
  };

  private readonly step = (by: number): void => {
    const last = this.drawn.at.length - 1, from = this.index < 0 || this.index > last ? last + 1 : this.index;
    this.index = Math.min(Math.max(from + by, 0), last);
    for (const panel of this.panels) panel.point(this.index);
  };

  private now(): number {
    return Date.now() + this.ahead;
  }

  private span(): Span {
    return this.shown.span(this.now());
  }

  private url(name: string): string {
    return `${this.section.dataset.url ?? ""}/${name}`;
  }

  private ask({ since, until }: Span): Promise<History> {
    // The first pace is that of the minute, or of the longer span, before it.
    this.lead = Math.max(MINUTE_MS, (until - since) / 250);
    return askHistory(this.url("history"), { since: since - this.lead, until });
  }

  /** Request the waits told to people who were called in this span, but arrived before it. */
  private async loadArrivals(round: number, { since }: Span): Promise<void> {
    const waits = (this.history?.waited_s ?? []).map((waited) => 1000 * (waited ?? 0));
    const longest = waits.reduce((most, waited) => Math.max(most, waited), 0), before = since - this.lead;
    if (longest <= this.lead) return;
    const arrivals = await askHistory(this.url("history"), { since: since - longest - MINUTE_MS, until: before });
    if (round !== this.round || !this.history) return;
    this.lead = longest + MINUTE_MS;
    this.history = joined(arrivals, this.history);
    this.draw();
  }

  /** Request the newest points repeatedly, while the page is visible. */
  private plan(after?: number): void {
    clearTimeout(this.timer);
    if (document.hidden) return;
    const { since, until } = this.span();
    this.timer = setTimeout(() => void this.follow(), after ?? Math.max(SOONEST_MS, (until - since) / PART));
  }

  private async follow(): Promise<void> {
    const { round, history } = this;
    if (!history || (this.isZoomed && this.span().until < this.now())) {
      if (!history) await this.load();
      return;
    }
    const { since, until } = this.span();
    // The last two points may have been unfinished.
    const tail = { since: Math.max(since, history.at_ms.at(-2) ?? since), until };
    try {
      const [newer, marks] = await Promise.all([
        askHistory(this.url("history"), tail, history.step),
        askMarks(this.url("timeline"), { since: tail.since - MINUTE_MS, until }).catch(() => []),
      ]);
      if (round !== this.round) return;
      this.history = joined(history, newer, since - this.lead);
      this.marks = [...this.marks.filter((mark) => mark.at_ms < tail.since - MINUTE_MS), ...marks];
      this.draw();
    } catch {
      // As above.
    }
    if (round === this.round) this.plan();
  }

  private draw(): void {
    if (!this.history) return;
    this.part("drawn").hidden = true;
    this.part("ranges").hidden = this.part("plots").hidden = this.table().hidden = false;
    if (!this.panels[0].figure.isConnected) {
      this.part("plots").append(...this.panels.map((panel) => panel.figure));
      performance.mark(READY);
    }
    this.drawn = drawn(this.history, this.now());
    const span = this.span();
    for (const panel of this.panels) panel.show(this.drawn, span, this.marks);
    this.section.dataset.step = String(this.history.step_ms);
    this.fill();
  }

  private fill(): void {
    if (this.table().open) fillTable(this.part("plotted-rows"), this.drawn);
  }

  private tellRange(): void {
    for (const button of this.buttons()) {
      button.setAttribute("aria-pressed", String(!this.isZoomed && button.dataset.range === this.shown.range));
    }
    this.part("zoom-out").hidden = !this.isZoomed;
  }

  private buttons(): NodeListOf<HTMLButtonElement> {
    return this.section.querySelectorAll("button[data-range]");
  }

  private table(): HTMLDetailsElement {
    return this.part("plotted-table") as HTMLDetailsElement;
  }

  private part(id: string): HTMLElement {
    const part = document.getElementById(id);
    if (!part) throw new Error(`the page has no #${id}`);
    return part;
  }
}
