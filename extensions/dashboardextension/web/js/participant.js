// The page of one user of an app: the calls, newest first, what is usual, and what was different in each.

import { ask } from "./api.js";
import { byId, drawOnChange, h, scrollBox } from "./dom.js";
import { fact } from "./facts.js";
import { ago, date, duration, percent, plural } from "./format.js";
import { conferenceLink, notice, paging, pill, pseudonymPill, score, skeleton, time } from "./parts.js";
import { preCallTable } from "./precalltable.js";
import { drawScores } from "./scorechart.js";
import { showUser } from "./user.js";
import { attributeName, attributeValue, kinds } from "./values.js";

const names = ["app", "user", "from", "to", "cursor", "limit"];
const query = new URLSearchParams(location.search);

function head(a) {
  const now = a.user || query.get("user");
  const others = a.names.filter((name) => name !== now);
  const search = new URLSearchParams({ app: a.app, user: query.get("user") });
  return [
    h("div", { class: "page-head" }, h("h1", { "data-testid": "user" }, h("bdi", {}, a.userName ? `${a.userName} (${now})` : now), " ", pseudonymPill(now)),
      h("p", { class: "status" }, h("a", { href: `search?${search}`, "data-testid": "user-search" }, "Show in search"))),
    h("p", { class: "muted lead" }, "User of app ", h("bdi", {}, a.app), others.length > 0 && [". Also called ", others.map((name, i) => [i > 0 && ", ", h("bdi", {}, name)])], "."),
  ];
}

function usual(a) {
  if (a.usual.length === 0) return h("p", { class: "muted small", "data-testid": "usual" }, "What is usual is known after five calls with a summary.");
  return h("div", { class: "card usual", "data-testid": "usual" }, h("h2", {}, "Usual"),
    h("ul", {}, a.usual.map((v) => h("li", {}, fact(v), h("span", { class: "muted small" }, ` ${percent(v.calls / v.of)} of ${plural(v.of, "call")}`)))));
}

/** What was different in a call, in words: "network cellular, usually wifi". */
function different(c) {
  const shown = c.different.filter((d) => d.attribute !== "browserVersion" || !c.different.some((other) => other.attribute === "browser"));
  if (shown.length === 0) return null;
  return h("ul", { class: "different" }, shown.map((d) => h("li", { "data-testid": "different", "data-attribute": d.attribute },
    h("b", {}, attributeName(d.attribute)), " ", h("bdi", {}, d.values.map((v) => attributeValue(d.attribute, v)).join(", ")),
    h("span", { class: "muted" }, d.usual.length > 0 ? [", usually ", h("bdi", {}, d.usual.map((v) => attributeValue(d.attribute, v)).join(", "))] : ", for the first time"))));
}

const valuesOf = (c, attribute) => c.facts.filter((f) => f.attribute === attribute).map((f) => attributeValue(attribute, f.value));
const bdis = (values) => values.map((v, i) => [i > 0 && ", ", h("bdi", {}, v)]);
const sub = (values) => values.length > 0 && h("span", { class: "sub" }, bdis(values));
const cell = (name, ...children) => h("td", { "data-name": name }, h("div", {}, ...children));

function row(c, now) {
  const of = (attribute) => valuesOf(c, attribute);
  const relay = [...of("localCandidateType").filter((v) => v === "relay"), ...of("relayProtocol")].join(" over ");
  const changed = different(c);
  return h("tr", { "data-testid": "call", "data-id": c.id, class: changed ? "changed" : "" },
    cell("Call", h("a", { class: "name", href: conferenceLink(c) }, h("bdi", {}, c.id)), h("span", { class: "sub" }, time(c.startAt, date(c.startAt)), ` · ${ago(c.startAt, now)} · ${duration(c.durationMs)}`),
      c.sessions.length === 0 && h("span", { class: "sub" }, "Only as the other end of a connection")),
    cell("Outcome", pill(c), c.cause && h("span", { class: "sub" }, kinds.causes.name(c.cause))),
    cell("Score", score(c.mos, c.label)),
    cell("Network", bdis(of("networkType")), relay && h("span", { class: "sub" }, relay), sub(of("localAddress"))),
    cell("Browser", bdis(of("browserVersion").length ? of("browserVersion") : of("browser")), sub([...of("os"), ...of("device")])),
    cell("Site, version", bdis(of("siteID")), sub(of("applicationVersion"))),
    cell("Different", changed ?? h("span", { class: "muted" }, "–")));
}

const columns = ["Call", "Outcome", "Score", "Network", "Browser", "Site, version", "Different from usual"];

const table = (a) => scrollBox("Calls of the user", h("table", { class: "history" },
  h("caption", { class: "visually-hidden" }, "Calls of the user, newest first"),
  h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
  h("tbody", {}, a.calls.map((c) => row(c, a.at)))));

const empty = () => h("div", { class: "empty", "data-testid": "empty" }, h("h2", {}, "No calls"),
  h("p", {}, "No call of this app that you may see has a participant with this ID. IDs are matched whole: upper and lower case differ."));

async function load() {
  byId("alert").replaceChildren();
  try {
    const a = await ask("api/user", [...query].filter(([name]) => names.includes(name)));
    document.title = `${a.user || query.get("user")} · qos`;
    byId("head").replaceChildren(...head(a));
    byId("usual").replaceChildren(...(a.calls.length > 0 ? [usual(a)] : []));
    byId("scores").replaceChildren(...[drawScores(a.calls)].filter(Boolean));
    byId("list").replaceChildren(a.calls.length > 0 ? table(a) : empty());
    drawOnChange(byId("paging"), a.next, () => paging(query, a.next));
  } catch (error) {
    byId("list").replaceChildren();
    byId("alert").replaceChildren(notice(error.message, error.status === 400 ? undefined : load));
  } finally {
    byId("list").setAttribute("aria-busy", "false");
  }
}

const mostTests = 10;

/** The newest pre-call tests of the user, where there are any. */
async function loadTests() {
  const of = { app: query.get("app") ?? "", user: query.get("user") ?? "" };
  try {
    const list = await ask("api/precalls", { ...of, limit: mostTests });
    byId("tests").replaceChildren(...(list.preCalls.length > 0 ? [h("h2", {}, "Pre-call tests"), h("div", { class: "card" }, preCallTable(list)),
      list.next && h("p", {}, h("a", { href: `precalls?${new URLSearchParams(of)}`, "data-testid": "all-tests" }, "All pre-call tests of this user"))].filter(Boolean) : []));
  } catch (error) {
    byId("tests").replaceChildren(notice(error.message, error.status === 400 ? undefined : loadTests));
  }
}

byId("head").append(h("h1", {}, h("bdi", {}, query.get("user") || "User")));
byId("list").append(skeleton(6));
load();
if (query.get("app") && query.get("user")) loadTests();
showUser();
