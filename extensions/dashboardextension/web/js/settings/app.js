// The page of one app's settings. Each part saves its own fields.

import { root } from "../api.js";
import { byId, drawOnChange, h } from "../dom.js";
import { bytes, date } from "../format.js";
import { notice, skeleton } from "../parts.js";
import { showUser } from "../user.js";
import { appFields, bodyOf, flat } from "./appfields.js";
import { drawKeys, drawSecrets, secretState } from "./credentials.js";
import { showSecrets } from "./dialog.js";
import { Draft } from "./draft.js";
import { appPath, send } from "./manage.js";
import { fieldsForm, Shared } from "./perform.js";
import { drawRequests } from "./requests.js";
import { drawDelete, drawSessions } from "./sessions.js";
import { drawSettingsNav } from "./settingsnav.js";
import { drawWebhooks } from "./webhooks.js";

const id = new URLSearchParams(location.search).get("app") ?? "";
const page = { id };

/** What another administrator may have changed beside the fields. */
const lists = [
  { name: "Secret", of: (doc) => doc.secrets, id: (one) => one.id, text: secretState },
  { name: "Key", of: (doc) => doc.keys, id: (one) => one.keyID, text: (one) => (one.disabled ? "switched off" : "valid") },
  { name: "Webhook", of: (doc) => doc.webhooks, id: (one) => one.id, text: (one) => [one.url, one.format].filter(Boolean).join(", ") },
  { name: "All sessions", of: (doc) => [doc.revokedBefore].filter(Boolean), id: () => "", text: (at) => `ended before ${date(Date.parse(at))}` },
  { name: "Sessions of", of: (doc) => Object.entries(doc.revokedUsers ?? {}), id: ([user]) => user, text: ([, at]) => `ended before ${date(Date.parse(at))}` },
];

const fields = appFields();
const { all, rules } = flat(fields);

async function save(some) {
  const body = bodyOf(page.shared.draft.with(some));
  const next = await page.shared.change(({ revision }) => send("PUT", appPath(id), { revision, body }));
  page.shared.take(next, some);
  if (next.webhookSecrets) await showSecrets("Secrets of webhooks", "These secrets are shown once.", next.webhookSecrets.map((one) => ({ name: `Webhook ${one.id}`, secret: one.secret })));
}

const part = (name, title, ...children) => h("section", { class: "card part", id: name, "aria-labelledby": `${name}-title` }, h("h2", { id: `${name}-title` }, title), children);

const form = (name, some, content) => fieldsForm({ shared: page.shared, fields: some, content, save, readOnly: page.readOnly, testid: `${name}-form` });

const group = (name, some, hidden) => h("fieldset", { class: "grid" }, h("legend", { class: hidden ? "visually-hidden" : null }, name), some.map((field) => field.element));

/** The conditions of notifications, a group for all reasons and one for each. */
const conditions = () => [
  h("p", { class: "muted" }, "When the app's webhooks are notified. A blank field has the value of the collector's configuration."),
  group("All reasons", fields.windows),
  fields.reasons.map(({ name, fields: some }) => h("details", { class: "reason", open: some.some((field) => page.shared.draft.field(field.path).of(page.shared.doc) !== null) }, h("summary", {}, name), group(name, some, true))),
];

const empty = () => h("div", { class: "drawn" });

/** Makes the parts of the page and returns how the parts beside the fields are drawn. */
function build() {
  const drawn = { secrets: empty(), keys: empty(), webhooks: empty(), sessions: empty(), requests: empty(), remove: empty() };
  const parts = [
    part("general", "General", form("general", fields.general)),
    part("secrets", "Secrets", h("p", { class: "muted" }, "An AppSecret admits the clients of an application that has no server of its own."), drawn.secrets),
    part("keys", "Keys", h("p", { class: "muted" }, "A key verifies the tokens that the application's own server signs."), drawn.keys),
    part("origins", "Origins", form("origins", fields.origins)),
    part("measuring", "Measurement, privacy and limits", form("measuring", fields.measuring, [
      fields.measuring.slice(0, 4).map((field) => field.element), group("Limits", fields.measuring.slice(4)),
    ])),
    part("configuration", "Default configuration", form("configuration", fields.configuration)),
    part("webhooks", "Webhooks", drawn.webhooks),
    part("conditions", "Conditions of notifications", form("conditions", rules, conditions())),
    part("sessions", "Sessions", drawn.sessions),
    part("requests", "Personal data", drawn.requests),
    !page.readOnly && part("delete", "Delete", drawn.remove),
  ].filter(Boolean);
  byId("parts").replaceChildren(...parts);
  byId("contents").replaceChildren(...parts.map((one) => h("li", {}, h("a", { href: `#${one.id}` }, one.querySelector("h2").textContent))));
  return () => {
    drawSecrets(page, drawn.secrets);
    drawKeys(page, drawn.keys);
    drawWebhooks(page, drawn.webhooks);
    drawSessions(page, drawn.sessions);
    drawRequests(page, drawn.requests);
    if (!page.readOnly) drawDelete(page, drawn.remove);
  };
}

const mib = 1 << 20;

function head(doc) {
  document.title = `${doc.name || doc.id} · Settings · qos`;
  drawOnChange(byId("head"), [doc.name, doc.id, doc.disabled, doc.declared, doc.changedAt, doc.bytesToday, doc.limits.dailyMiB], () => [
    h("p", { class: "crumbs" }, h("a", { href: new URL("settings", root) }, "Apps"), " / ", h("span", { class: "mono" }, doc.id)),
    h("h1", {}, doc.name || doc.id, " ", h("span", { class: `pill plain ${doc.disabled ? "missed" : "success"}`, "data-testid": "enabled" }, doc.disabled ? "Disabled" : "Enabled")),
    doc.changedAt && h("p", { class: "muted small" }, `Last changed ${date(Date.parse(doc.changedAt))}`),
    doc.limits.dailyMiB && h("p", { class: "muted small", "data-testid": "today" }, `${bytes(doc.bytesToday ?? 0)} of ${bytes(doc.limits.dailyMiB * mib)} a day used since midnight UTC`),
    doc.declared && h("div", { class: "notice", "data-testid": "declared" }, h("p", {}, "The collector's configuration declares this app, so it cannot be changed here. Change it in the configuration file.")),
  ]);
}

async function load() {
  byId("head").replaceChildren(skeleton(3));
  let doc;
  try {
    doc = await send("GET", appPath(id));
  } catch (error) {
    if (!(error.status >= 0)) throw error;
    byId("head").replaceChildren(h("p", { class: "crumbs" }, h("a", { href: new URL("settings", root) }, "Apps")), h("h1", {}, id || "No app"),
      notice(error.status === 404 ? "There is no such app, or it is not in your scope." : error.message, error.status === 404 ? undefined : load));
    return;
  }
  byId("head").replaceChildren();
  page.readOnly = doc.declared;
  page.shared = new Shared({ draft: new Draft(all, doc), lists, read: () => send("GET", appPath(id)) });
  const draw = build();
  page.shared.draw = (next) => {
    head(next);
    draw();
  };
  page.shared.draw(doc);
  byId("layout").hidden = false;
  if (location.hash) document.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)?.scrollIntoView();
}

addEventListener("beforeunload", (event) => {
  if (page.shared?.draft.dirty && !page.deleted) event.preventDefault();
});
showUser().then(drawSettingsNav);
load();
