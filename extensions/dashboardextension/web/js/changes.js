// The page that compares a set of conferences with a baseline.

import { ask } from "./api.js";
import { baselineOf, baselines, completed, hasCondition, presets, shifted } from "./comparison.js";
import { byId, h } from "./dom.js";
import { drawFindings } from "./findings.js";
import { field, fillFields } from "./forms.js";
import { fromInput, plural, toInput } from "./format.js";
import { conditions, defining } from "./parameters.js";
import { notice, skeleton } from "./parts.js";
import { showUser } from "./user.js";

const form = byId("filters");
const { elements } = form;
const option = (value, text) => h("option", { value }, text);
const isTime = (name) => /(^|\.)(from|to)$/.test(name);
let abort = new AbortController();

/** "none" is no condition that a set may have. */
const without = ["none"];

fillFields(form, without);
const ownFields = [...elements].map(({ name }) => name).filter((name) => name.startsWith("baseline."));
const placed = defining.filter((name) => elements[name]);
const further = [...conditions, ...defining.filter((name) => !conditions.includes(name))].filter((name) => !placed.includes(name));
byId("further").lastElementChild.append(...further.map((name) => field(name, without)));

const current = () => new URLSearchParams(location.search);

/** Shows the fields and the text of a baseline. */
function showBaseline(kind) {
  for (const field of form.querySelectorAll("[data-against]")) {
    field.hidden = field.dataset.against !== kind;
    field.querySelector("input").required = !field.hidden;
  }
  byId("against-text").textContent = baselines[kind][1];
}

/** Writes what the address says into the form. */
function fillForm(query) {
  for (const name of [...defining, ...ownFields]) elements[name].value = isTime(name) ? toInput(query.get(name)) : query.get(name) ?? "";
  const kind = baselineOf(query);
  elements.against.replaceChildren(...Object.entries(baselines).filter(([name]) => name !== "other" || kind === "other").map(([name, [word]]) => option(name, word)));
  elements.against.value = kind;
  showBaseline(kind);
  if (further.some((name) => query.get(name))) byId("further").open = true;
}

const readField = (name, before) => (isTime(name) ? fromInput(elements[name].value, before.get(name)) : elements[name].value.trim());

/** The address that the form says. */
function readForm(before) {
  const query = new URLSearchParams();
  const set = (name) => {
    const value = readField(name, before);
    if (value) query.set(name, value);
  };
  for (const name of defining) set(name);
  const kind = elements.against.value;
  if (kind === "other") for (const [name, value] of before) if (name.startsWith("baseline.")) query.set(name, value);
  if (kind === "previous" || kind === "week") for (const [name, value] of Object.entries(shifted(query, kind))) query.set(`baseline.${name}`, value);
  if (kind === "time") for (const name of ["from", "to"]) set(`baseline.${name}`);
  if (kind === "version" || kind === "site") set(`baseline.${kind}`);
  return query;
}

async function compare(query) {
  abort.abort();
  abort = new AbortController();
  const mine = abort;
  byId("alert").replaceChildren();
  byId("result").setAttribute("aria-busy", "true");
  byId("result").replaceChildren(h("div", { class: "card" }, skeleton(6)));
  byId("status").textContent = "Comparing …";
  try {
    const answer = await ask("api/contrast", query, mine.signal);
    byId("result").replaceChildren(...drawFindings(answer, hasCondition(query)));
    byId("status").textContent = plural(answer.findings.length, "finding");
  } catch (error) {
    if (mine !== abort) return;
    byId("result").replaceChildren();
    byId("status").textContent = "";
    byId("alert").replaceChildren(notice(error.message, error.status === 400 ? undefined : () => compare(query)));
  } finally {
    if (mine === abort) byId("result").setAttribute("aria-busy", "false");
  }
}

/** Shows what the address says, which is completed so that it can be shared. */
function open() {
  const query = completed(current(), Date.now());
  if (String(query) !== String(current())) history.replaceState(null, "", `?${query}`);
  fillForm(query);
  compare(query);
}

function go() {
  history.pushState(null, "", `?${readForm(current())}`);
  open();
}

byId("presets").append(...presets.map(([word, length]) => h("button", { type: "button", class: "chip", onclick: () => {
  const now = Date.now();
  history.replaceState(null, "", `?${readForm(current())}`);
  const query = current();
  const kind = baselineOf(query);
  query.set("from", String(now - length));
  query.set("to", String(now));
  if (kind === "previous" || kind === "week") for (const [name, value] of Object.entries(shifted(query, kind))) query.set(`baseline.${name}`, value);
  history.pushState(null, "", `?${query}`);
  open();
} }, word)));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  go();
});
elements.against.addEventListener("change", () => {
  showBaseline(elements.against.value);
  const empty = [...form.querySelectorAll("[data-against]:not([hidden]) input")].find((input) => !input.value);
  if (empty) empty.focus();
  else go();
});
for (const name of ["outcome", "quality", "cause", "issue"]) elements[name].addEventListener("change", go);
addEventListener("popstate", open);
open();
showUser();
