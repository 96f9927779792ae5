// The numbers and the tables of the overview. Each number that a search can find opens its conferences.

import { countDifference, delayDifference, scoreDifference, shareDifference, shortDifference } from "./difference.js";
import { h, scrollBox } from "./dom.js";
import { integer, labels, mos, ms, none, percent } from "./format.js";
import { kinds } from "./values.js";

/** The link of a search of the time and the app that are shown. */
const searchLink = ({ from, to, app }, more) => `search?${new URLSearchParams(Object.entries({ app, from, to, ...more }).filter(([, value]) => value))}`;

const share = (part, all) => (all > 0 ? part / all : null);
const ended = (t) => t.conferences - t.withoutSummary;

function tile(name, value, { link, extra, difference, testid }) {
  return h("div", { class: "tile fits", "data-testid": testid }, h("dt", {}, name), h("dd", {},
    h("b", {}, link ? h("a", { href: link }, value) : value), extra && h("span", { class: "extra" }, extra),
    difference?.text && h("span", { class: `extra difference ${difference.verdict}` }, difference.text)));
}

/** The numbers at the head. */
export function drawTiles(o, shown) {
  const { current: now, baseline: before } = o;
  const some = (n, more) => n > 0 && searchLink(shown, more);
  return h("dl", { class: "tiles card" },
    tile("Conferences", integer(now.conferences), { testid: "conferences", link: some(now.conferences, {}), difference: countDifference(now.conferences, before.conferences) }),
    tile("Failed", integer(now.failed), { testid: "failed", link: some(now.failed, { outcome: "failed" }), extra: now.failed > 0 && `${percent(share(now.failed, ended(now)))} of those that ended`, difference: shareDifference(share(now.failed, ended(now)), share(before.failed, ended(before))) }),
    tile("Mean score", now.mos === null ? none : mos(now.mos), { testid: "score", link: some(now.scored, { scoreFrom: 1 }), extra: `of ${integer(now.scored)}`, difference: scoreDifference(now.mos, before.mos) }),
    tile("Setup, median", now.setupMs ? ms(now.setupMs.p50) : none, { testid: "setup", extra: now.setupMs && `95 % within ${ms(now.setupMs.p95)}`, difference: delayDifference(now.setupMs?.p50, before.setupMs?.p50) }),
    tile("Participants", integer(now.participants), { difference: countDifference(now.participants, before.participants) }),
    tile("Live now", `${integer(o.live)}${o.moreLive ? "+" : ""}`, { testid: "live", link: o.live > 0 && searchLink({ app: shown.app }, { state: "live" }), extra: now.withoutSummary > 0 && `${integer(now.withoutSummary)} without a summary` }));
}

/** The tables, in their order, and what they have beside the conferences with a value. */
const tables = {
  outcomes: {}, labels: { order: labels }, causes: {}, errors: { errors: true }, issues: {}, browsers: { failures: true }, sites: { failures: true }, versions: { failures: true },
};

function row(kind, g, before, most, shown) {
  const known = !g.other && g.value !== "";
  const name = known ? kind.name(g.value) : g.other ? "All others" : "Unknown";
  const search = known ? kind.search(g.value) : null;
  const open = (n, more) => (search && n > 0 ? h("a", { href: searchLink(shown, { ...search, ...more }) }, integer(n)) : integer(n));
  return h("tr", { "data-testid": "count", "data-value": g.other ? null : g.value },
    h("th", { scope: "row" }, h("span", { class: "value" }, name), h("i", { class: "bar", vars: { "--share": String(g.conferences / most) } })),
    h("td", { class: "number" }, open(g.conferences)),
    kind.errors && h("td", { class: "number" }, integer(g.errors)),
    kind.failures && [h("td", { class: "number" }, open(g.failed, { outcome: "failed" })), h("td", { class: "number" }, g.mos === null ? none : mos(g.mos))],
    h("td", { class: "number muted" }, integer(before)), h("td", { class: "number muted change" }, shortDifference(g.conferences, before)));
}

const keyOf = (g) => (g.other ? "\u0000other" : g.value);

/** The values of both times: those of a week before that are gone have zero. */
function both(kind, now, before) {
  const had = new Map(before.map((g) => [keyOf(g), g]));
  const gone = before.filter((g) => !g.other && !now.some((one) => keyOf(one) === keyOf(g))).map((g) => ({ ...g, conferences: 0, failed: 0, errors: 0, mos: null }));
  const all = [...now, ...(now.some((g) => g.other) ? [] : gone.slice(0, Math.max(0, 20 - now.length)))];
  if (kind.order) all.sort((a, b) => kind.order.indexOf(a.value) - kind.order.indexOf(b.value));
  return all.map((g) => [g, had.get(keyOf(g))?.conferences ?? 0]);
}

/** One table; nothing where neither time has a value. */
function table(kind, o, shown) {
  const rows = both(kind, o.current[kind.of] ?? [], o.baseline[kind.of] ?? []);
  if (rows.length === 0) return [];
  const most = Math.max(1, ...rows.map(([g]) => g.conferences));
  const columns = ["Conferences", ...(kind.errors ? ["Errors"] : []), ...(kind.failures ? ["Failed", "Score"] : []), "Week before", "Change"];
  return h("section", { class: "card counted", "data-testid": kind.of, "data-key": kind.of }, h("h2", {}, kind.title), scrollBox(kind.title,
    h("table", { class: "counts" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, kind.one), columns.map((name) => h("th", { scope: "col", class: name === "Change" ? "number change" : "number" }, name)))),
      h("tbody", {}, rows.map(([g, before]) => row(kind, g, before, most, shown))))));
}

export const drawTables = (o, shown) => h("div", { class: "tables" }, Object.entries(tables).map(([of, more]) => table({ ...kinds[of], ...more, of }, o, shown)));
