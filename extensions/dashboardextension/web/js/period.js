// The time that the overview counts: a day of the reader's clock, or the last seven.

import { shortClock } from "./format.js";

const isDate = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(new Date(`${text}T00:00`).getTime());

const midnight = (at, days = 0) => {
  const d = new Date(at);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() + days).getTime();
};

/** What a day's parameter is: "", "yesterday", "week", or "date". */
export const kindOf = (day) => (day === "yesterday" || day === "week" ? day : isDate(day) ? "date" : "");

/** The time of a day's parameter, in ms: it ends now at the latest, and is never empty. */
export function periodOf(day, now) {
  const kind = kindOf(day);
  if (kind === "yesterday") return { from: midnight(now, -1), to: midnight(now) };
  if (kind === "week") return { from: midnight(now, -6), to: now };
  const from = kind === "date" ? midnight(`${day}T00:00`) : midnight(now);
  return { from, to: Math.max(from + 1, Math.min(midnight(from, 1), now)) };
}

const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** A period as text: "Nov 22, 2026", "Nov 22, 2026 until 10:38", or "Nov 17, 2026 to Nov 23, 2026, 10:38". */
export function spanText(from, to) {
  if (to === midnight(from, 1)) return dateOnly.format(from);
  if (to < midnight(from, 1)) return `${dateOnly.format(from)} until ${shortClock(to)}`;
  return `${dateOnly.format(from)} to ${dateOnly.format(to)}, ${shortClock(to)}`;
}
