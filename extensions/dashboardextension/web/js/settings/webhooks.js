// The webhooks of an app: where its notifications are sent, a test, and the log of deliveries.

import { drawOnChange, h } from "../dom.js";
import { date } from "../format.js";
import { deliveries, testResult } from "./deliveries.js";
import { confirm, formDialog, showSecrets } from "./dialog.js";
import { bodyOf } from "./appfields.js";
import { Draft } from "./draft.js";
import { choiceField, trimmedField } from "./fields.js";
import { appPath, Problem, send } from "./manage.js";
import { actionButton, perform } from "./perform.js";

const formats = [["", "native (JSON, signed)"], ["slack", "Slack"], ["teams", "Microsoft Teams"], ["pagerduty", "PagerDuty"]];

const onceText = "This secret is shown once. The receiver verifies signatures with it.";

/** Replaces the webhooks of the app as it is now by those that `change` makes of them. */
async function replace(page, change) {
  const next = await page.shared.change((doc) => send("PUT", appPath(page.id), { revision: doc.revision, body: { ...bodyOf(doc), webhooks: change(bodyOf(doc).webhooks) } }));
  page.shared.take(next);
  return next.webhookSecrets ?? [];
}

/** Asks for a webhook's members; `hook` is the one that is edited, none for a new one. */
async function edit(page, hook) {
  const id = trimmedField("id", "ID", { max: 128, hint: "Letters, digits and - _ . ~ : — it names the webhook in the log." });
  const url = trimmedField("url", "URL", { max: 2048, type: "url", placeholder: "https://alerts.example.org/qos" });
  const format = choiceField("format", "Format", formats);
  const draft = new Draft([id, url, format], hook ?? {});
  id.control.readOnly = Boolean(hook);
  if (draft.doc.format === "native") format.set("");
  const area = h("div", { class: "answer" });
  let secrets = [];
  const change = (webhooks) => {
    const entry = { id: id.get(), url: url.get(), format: format.get() };
    if (!hook) return [...webhooks, entry];
    if (!webhooks.some((one) => one.id === hook.id)) throw new Problem("This webhook was removed meanwhile.", 404);
    return webhooks.map((one) => (one.id === hook.id ? entry : one));
  };
  const submit = (again) => perform(area, draft, async () => {
    for (const field of draft.fields) field.clear();
    try {
      secrets = await replace(page, change);
    } catch (error) {
      if (error.field) error.field = error.field.replace(/^webhooks\[\d+\]\./, "");
      throw error;
    }
  }, again);
  const title = hook ? `Webhook ${hook.id}` : "New webhook";
  const content = [...draft.fields.map((field) => field.element), area];
  if (!(await formDialog({ title, content, action: hook ? "Save" : "Add the webhook", submit }))) return;
  if (secrets.length > 0) await showSecrets("Secret of the webhook", onceText, secrets.map(({ id: name, secret }) => ({ name: `Webhook ${name}`, secret })));
}

async function rotate(page, hook, area) {
  const text = `Notifications are signed by the new and the present secret for 24 hours.`;
  if (!(await confirm({ title: `New secret for webhook ${hook.id}?`, text, action: "Make the secret" }))) return;
  let made;
  const done = await perform(area, page.shared.draft, async () => {
    made = await page.shared.change(({ revision }) => send("POST", appPath(page.id, "webhooks", hook.id, "secret"), { revision, body: {} }));
    await page.shared.refresh();
    return "The secret was replaced.";
  });
  if (done) await showSecrets("Secret of the webhook", onceText, [{ name: `Webhook ${hook.id}`, secret: made.secret }]);
}

async function remove(page, hook, area) {
  const text = `No more notifications are sent to ${hook.url}. Its secret is deleted, too.`;
  if (!(await confirm({ title: `Delete webhook ${hook.id}?`, text, action: "Delete", type: hook.id }))) return;
  await perform(area, page.shared.draft, async () => {
    await replace(page, (webhooks) => webhooks.filter((one) => one.id !== hook.id));
    return "Deleted.";
  });
}

function card(page, hook) {
  const result = h("div", { class: "answer" });
  const log = deliveries(page.id, hook.id);
  const test = () => perform(result, page.shared.draft, () => testResult(page.id, hook.id, log));
  return h("li", { class: "hook", "data-testid": "webhook", "data-key": `webhook ${hook.id}` },
    h("div", { class: "hook-head" }, h("h3", { class: "mono" }, hook.id), h("p", { class: "hook-url" }, hook.url),
      h("p", { class: "muted small" }, formats.find(([value]) => value === (hook.format === "native" ? "" : hook.format ?? ""))?.[1] ?? hook.format,
        hook.previousUntil && Date.parse(hook.previousUntil) > Date.now() && ` · the former secret signs too until ${date(Date.parse(hook.previousUntil))}`)),
    h("div", { class: "row-actions" }, actionButton("Send a test", test, { "data-testid": "test", "aria-label": `Send a test to webhook ${hook.id}` }),
      !page.readOnly && [
        actionButton("Edit", () => edit(page, hook), { "data-testid": "edit", "aria-label": `Edit webhook ${hook.id}` }),
        actionButton("New secret", () => rotate(page, hook, page.hookArea), { "data-testid": "rotate", "aria-label": `New secret for webhook ${hook.id}` }),
        actionButton("Delete", () => remove(page, hook, page.hookArea), { class: "danger", "data-testid": "delete", "aria-label": `Delete webhook ${hook.id}` }),
      ]),
    result, log.element);
}

/** The webhooks of an app, drawn into a section. */
export function drawWebhooks(page, el) {
  page.hookArea ??= h("div", { class: "answer" });
  const { webhooks } = page.shared.doc;
  drawOnChange(el, webhooks, () => [
    webhooks.length > 0 ? h("ul", { class: "hooks" }, webhooks.map((hook) => card(page, hook))) : h("p", { class: "muted" }, "None. Nobody is notified about this app."),
    page.hookArea,
    !page.readOnly && h("div", { class: "actions" }, actionButton("New webhook", () => edit(page), { "data-testid": "add-webhook" })),
  ]);
}
