// A chart of counts by value over time, stacked, with the same numbers as a table.

/* global uPlot */

import { h, scrollBox } from "./dom.js";
import { integer } from "./format.js";
import { color, dayTime, hourTime, plotInto, timeLook, valueLook, wholeSteps } from "./plot.js";
import { ticks } from "./view.js";

const leastHeight = 190;
const dayMs = 86_400_000;

/** Where the bars begin. That of a first step that is a part begins where the whole step would: bars have one width. */
const begins = ({ points, stepMs }) => points.map((p, i) => (i === 0 && points.length > 1 ? points[1].at - stepMs : p.at));

/** The sums of each value and all before it: what is drawn, the highest first. */
function stacked(answer, n) {
  const { points } = answer;
  const sums = points.map(({ counts }) => counts.map((_, i) => counts.slice(0, i + 1).reduce((a, b) => a + b, 0)));
  return [begins(answer), ...Array.from({ length: n }, (_, i) => sums.map((one) => one[n - 1 - i]))];
}

/** Times of the axis; those at the right edge have no room for their text. */
const timeAxis = (step) => ({
  ...timeLook,
  splits: (u, _axis, from, to) => ticks([from, to], Math.max(2, Math.floor(u.width / 110))).times.slice(0, 40),
  values: (_u, splits) => splits.map((at) => (step >= dayMs || splits.length > 1 && splits[1] - splits[0] >= dayMs ? dayTime : hourTime).format(at)),
});

const options = ({ stepMs, from, to }, begin, colors) => ({
  ms: 1, legend: { show: false }, padding: [8, 44, 0, 0], cursor: { show: false },
  scales: { x: { time: false, range: () => [Math.min(from, begin), Math.max(to, begin + stepMs)] }, y: { range: (_u, _min, max) => [0, Math.max(1, (max ?? 0) * 1.05)] } },
  axes: [timeAxis(stepMs), { ...valueLook, size: 46, incrs: wholeSteps, values: (_u, splits) => splits.map(integer) }],
  series: [{}, ...colors.toReversed().map((name) => ({ stroke: () => color(name), fill: () => color(name), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 48], align: 1 }) }))],
});

/** The numbers of the chart. */
function numbers(answer, names, label) {
  const text = answer.stepMs >= dayMs ? dayTime : hourTime;
  return h("details", { class: "numbers" }, h("summary", {}, "Numbers"), scrollBox(`Numbers of ${label}`, h("table", { class: "numbers-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, answer.stepMs >= dayMs ? "Day" : "Hour"), h("th", { scope: "col", class: "number" }, "All"), names.map((name) => h("th", { scope: "col", class: "number" }, h("bdi", {}, name))))),
    h("tbody", {}, answer.points.map((p) => h("tr", {}, h("th", { scope: "row" }, text.format(p.at)), h("td", { class: "number" }, integer(p.conferences)),
      p.counts.map((n) => h("td", { class: "number" }, integer(n)))))))));
}

/** The chart and the table of an answer of the API; colors are names of CSS properties, one for each name. */
export function drawTrend(answer, names, colors, label) {
  const plot = h("div", { class: "plot", "aria-hidden": "true" });
  const data = stacked(answer, names.length);
  plotInto(plot, () => options(answer, data[0][0], colors), data, leastHeight);
  return [plot, numbers(answer, names, label)];
}
