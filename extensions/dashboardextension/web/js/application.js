// The page of one app: how its conferences ended, and which versions, browsers and sites they had, over time.

import { ask } from "./api.js";
import { presets } from "./comparison.js";
import { byId, h } from "./dom.js";
import { date, integer } from "./format.js";
import { notice, skeleton } from "./parts.js";
import { drawProviders } from "./providers.js";
import { drawTrend } from "./trendchart.js";
import { showUser } from "./user.js";
import { kinds } from "./values.js";

const query = new URLSearchParams(location.search);
const times = presets.slice(1);
const outcomeColors = { success: "--excellent-fill", partiallyFailed: "--fair-fill", dropped: "--poor-fill", totallyFailed: "--bad-fill", aborted: "--control", missed: "--life" };

/** The lists of the page, and the colours of their values that have one of their own. */
const trends = { outcomes: (v) => outcomeColors[v], errors: null, versions: null, browsers: null, sites: null, causes: null, labels: (v) => `--${v}-fill` };

/** The time of the address, or the last seven days. */
function period() {
  const to = Number(query.get("to")) || Date.now();
  return { from: Number(query.get("from")) || to - times[1][1], to };
}

const frame = () => ({ app: query.get("app"), ...period() });
const address = (path, more) => `${path}?${new URLSearchParams(Object.entries(more).filter(([, v]) => v))}`;

function legend(answer, names, colors, kind) {
  const { from, to } = answer;
  const link = (i) => (i < answer.values.length ? kind.search(answer.values[i]) : null);
  const sum = (i) => answer.points.reduce((n, p) => n + p.counts[i], 0);
  return h("ul", { class: "values" }, names.map((name, i) => h("li", { "data-testid": "value" }, h("i", { vars: { background: `var(${colors[i]})` } }),
    link(i) ? h("a", { href: address("search", { app: query.get("app"), from, to, ...link(i) }) }, h("bdi", {}, name)) : h("bdi", {}, name),
    h("span", { class: "muted small" }, ` ${integer(sum(i))}`))));
}

function draw(el, by, answer) {
  const kind = kinds[by];
  const heading = h("h2", {}, kind.title);
  if (answer.values.length === 0) {
    el.replaceChildren(heading, h("p", { class: "muted small" }, "None in this time."));
    return;
  }
  const names = [...answer.values.map(kind.name), ...(answer.other ? ["Other"] : [])];
  const colors = names.map((_, i) => (i < answer.values.length && trends[by]?.(answer.values[i])) || `--series-${i < answer.values.length ? i : 8}`);
  el.replaceChildren(heading, legend(answer, names, colors, kind), ...drawTrend(answer, names, colors, kind.title.toLowerCase()));
}

async function load(el, by, shown) {
  try {
    draw(el, by, await ask("api/trend", { ...shown, by, zone: -new Date().getTimezoneOffset() }));
  } catch (error) {
    el.replaceChildren(h("h2", {}, kinds[by].title), notice(error.message, error.status === 400 ? undefined : () => load(el, by, shown)));
  }
}

/** The times to choose from. */
function drawTimes(shown) {
  byId("choice").append(h("span", { class: "muted small" }, `${date(shown.from)} to ${date(shown.to)}`), ...times.map(([word, length]) => {
    const now = Date.now();
    return h("a", { class: "chip", href: address("app", { app: shown.app, from: now - length, to: now }) }, word);
  }), h("a", { class: "small", href: address("search", shown) }, "Show conferences"), h("a", { class: "small", href: address("precalls", shown) }, "Show pre-call tests"), h("a", { class: "small", href: address("changes", shown) }, "What changed?"));
}

async function drawApp(shown) {
  document.title = `${shown.app} · qos`;
  byId("title").replaceChildren(h("bdi", {}, shown.app));
  drawTimes(shown);
  const cards = Object.keys(trends).map((by) => [by, h("section", { class: "card trend", "data-testid": "trend", "data-by": by, "aria-label": kinds[by].title }, h("h2", {}, kinds[by].title), skeleton(3))]);
  byId("trends").append(...cards.map(([, el]) => el));
  const tests = h("section", { class: "card trend", "data-testid": "providers", "aria-label": "Providers in pre-call tests" }, h("h2", {}, "Providers in pre-call tests"), skeleton(3));
  byId("trends").append(tests);
  for (const [by, el] of cards) await load(el, by, shown);
  await loadProviders(tests, shown);
}

async function loadProviders(el, shown) {
  try {
    drawProviders(el, await ask("api/precalls/providers", { ...shown, zone: -new Date().getTimezoneOffset() }), shown.app);
  } catch (error) {
    el.replaceChildren(h("h2", {}, "Providers in pre-call tests"), notice(error.message, error.status === 400 ? undefined : () => loadProviders(el, shown)));
  }
}

/** The apps that had conferences, where the address names none. */
async function drawApps(shown) {
  const { apps } = await ask("api/trend", { ...shown, by: "outcomes" });
  byId("trends").replaceChildren(apps.length === 0
    ? h("div", { class: "card empty", "data-testid": "empty" }, h("h2", {}, "No apps"), h("p", {}, "No app that you may see had conferences in the last seven days."))
    : h("ul", { class: "card apps" }, apps.map((app) => h("li", {}, h("a", { href: address("app", { app }), "data-testid": "app" }, h("bdi", {}, app))))));
}

async function open() {
  const shown = frame();
  try {
    await (shown.app ? drawApp(shown) : drawApps(shown));
  } catch (error) {
    byId("alert").replaceChildren(notice(error.message));
  } finally {
    byId("trends").setAttribute("aria-busy", "false");
  }
}

open();
showUser();
