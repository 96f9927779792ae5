// The page of the overview: a day, and the same day a week before.

import { ask } from "./api.js";
import { drawTables, drawTiles } from "./counts.js";
import { byId, drawOnChange, h } from "./dom.js";
import { clock, plural } from "./format.js";
import { drawHours } from "./hourchart.js";
import { notice, skeleton } from "./parts.js";
import { kindOf, periodOf, spanText, weekBefore } from "./period.js";
import { showUser } from "./user.js";

const refreshMs = 60_000;
const form = byId("choose");
const { elements } = form;
const query = () => new URLSearchParams(location.search);
let timer = 0;
let abort = new AbortController();

function empty(o) {
  const one = query().get("app");
  return h("div", { class: "card empty", "data-testid": "empty" }, h("h2", {}, "No conferences"),
    h("p", {}, one ? `The app ${one} had none in this time, and none a week before.` : "There were none in this time, and none a week before.", o.live > 0 && ` ${plural(o.live, "conference is", "conferences are")} live now.`),
    h("a", { class: "button", href: "search" }, "All conferences"));
}

/** The apps to choose from, with the one that is chosen. */
function drawApps(apps) {
  const chosen = query().get("app") ?? "";
  const all = [...new Set([...apps, ...(chosen ? [chosen] : [])])].sort();
  drawOnChange(elements.app, all, () => [h("option", { value: "" }, "All"), ...all.map((value) => h("option", { value }, value))]);
  elements.app.value = chosen;
}

function draw(o) {
  const shown = { from: o.from, to: o.to, app: query().get("app") ?? "" };
  const hours = byId("hours") ?? h("figure", { id: "hours", class: "card hours" });
  drawApps(o.apps);
  byId("against").textContent = `${spanText(o.from, o.to)}, beside ${spanText(o.baselineFrom, o.baselineTo)}`;
  byId("status").textContent = `Updated ${clock(Date.now())}`;
  if (o.current.conferences === 0 && o.baseline.conferences === 0) {
    drawOnChange(byId("overview"), ["none", shown.app, o.live], () => empty(o));
    return;
  }
  if (!drawOnChange(byId("overview"), [o.current, o.baseline, o.live, shown, o.points], () => [drawTiles(o, shown), hours, drawTables(o, shown)])) return;
  const open = hours.querySelector("details")?.open;
  drawHours(hours, o);
  if (open) hours.querySelector("details").open = true;
}

async function load() {
  clearTimeout(timer);
  const mine = abort;
  try {
    const { from, to } = periodOf(query().get("day"), Date.now());
    const before = weekBefore({ from, to });
    const o = await ask("api/overview", { app: query().get("app"), from, to, "baseline.from": before.from, "baseline.to": before.to }, mine.signal);
    if (mine !== abort) return;
    drawOnChange(byId("alert"), null, () => []);
    draw(o);
  } catch (error) {
    if (error.name === "AbortError") return;
    const old = byId("overview").drawnFrom;
    drawOnChange(byId("alert"), error.message, () => notice(old ? `${error.message} What you see may be out of date.` : error.message, () => load()));
    if (!old) byId("overview").replaceChildren();
    if (!(error.status >= 0)) throw error;
  } finally {
    if (mine === abort) {
      byId("main").setAttribute("aria-busy", "false");
      if (!document.hidden) timer = setTimeout(load, refreshMs);
    }
  }
}

/** Writes what the address says into the form. */
function fillForm() {
  const day = query().get("day");
  const kind = kindOf(day);
  elements.day.value = kind;
  elements.date.value = kind === "date" ? day : "";
  byId("date").hidden = kind !== "date";
  drawApps([...elements.app.options].map((one) => one.value).filter(Boolean));
}

/** Shows what the address says. */
function open() {
  abort.abort();
  abort = new AbortController();
  fillForm();
  byId("overview").drawnFrom = undefined;
  byId("overview").replaceChildren(h("div", { class: "card" }, skeleton(8)));
  byId("main").setAttribute("aria-busy", "true");
  load();
}

function go() {
  const next = new URLSearchParams();
  const day = elements.day.value === "date" ? elements.date.value : elements.day.value;
  if (day) next.set("day", day);
  if (elements.app.value) next.set("app", elements.app.value);
  history.pushState(null, "", String(next) ? `?${next}` : location.pathname);
  open();
}

form.addEventListener("submit", (event) => event.preventDefault());
elements.app.addEventListener("change", go);
elements.date.addEventListener("change", () => elements.date.value && go());
elements.day.addEventListener("change", () => {
  if (elements.day.value !== "date" || elements.date.value) {
    go();
    return;
  }
  byId("date").hidden = false;
  elements.date.focus();
});
addEventListener("popstate", open);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else load();
});
open();
showUser();
