// The page of all conferences: newest first, found by id, app, outcome and time.

import { ask } from "./api.js";
import { byId, drawOnChange, h } from "./dom.js";
import { ago, clock, date, duration, outcomes, plural } from "./format.js";
import { keepFresh, liveAddress } from "./live.js";
import { conferenceLink, notice, pill, score, skeleton, time, userText } from "./parts.js";

const refreshMs = 5000;
const form = byId("filters");
const filters = ["id", "app", "outcome", "from", "to"];
const apps = new Set();
let abort = new AbortController();

form.elements.outcome.append(...Object.entries(outcomes).map(([value, [word]]) => h("option", { value }, word)));

const pad = (n) => String(n).padStart(2, "0");

/** Milliseconds as the value of a datetime-local input, which is in local time. */
function toInput(ms) {
  if (!/^\d+$/.test(ms ?? "")) return "";
  const d = new Date(Number(ms));
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}T${pad(d.getHours())}:${pad(d.getMinutes())}`;
}

function readForm() {
  const query = new URLSearchParams();
  for (const name of filters) {
    const { value } = form.elements[name];
    if (value) query.set(name, name === "from" || name === "to" ? String(new Date(value).getTime()) : value);
  }
  return query;
}

function fillForm(query) {
  for (const name of filters) {
    const value = query.get(name) ?? "";
    form.elements[name].value = name === "from" || name === "to" ? toInput(value) : value;
  }
  byId("clear").hidden = !filters.some((name) => query.get(name));
}

function people(c) {
  const named = c.participants.map(userText).join(", ");
  const more = c.participantCount - c.participants.length;
  return more > 0 && named ? `${named} and ${more} more` : named;
}

function row(c, now) {
  const live = c.state === "live";
  return h("tr", { "data-testid": "conference", "data-state": c.state, "data-id": c.id },
    h("td", {}, h("a", { class: "name", href: conferenceLink(c) }, c.id), h("span", { class: "sub" }, c.app)),
    h("td", {}, pill(c)),
    h("td", { class: "when" }, time(c.startAt, date(c.startAt)), h("span", { class: "sub" }, ago(c.startAt, now))),
    h("td", { class: "number" }, duration(live ? now - c.startAt : c.durationMs), live && h("span", { class: "sub" }, "so far")),
    h("td", {}, plural(c.participantCount, "participant"), h("span", { class: "sub people", title: people(c) }, people(c))),
    h("td", {}, score(c.mos, c.label)),
  );
}

const columns = [["Conference"], ["Outcome"], ["Started"], ["Duration", "number"], ["Participants"], ["Score"]];

function table(list) {
  return h("table", { class: "conferences" },
    h("caption", { class: "visually-hidden" }, "Conferences, newest first"),
    h("thead", {}, h("tr", {}, columns.map(([name, kind]) => h("th", { scope: "col", class: kind }, name)))),
    h("tbody", {}, list.conferences.map((c) => row(c, list.at))),
  );
}

function empty(query) {
  if (filters.some((name) => query.get(name)) || query.get("cursor")) {
    return h("div", { class: "empty", "data-testid": "empty" },
      h("h2", {}, "Nothing matches"),
      h("p", {}, "No conference fits this search. Conference IDs are matched whole, and upper and lower case differ."),
      h("a", { class: "button", href: "." }, "Show all conferences"));
  }
  return h("div", { class: "empty", "data-testid": "empty" },
    h("h2", {}, "No conferences yet"),
    h("p", {}, "As soon as a page with the qos library adds its first connection, the conference appears here by itself."));
}

function paging(list, query) {
  const older = new URLSearchParams(query);
  older.set("cursor", list.next ?? "");
  const newest = new URLSearchParams(query);
  newest.delete("cursor");
  return [
    query.get("cursor") ? h("a", { class: "button", href: `?${newest}`, "data-testid": "newest" }, "← Newest") : h("span"),
    list.next && h("a", { class: "button", href: `?${older}`, rel: "next", "data-testid": "older" }, "Older →"),
  ];
}

function draw(list, query) {
  for (const c of list.conferences) apps.add(c.app);
  drawOnChange(byId("apps"), [...apps], () => [...apps].sort().map((value) => h("option", { value })));
  const target = byId("list");
  const focused = document.activeElement?.closest?.("#list a")?.getAttribute("href");
  // Ages are shown to the second at first, so that a row is drawn anew only when it says something new.
  drawOnChange(target, [list.conferences, Math.floor(list.at / 30_000), list.conferences.some((c) => c.state === "live") && list.at], () =>
    list.conferences.length > 0 ? table(list) : empty(query));
  if (focused) [...target.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
  drawOnChange(byId("paging"), [list.next, String(query)], () => paging(list, query));
  byId("status").textContent = `Updated ${clock(Date.now())}`;
}

async function load() {
  const query = new URLSearchParams(location.search);
  const mine = abort;
  try {
    const list = await ask("api/conferences", Object.fromEntries([...query].filter(([name]) => filters.includes(name) || name === "cursor" || name === "limit")), mine.signal);
    if (mine !== abort) return 0;
    drawOnChange(byId("alert"), null, () => []);
    draw(list, query);
    return query.get("cursor") ? 0 : refreshMs;
  } catch (error) {
    if (error.name === "AbortError") return 0;
    drawOnChange(byId("alert"), error.message, () => notice(error.message, () => run()));
    if (!byId("list").drawnFrom) byId("list").replaceChildren();
    return error.status === 400 ? 0 : refreshMs;
  } finally {
    byId("list").setAttribute("aria-busy", "false");
  }
}

function address() {
  const query = new URLSearchParams(location.search);
  return liveAddress(query.get("app"), query.get("id"));
}

const run = keepFresh(address, load);

/** Shows what the address says. */
function open() {
  abort.abort();
  abort = new AbortController();
  fillForm(new URLSearchParams(location.search));
  byId("list").drawnFrom = undefined;
  byId("list").setAttribute("aria-busy", "true");
  if (!byId("list").firstChild) byId("list").append(skeleton(8));
  run();
}

function go(query) {
  history.pushState(null, "", String(query) ? `?${query}` : location.pathname);
  open();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  go(readForm());
});
form.elements.outcome.addEventListener("change", () => go(readForm()));

/** On a narrow screen the rest of the filters is folded away, unless it is in use. */
function unfold(open) {
  form.classList.toggle("open", open);
  byId("more").setAttribute("aria-expanded", String(open));
  byId("more").textContent = open ? "Fewer filters" : "More filters";
}
byId("more").addEventListener("click", () => unfold(!form.classList.contains("open")));
unfold(["app", "outcome", "from", "to"].some((name) => new URLSearchParams(location.search).get(name)));
byId("clear").addEventListener("click", () => go(new URLSearchParams()));
addEventListener("popstate", open);
open();
