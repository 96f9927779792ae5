// The page of the apps that an administrator manages.

import { root } from "../api.js";
import { byId, h } from "../dom.js";
import { date, plural } from "../format.js";
import { paging, skeleton, time } from "../parts.js";
import { showUser } from "../user.js";
import { formDialog } from "./dialog.js";
import { Draft } from "./draft.js";
import { textField, trimmedField } from "./fields.js";
import { appPath, Problem, send } from "./manage.js";
import { perform } from "./perform.js";
import { readList } from "./readlist.js";
import { drawSettingsNav } from "./settingsnav.js";
import { listTable } from "./table.js";

const query = new URLSearchParams(location.search);
const filter = byId("filters");

/** The page of an app. */
const appPage = (id) => new URL(`settings/app?${new URLSearchParams({ app: id })}`, root);

function state(app) {
  if (app.unreadable) return h("span", { class: "pill plain bad" }, "Unreadable");
  return [h("span", { class: `pill plain ${app.disabled ? "missed" : "success"}` }, app.disabled ? "Disabled" : "Enabled"), app.declared && h("span", { class: "sub" }, "in the configuration")];
}

const row = (app) => h("tr", { "data-testid": "app", "data-id": app.id },
  h("th", { scope: "row" }, h("a", { class: "name", href: appPage(app.id) }, app.name || app.id), app.name && h("span", { class: "sub mono" }, app.id)),
  h("td", {}, state(app)), h("td", {}, [plural(app.secrets, "secret"), plural(app.keys, "key")].join(", ")),
  h("td", {}, app.origins > 0 ? plural(app.origins, "origin") : h("span", { class: "muted" }, "all origins")),
  h("td", {}, app.changedAt && time(Date.parse(app.changedAt), date(Date.parse(app.changedAt)))));

function table(apps) {
  const all = listTable("Apps by ID", ["App", "State", "Signs in by", "Origins", "Changed"], apps.map(row));
  all.classList.add("apps");
  return all;
}

const empty = () => h("div", { class: "empty", "data-testid": "empty" }, query.get("filter")
  ? [h("h2", {}, "Nothing matches"), h("p", {}, "No app has ", h("b", {}, query.get("filter")), " in its ID or name."), h("p", { class: "choices" }, h("a", { class: "button", href: new URL("settings", root) }, "Show all apps"))]
  : [h("h2", {}, "No apps"), h("p", {}, "An app is an application whose calls are monitored. Make the first one.")]);

const noAPI = "This dashboard does not serve the management API: set apps of the dashboard extension in the collector's configuration.";

function load() {
  byId("list").replaceChildren(skeleton(4));
  return readList(async (list) => {
    const { apps, next } = await send("GET", "api/v1/apps", { query: { filter: query.get("filter"), after: query.get("after") } });
    list.replaceChildren(apps.length > 0 || next ? table(apps) : empty());
    byId("paging").replaceChildren(...paging(query, next, { place: "after", first: "First", on: "Next" }));
  }, load, noAPI);
}

/** Asks for the ID and the name of a new app, makes it, and opens its page. */
async function create() {
  const id = trimmedField("id", "App ID", { hint: "The application's pages name it. It cannot be changed later." });
  const name = textField("name", "Name", { hint: "Optional. Shown on these pages." });
  const draft = new Draft([id, name], {});
  const area = h("div", { class: "answer" });
  const submit = (again) => perform(area, draft, async () => {
    for (const field of draft.fields) field.clear();
    if (!id.get()) throw Object.assign(new Problem("It must have at least one character.", 422), { field: "id" });
    try {
      await send("PUT", appPath(id.get()), { create: true, body: { name: name.get() } });
    } catch (error) {
      const text = { 412: "An app of this ID exists already.", 409: error.message, 404: "This ID is not in your scope: an administrator of all apps can add it." }[error.status];
      throw text ? Object.assign(new Problem(text, error.status), { field: "id" }) : error;
    }
  }, again);
  if (await formDialog({ title: "New app", content: [id.element, name.element, area], action: "Make the app", submit })) location.assign(appPage(id.get()));
}

filter.elements.filter.value = query.get("filter") ?? "";
byId("clear").hidden = !query.get("filter");
byId("new").addEventListener("click", create);
showUser().then(drawSettingsNav);
load();
