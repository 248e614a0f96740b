// Numbers, waits and times as the charts write them, in the page's language and its reader's time zone.

const language = document.documentElement.lang;
const DAY_S = 86_400;
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const unit = (name: string) =>
  new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: 0 });
const seconds = unit("second"), minutes = unit("minute");
const time = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language, { hourCycle: "h23", ...options });
const clock = time({ hour: "2-digit", minute: "2-digit" });
const exactClock = time({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = time({ day: "numeric", month: "short" });
const moment = time({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A count of people. */
export const count = (value: number): string => whole.format(value);
/** A count on an axis, which has little room. */
export const axisCount = (value: number): string => value < 10_000 ? whole.format(value) : short.format(value);
/** A wait in seconds. */
export const wait = (value: number): string => value < 60 ? seconds.format(value) : minutes.format(value / 60);
/** A moment, in full. */
export const when = (atS: number): string => moment.format(atS * 1000);
/** A moment on the axis, whose marks are `step` seconds apart: midnight is shown as a day. */
export const axisTime = (atS: number, step: number): string => {
  const date = new Date(atS * 1000);
  if (step >= DAY_S || (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0)) return day.format(date);
  return (step < 60 ? exactClock : clock).format(date);
};
