// The page of the audit log, newest first.

import { byId, h } from "../dom.js";
import { date, idWords, words } from "../format.js";
import { paging, skeleton, time } from "../parts.js";
import { showUser } from "../user.js";
import { send } from "./manage.js";
import { readList } from "./readlist.js";
import { drawSettingsNav } from "./settingsnav.js";
import { scrolledTable } from "./table.js";

const names = ["actor", "action", "app"];
const query = new URLSearchParams(location.search);
const form = byId("filters");

/** Actions of the log in words. Others are shown by their own name. */
const actions = {
  signIn: "Signed in", signInFailed: "Sign-in failed", signOut: "Signed out", password: "Changed the password",
  readConference: "Read a conference", search: "Searched", readUnattached: "Read unattached annotations", changeApp: "Changed an app", changeUser: "Changed a user",
  changeToken: "Changed an API token", refused: "Was refused",
};

const actionWord = (action) => actions[action] ?? words(action);

/** A value of an entry for people. */
function valueText(value) {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (value && typeof value === "object") return Object.entries(value).map(([name, inner]) => `${name} ${valueText(inner)}`).join("; ");
  return { true: "yes", false: "no" }[value] ?? String(value);
}

/** Members of an entry, as "name: value". */
const details = (body) => Object.entries(body ?? {}).map(([name, value]) => h("span", { class: "detail" }, `${idWords(name)}: ${valueText(value)}`));

/** Who acted. A user of an identity provider has a name for people beside that of the log. */
const actor = (e) => (e.actorName ? [e.actorName, h("span", { class: "sub" }, e.actor)] : e.actor || h("span", { class: "muted" }, "unknown"));

const row = (e) => h("tr", { "data-testid": "entry", "data-action": e.action },
  h("td", { class: "when" }, time(Date.parse(e.at), date(Date.parse(e.at)))), h("td", {}, actor(e)), h("td", {}, actionWord(e.action)),
  h("td", {}, e.app || ""), h("td", { class: "target" }, e.targetHidden ? h("span", { class: "muted", title: "Search terms may be names of users. They are shown to administrators who have the role support, too." }, "not shown to you") : e.target || ""),
  h("td", {}, details(e.details)));

const table = (entries) => scrolledTable("audit entries, newest first", ["Time", "Who", "What", "App", "Target", "Details"], entries.map(row));

const empty = () => h("div", { class: "empty", "data-testid": "empty" }, h("h2", {}, "No entries"),
  h("p", {}, names.some((name) => query.get(name)) ? "No entry fits this filter." : "Nothing was recorded yet."), h("p", { class: "choices" }, h("a", { class: "button", href: "?" }, "Show all")));

function load() {
  byId("list").replaceChildren(skeleton(6));
  byId("alert").replaceChildren();
  return readList(async (list) => {
    const { entries, next } = await send("GET", "api/v1/audit", { query: Object.fromEntries([...names, "before"].map((name) => [name, query.get(name)])) });
    list.replaceChildren(entries.length > 0 ? table(entries) : empty());
    byId("paging").replaceChildren(...paging(query, next, { place: "before" }));
  }, load);
}

form.elements.action.append(...Object.entries(actions).map(([value, word]) => h("option", { value }, word)));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const next = new URLSearchParams();
  for (const name of names) if (form.elements[name].value) next.set(name, form.elements[name].value);
  location.search = String(next);
});
for (const name of names) form.elements[name].value = query.get(name) ?? "";
byId("clear").hidden = !names.some((name) => query.get(name));
showUser().then(drawSettingsNav);
load();
