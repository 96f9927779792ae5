// What a number is beside that of a week before, in words: how much, and whether that is better or worse.

import { decimal, integer, ms } from "./format.js";

const text = (sign, amount, word, verdict) => ({ text: `${sign} ${amount} ${word}${verdict ? `, ${verdict}` : ""}`, verdict });
const same = { text: "no change", verdict: "" };
const nothing = { text: "", verdict: "" };

/** More and less of what is neither good nor bad. */
export function countDifference(now, before) {
  if (now === before) return same;
  if (before === 0) return { text: "none a week before", verdict: "" };
  const change = (now - before) / before;
  return text(change > 0 ? "▲" : "▼", `${decimal(Math.abs(change) * 100, Math.abs(change) < 0.1 ? 1 : 0)} %`, change > 0 ? "more" : "fewer", "");
}

/** Of a share of failures: a point of percent or more is worse or better. */
export function shareDifference(now, before) {
  if (now === null || before === null) return nothing;
  const points = (now - before) * 100;
  if (Math.abs(points) < 0.05) return same;
  return text(points > 0 ? "▲" : "▼", decimal(Math.abs(points), 1), points > 0 ? "points higher" : "points lower", Math.abs(points) < 1 ? "" : points > 0 ? "worse" : "better");
}

/** Of mean scores: a twentieth or more is worse or better. */
export function scoreDifference(now, before) {
  if (now === null || before === null) return nothing;
  const change = now - before;
  if (Math.abs(change) < 0.005) return same;
  return text(change > 0 ? "▲" : "▼", decimal(Math.abs(change), 2), change > 0 ? "higher" : "lower", Math.abs(change) < 0.05 ? "" : change > 0 ? "better" : "worse");
}

/** Of delays: a tenth or more is worse or better. */
export function delayDifference(now, before) {
  if (!now || !before) return nothing;
  const change = now - before;
  if (Math.abs(change) < before * 0.025) return same; // as exact as the percentiles are
  return text(change > 0 ? "▲" : "▼", ms(Math.abs(change)), change > 0 ? "longer" : "shorter", Math.abs(change) < before * 0.1 ? "" : change > 0 ? "worse" : "better");
}

/** More and less in few words, for a cell of a table. */
export const shortDifference = (now, before) => (now === before ? "same" : `${now > before ? "▲" : "▼"} ${integer(Math.abs(now - before))}`);
