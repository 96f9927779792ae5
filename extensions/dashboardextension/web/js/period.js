// The time that the overview counts: a day of the reader's clock, or the last seven.

import { shortClock } from "./format.js";

const isDate = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(new Date(`${text}T00:00`).getTime());

const midnight = (at, days = 0) => {
  const d = new Date(at);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() + days).getTime();
};

/** A time so many days later, at the same hour of the reader's clock: not 24 hours a day where summer time begins or ends. */
export const shiftDays = (at, days) => {
  const d = new Date(at);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() + days, d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds()).getTime();
};

/** The same time of the reader's clock a week earlier, which is never empty. */
export function weekBefore({ from, to }) {
  const [start, end] = [shiftDays(from, -7), shiftDays(to, -7)];
  return { from: start, to: Math.max(end, start + 1) };
}

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
