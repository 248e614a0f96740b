// Times in the operator's own zone and language; the server writes them in UTC.

const language = document.documentElement.lang;
const formats: Record<string, Intl.DateTimeFormat> = {
  both: new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }),
  time: new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" }),
};

/** Write all times of a page in its reader's time zone. */
export const showTimes = (root: ParentNode): void => {
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-show]")) {
    time.textContent = formats[time.dataset.show ?? "both"].format(new Date(time.dateTime));
  }
};
