// What charts share: colours of the page, the look of axes, and plots that keep the width of their element.

/* global uPlot */

/** The present value of a colour of the page, such as "--muted". */
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const axis = { font: "11px system-ui, sans-serif", gap: 4, stroke: () => color("--muted") };

/** The look of an axis of times. */
export const timeLook = { ...axis, size: 26, grid: { show: false }, ticks: { stroke: () => color("--border"), size: 4, width: 1 } };

/** The look of an axis of values, which has the lines of the grid. */
export const valueLook = { ...axis, grid: { stroke: () => color("--border"), width: 1 }, ticks: { show: false } };

/** Steps of an axis of counts. */
export const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000];

export const dayTime = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
export const hourTime = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** The height of a plot of a width: a wide screen has a taller one. Both are in CSS pixels. */
export const heightOf = (width, least) => Math.round(Math.min(1.6 * least, Math.max(least, width * 0.36)));

/** Plots data into an element once it has a width, and again in other colours; options() has all but the size. `least` is the least height. */
export function plotInto(el, options, data, least) {
  let chart = null;
  new ResizeObserver(([{ contentRect: { width } }]) => {
    const height = heightOf(width, least);
    if (chart) chart.setSize({ width, height });
    else chart = new uPlot({ ...options(), width, height }, data, el);
  }).observe(el);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart?.redraw(false));
}
