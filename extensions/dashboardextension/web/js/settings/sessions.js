// Ends the sessions of an app's clients, and deletes the app.

import { drawOnChange, h } from "../dom.js";
import { date } from "../format.js";
import { root } from "../api.js";
import { when } from "./credentials.js";
import { confirm } from "./dialog.js";
import { Draft } from "./draft.js";
import { required, trimmedField } from "./fields.js";
import { appPath, send } from "./manage.js";
import { actionButton, perform } from "./perform.js";

const revoke = (page, body) => page.shared.change(({ revision }) => send("POST", appPath(page.id, "revoke"), { revision, body }));

async function revokeAll(page, area) {
  const text = "All clients of this app must sign in again: session tokens and third-party tokens that were issued before now are refused.";
  if (!(await confirm({ title: "End all sessions?", text, action: "End all sessions", type: page.id }))) return;
  await perform(area, page.shared.draft, async () => {
    page.shared.take(await revoke(page, { all: true }));
    return "All sessions were ended.";
  });
}

function userForm(page, area) {
  const field = trimmedField("user", "One user", { hint: "userName or aliasName, as the application names the user." });
  const draft = new Draft([field], {});
  const submit = async (event) => {
    event.preventDefault();
    const user = required(field, "a user's name");
    if (!user) return;
    if (!(await confirm({ title: `End the sessions of ${user}?`, text: "The user must sign in again. Tokens that were issued before now are refused.", action: "End the sessions" }))) return;
    const done = await perform(area, draft, async () => {
      page.shared.take(await revoke(page, { user }));
      return `The sessions of ${user} were ended.`;
    });
    if (done) field.set("");
  };
  return h("form", { novalidate: true, onsubmit: submit, class: "user-sessions", "data-testid": "revoke-user" }, field.element, h("button", { type: "submit" }, "End the user's sessions"));
}

/** The revocations of an app and the buttons that make them, drawn into a section. */
export function drawSessions(page, el) {
  page.sessionArea ??= h("div", { class: "answer" });
  const { revokedBefore, revokedUsers } = page.shared.doc;
  drawOnChange(el, [revokedBefore, revokedUsers], () => [
    h("p", {}, "All sessions that began before: ", when(revokedBefore, "none was ended")),
    revokedUsers && h("details", { "data-key": "revoked" }, h("summary", {}, `Users whose sessions were ended (${Object.keys(revokedUsers).length})`),
      h("ul", {}, Object.entries(revokedUsers).map(([user, at]) => h("li", {}, h("b", {}, user), ` before ${date(Date.parse(at))}`)))),
    page.sessionArea,
    !page.readOnly && [userForm(page, page.sessionArea), h("div", { class: "actions" }, actionButton("End all sessions", () => revokeAll(page, page.sessionArea), { class: "danger", "data-testid": "revoke-all" }))],
  ]);
}

/** The button that deletes an app, drawn into a section. */
export function drawDelete(page, el) {
  page.deleteArea ??= h("div", { class: "answer" });
  const remove = async () => {
    const text = "Its clients are refused from now on. Its secrets, keys and webhooks are deleted. Stored conferences stay until their retention ends.";
    if (!(await confirm({ title: "Delete this app?", text, action: "Delete the app", type: page.id }))) return;
    const done = await perform(page.deleteArea, page.shared.draft, async () => {
      await page.shared.change(({ revision }) => send("DELETE", appPath(page.id), { revision }));
      return "Deleted.";
    });
    if (!done) return;
    page.deleted = true;
    location.assign(new URL("settings", root));
  };
  drawOnChange(el, "delete", () => [
    h("p", {}, "The app's clients are refused, and its secrets, keys and webhooks are deleted."), page.deleteArea,
    h("div", { class: "actions" }, actionButton("Delete this app", remove, { class: "danger", "data-testid": "delete-app" })),
  ]);
}
