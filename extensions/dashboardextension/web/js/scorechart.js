// The scores of a user's calls over time. The table of the calls has the same as text.

import { h } from "./dom.js";
import { date, decimal, mos } from "./format.js";
import { color, dayTime, hourTime, plotInto, timeLook, valueLook } from "./plot.js";
import { ticks } from "./view.js";

const leastHeight = 150;

/** Times of an axis at round hours or days. */
function timeAxis() {
  let text = dayTime;
  return {
    ...timeLook,
    splits: (u, _axis, from, to) => {
      const found = ticks([from, to], Math.max(2, Math.floor(u.width / 130)));
      text = found.step < 86_400_000 ? hourTime : dayTime;
      return found.times.slice(0, 40);
    },
    values: (_u, splits) => splits.map((at) => text.format(at)),
  };
}

/** Draws calls that have a score, the newest first, into a figure that keeps its width. */
export function drawScores(calls) {
  const scored = calls.filter((c) => c.mos !== null).toReversed();
  if (scored.length < 2) return null;
  const plot = h("div", { class: "plot", "aria-hidden": "true" });
  const readout = h("span", { class: "muted small" });
  const data = [scored.map((c) => c.startAt), scored.map((c) => c.mos)];
  const show = (i) => {
    readout.textContent = i === null || i === undefined ? "" : `${mos(scored[i].mos)} on ${date(scored[i].startAt)}`;
  };
  const options = () => ({
    ms: 1, legend: { show: false }, padding: [8, 44, 0, 0],
    scales: { x: { time: false, range: (_u, from, to) => [from - Math.max(60_000, (to - from) * 0.02), to + Math.max(60_000, (to - from) * 0.02)] }, y: { range: () => [1, 5] } },
    axes: [timeAxis(), { ...valueLook, size: 30, splits: () => [1, 2, 3, 4, 5], values: (_u, all) => all.map((v) => decimal(v, 0)) }],
    series: [{}, { stroke: () => color("--accent"), width: 1.25, alpha: 0.9, points: { show: true, size: 6, fill: () => color("--accent") } }],
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [(u) => show(u.cursor.idx)] },
  });
  plotInto(plot, options, data, leastHeight);
  return h("figure", { class: "card scores", "data-testid": "scores" }, h("figcaption", {}, h("h2", {}, "Scores"), readout), plot);
}
