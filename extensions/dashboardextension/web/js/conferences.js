// The page of all conferences: newest first, found by whatever took part.

import { ask } from "./api.js";
import { byId, drawOnChange, h } from "./dom.js";
import { ago, clock, date, duration, plural } from "./format.js";
import { drawLeads } from "./leads.js";
import { keepFresh, liveAddress } from "./live.js";
import { conferenceLink, isCalled, notice, paging, pill, score, skeleton, time, userText } from "./parts.js";
import { drawSaved } from "./saved.js";
import { fillForm, foundAs, isFolded, isSearch, lookedFor, nothingFound, parameters, readForm, searchOf } from "./search.js";
import { showUser } from "./user.js";
import { kinds } from "./values.js";

const refreshMs = 5000;
const form = byId("filters");
const apps = new Set();
let abort = new AbortController();

function people(c) {
  const named = c.participants.map(userText).join(", ");
  const more = c.participantCount - c.participants.length;
  return more > 0 && named ? `${named} and ${more} more` : named;
}

/** The names; those that were looked for, by a name of now or before, stand out. */
function peopleText(c, wanted) {
  const text = people(c);
  const i = c.participants.findIndex((p) => isCalled(p, wanted));
  if (i !== 0) return text; // the API lists them first
  const name = userText(c.participants[0], 0);
  return [h("mark", {}, name), text.slice(name.length)];
}

function row(c, list, query) {
  const now = list.at;
  const pseudonyms = list.pseudonyms ?? [];
  const wanted = [...lookedFor(query).filter(([kind]) => kind === "q" || kind === "user").map(([, , value]) => value), ...pseudonyms];
  const as = foundAs(c, query, pseudonyms);
  const live = c.state === "live";
  return h("tr", { "data-testid": "conference", "data-state": c.state, "data-id": c.id },
    h("td", { class: "who" }, h("a", { class: "name", href: conferenceLink(c) }, wanted.includes(c.id) ? h("mark", {}, c.id) : c.id), h("span", { class: "sub" }, c.app),
      as && h("span", { class: "found", "data-testid": "found-as" }, as)),
    h("td", { class: "outcome" }, pill(c), c.cause && c.cause !== "none" && h("span", { class: "sub", "data-testid": "row-cause" }, kinds.causes.name(c.cause))),
    h("td", { class: "when" }, time(c.startAt, date(c.startAt)), h("span", { class: "sub" }, ago(c.startAt, now))),
    h("td", { class: "number" }, duration(live ? now - c.startAt : c.durationMs), live && h("span", { class: "sub" }, "so far")),
    h("td", { class: "parties" }, h("span", { class: "people", title: people(c) }, c.participants.length ? peopleText(c, wanted) : plural(c.participantCount, "participant")),
      c.sites && h("span", { class: "sub people", title: c.sites.join(", "), "data-testid": "row-sites" }, c.sites.join(", "))),
    h("td", { class: "mark" }, score(c.mos, c.label)),
  );
}

const columns = [["Conference"], ["Outcome"], ["Started"], ["Duration", "number"], ["Participants, site"], ["Score"]];

function table(list, query) {
  return h("table", { class: "conferences calls" },
    h("caption", { class: "visually-hidden" }, "Conferences, newest first"),
    h("thead", {}, h("tr", {}, columns.map(([name, kind]) => h("th", { scope: "col", class: kind }, name)))),
    h("tbody", {}, list.conferences.map((c) => row(c, list, query))),
  );
}

function empty(query) {
  if (isSearch(query) || query.get("cursor")) return nothingFound(query);
  return h("div", { class: "empty", "data-testid": "empty" },
    h("h2", {}, "No conferences yet"),
    h("p", {}, "As soon as a page with the qos library adds its first connection, the conference appears here by itself."));
}

/** The links of the exports of the search that is shown. */
function drawExports(list, query) {
  byId("exports").hidden = list.conferences.length === 0;
  for (const form of ["csv", "json"]) byId(form).href = `api/conferences.${form}?${searchOf(query)}`;
}

function draw(list, query) {
  for (const c of list.conferences) apps.add(c.app);
  drawOnChange(byId("apps"), [...apps], () => [...apps].sort().map((value) => h("option", { value })));
  const target = byId("list");
  const focused = document.activeElement?.closest?.("#list a")?.getAttribute("href");
  // Ages are shown to the second at first, so that a row is drawn anew only when it says something new.
  drawOnChange(target, [String(query), list.conferences, Math.floor(list.at / 30_000), list.conferences.some((c) => c.state === "live") && list.at], () =>
    list.conferences.length > 0 ? table(list, query) : empty(query));
  if (focused) [...target.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
  drawOnChange(byId("paging"), [list.next, String(query)], () => paging(query, list.next));
  drawExports(list, query);
  byId("status").textContent = `Updated ${clock(Date.now())}`;
}

async function load() {
  const query = new URLSearchParams(location.search);
  const mine = abort;
  try {
    const list = await ask("api/conferences", [...query].filter(([name]) => parameters.includes(name) || name === "cursor" || name === "limit"), mine.signal);
    if (mine !== abort) return 0;
    drawOnChange(byId("alert"), null, () => []);
    draw(list, query);
    drawLeads(searchOf(query), mine.signal);
    return query.get("cursor") ? 0 : refreshMs;
  } catch (error) {
    if (error.name === "AbortError") return 0;
    drawOnChange(byId("alert"), error.message, () => notice(error.message, error.status === 400 ? undefined : () => run()));
    if (!byId("list").drawnFrom || error.status === 400) byId("list").replaceChildren();
    byId("exports").hidden = true;
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
  drawSaved(searchOf(new URLSearchParams(location.search)));
  byId("list").drawnFrom = undefined;
  byId("list").setAttribute("aria-busy", "true");
  if (!byId("list").firstChild) byId("list").append(skeleton(8));
  run();
}

function go(query) {
  history.pushState(null, "", String(query) ? `?${query}` : location.pathname);
  open();
}

const search = () => go(readForm(new URLSearchParams(location.search)));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
for (const name of ["outcome", "quality", "cause"]) form.elements[name].addEventListener("change", search);
form.elements.kind.addEventListener("change", () => form.elements.word.focus());

/** On a narrow screen the choices are folded away, unless one is in use. */
function unfold(open) {
  form.classList.toggle("open", open);
  byId("more").setAttribute("aria-expanded", String(open));
  byId("more").textContent = open ? "Fewer filters" : "More filters";
}
byId("more").addEventListener("click", () => unfold(!form.classList.contains("open")));
unfold(isFolded(new URLSearchParams(location.search)));
byId("clear").addEventListener("click", () => {
  form.elements.kind.value = "q";
  go(new URLSearchParams());
  form.elements.word.focus();
});

// "/" goes to the field, as in other lists.
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  event.preventDefault();
  form.elements.word.focus();
  form.elements.word.select();
});
addEventListener("popstate", open);
open();
showUser();
