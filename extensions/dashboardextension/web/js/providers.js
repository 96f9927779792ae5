// How providers did in the pre-call tests of an app: failures and round-trip times over time.

import { h } from "./dom.js";
import { integer, ms, percent, plural } from "./format.js";
import { drawTrend } from "./trendchart.js";

/** The steps in which a provider was tested, with how many tests of each provider failed. */
function failures({ stepMs, from, to, providers }) {
  const times = [...new Set(providers.flatMap((p) => p.points.map((point) => point.at)))].sort((a, b) => a - b);
  const at = (p, time) => p.points.find((point) => point.at === time);
  return { stepMs, from, to, points: times.map((time) => ({
    at: time, conferences: providers.reduce((n, p) => n + (at(p, time)?.tests ?? 0), 0), counts: providers.map((p) => at(p, time)?.failed ?? 0),
  })) };
}

function line(p, answer, app, i) {
  const search = new URLSearchParams({ app, provider: p.provider, from: answer.from, to: answer.to });
  const medians = p.points.map((point) => point.medianRTTMs).filter((v) => v !== null);
  const spread = medians.length > 1 && `${ms(Math.min(...medians))} to ${ms(Math.max(...medians))} by ${answer.stepMs >= 86_400_000 ? "day" : "hour"}`;
  return h("li", { "data-testid": "provider", "data-provider": p.provider }, h("i", { vars: { background: `var(--series-${i})` } }),
    h("a", { href: `precalls?${search}` }, h("bdi", {}, p.provider)), " ",
    h("a", { class: "small", href: `precalls?${search}&failed=true`, "data-testid": "failed" }, `${percent(p.failedFraction)} failed`),
    h("span", { class: "muted small" }, ` of ${plural(p.tests, "test")}, median RTT ${ms(p.medianRTTMs)}`, spread && ` (${spread})`));
}

/** Draws an answer of api/precalls/providers into a card. */
export function drawProviders(el, answer, app) {
  const heading = h("h2", {}, "Providers in pre-call tests");
  if (answer.providers.length === 0) {
    el.replaceChildren(heading, h("p", { class: "muted small" }, "None in this time."));
    return;
  }
  const { providers } = answer;
  el.replaceChildren(heading, h("ul", { class: "values" }, providers.map((p, i) => line(p, answer, app, i))),
    h("p", { class: "muted small" }, answer.complete ? "Failed tests by provider:" : `Failed tests by provider, of the newest ${integer(answer.tests)} tests:`),
    ...drawTrend(failures(answer), providers.map((p) => p.provider), providers.map((_, i) => `--series-${i}`), "failed pre-call tests"));
}
