// The chart of conferences by hour, with those of a week before.

/* global uPlot */

import { h, scrollBox } from "./dom.js";
import { clock, integer, mos, none, shortClock } from "./format.js";
import { color, timeLook, valueLook, wholeSteps } from "./plot.js";
import { shiftDays } from "./period.js";
import { ticks } from "./view.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const height = 220;
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" });

/** The columns: hours, conferences, failed ones, and conferences a week before, for each hour of the period. */
export function columns({ from, to, points, baselinePoints }) {
  const now = new Map(points.map((p) => [p.at, p]));
  const before = new Map();
  for (const p of baselinePoints) { // two hours of one day are one of another where summer time begins or ends
    const at = shiftDays(p.at, 7);
    before.set(at, { conferences: p.conferences + (before.get(at)?.conferences ?? 0) });
  }
  const times = [...new Set([...now.keys(), ...before.keys()])].filter((at) => at < to && at > from - hourMs).sort((a, b) => a - b);
  const count = (map, at, name) => map.get(at)?.[name] ?? 0;
  return [times, times.map((at) => count(now, at, "conferences")), times.map((at) => count(now, at, "failed")), times.map((at) => count(before, at, "conferences"))];
}

const xAxis = () => ({
  ...timeLook,
  splits: (u, _axis, from, to) => ticks([from, to], Math.max(2, Math.floor(u.width / 75))).times,
  values: (u, splits) => splits.map((at) => (u.scales.x.max - u.scales.x.min > 2 * dayMs ? day.format(at) : shortClock(at))),
});

const yAxis = { ...valueLook, size: 44, incrs: wholeSteps, values: (_u, splits) => splits.map(integer) };

const options = (width) => ({
  width, height, ms: 1, legend: { show: false }, padding: [8, 16, 0, 0], cursor: { show: false },
  scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
  axes: [xAxis(), yAxis],
  series: [{},
    { stroke: () => color("--accent"), width: 2, points: { show: (_u, _s, from, to) => to - from < 3 } },
    { stroke: () => color("--bad-fill"), width: 2, points: { show: (_u, _s, from, to) => to - from < 3 } },
    { stroke: () => color("--muted"), width: 1.5, dash: [5, 4], points: { show: false } }],
});

const legend = [["--accent", "Conferences", ""], ["--bad-fill", "Failed", ""], ["--muted", "Conferences a week before", "dashed"]];

/** The same numbers as a table, for those who do not see the chart. */
function numbers(overview) {
  const [times, now, failed, before] = columns(overview);
  const scores = new Map(overview.points.map((p) => [p.at, p.mos]));
  const week = overview.to - overview.from > 2 * dayMs;
  return h("details", { class: "numbers", "data-key": "hours" }, h("summary", {}, "Numbers by hour"), scrollBox("Numbers by hour", h("table", { class: "counts" },
    h("thead", {}, h("tr", {}, ["Hour", "Conferences", "A week before", "Failed", "Score"].map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
    h("tbody", {}, times.map((at, i) => h("tr", {}, h("th", { scope: "row" }, week ? `${day.format(at)}, ${shortClock(at)}` : clock(at).slice(0, 5)),
      [integer(now[i]), integer(before[i]), integer(failed[i]), scores.get(at) ? mos(scores.get(at)) : none].map((text) => h("td", { class: "number" }, text))))))));
}

/** Draws the chart into a figure that is in the document already. */
export function drawHours(figure, overview) {
  const plot = h("div", { class: "plot", "aria-hidden": "true" });
  figure.replaceChildren(
    h("figcaption", {}, h("h2", {}, "Conferences by hour"), h("ul", { class: "legend" }, legend.map(([name, word, dash]) => h("li", { vars: { "--c": `var(${name})` } }, h("i", { class: dash }), word)))),
    plot, numbers(overview));
  const data = columns(overview);
  const u = new uPlot(options(Math.max(200, plot.clientWidth)), data, plot);
  const observer = new ResizeObserver(() => {
    if (!plot.isConnected) observer.disconnect();
    else if (plot.clientWidth > 0 && plot.clientWidth !== u.width) u.setSize({ width: plot.clientWidth, height });
  });
  observer.observe(plot);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => (plot.isConnected ? u.redraw() : dark.removeEventListener("change", redraw));
  dark.addEventListener("change", redraw);
}
