// The page of API tokens, with which programs read calls.

import { byId, h } from "../dom.js";
import { skeleton } from "../parts.js";
import { managesAll, showUser } from "../user.js";
import { when } from "./credentials.js";
import { confirm, formDialog, showSecrets } from "./dialog.js";
import { Draft } from "./draft.js";
import { numberField, trimmedField } from "./fields.js";
import { send } from "./manage.js";
import { actionButton, perform } from "./perform.js";
import { readList } from "./readlist.js";
import { order, rolesField, scopeFields, scopeOf, scopeText } from "./rights.js";
import { drawSettingsNav } from "./settingsnav.js";
import { scrolledTable } from "./table.js";

const area = byId("alert");
let all = false; // whether the administrator has all apps in scope
let roles = ["support", "engineering"]; // those that the administrator may give

async function create() {
  const name = trimmedField("name", "Name", { max: 40, hint: "What the token is for: lower case letters, digits and . _ -" });
  const scope = scopeFields();
  const days = numberField("expiresInDays", "Expires in", { unit: "days", min: 1, max: 366, step: 1 });
  const fields = [name, rolesField(roles), ...scope.fields, days];
  const draft = new Draft(fields, { roles: roles.slice(-1), scope: { all }, expiresInDays: 90 });
  scope.show();
  const answer = h("div", { class: "answer" });
  let made;
  const submit = (again) => perform(answer, draft, async () => {
    const doc = draft.with(fields);
    const body = { name: name.get(), roles: doc.roles ?? [], scope: scopeOf(doc), expiresInDays: doc.expiresInDays };
    try {
      made = await send("POST", "api/v1/tokens", { body });
    } catch (error) {
      throw error.status === 409 ? Object.assign(error, { field: "name" }) : error;
    }
  }, again);
  if (!(await formDialog({ title: "New API token", content: [...fields.map((field) => field.element), answer], action: "Make the token", submit }))) return;
  await showSecrets(`API token ${made.name}`, "This token is shown once. Send it in the header Authorization: Bearer.", [{ name: "Token", secret: made.token }]);
  await load();
}

async function revoke(token) {
  const text = "Programs that use the token are refused from now on, by every collector.";
  if (!(await confirm({ title: `Revoke the API token ${token.name}?`, text, action: "Revoke the token" }))) return;
  await perform(area, undefined, async () => {
    await send("DELETE", `api/v1/tokens/${encodeURIComponent(token.name)}`);
    return `API token ${token.name} was revoked.`;
  });
  await load();
}

const states = { valid: ["success", "Valid"], expired: ["missed", "Expired"], maker: ["missed", "Maker has no right"] };

function row(token) {
  const [look, word] = states[token.state] ?? ["missed", token.state];
  return h("tr", { "data-testid": "token", "data-name": token.name },
    h("th", { scope: "row" }, token.name, h("span", { class: "sub" }, `by ${token.maker}`)), h("td", {}, order(token.roles).join(", ")), h("td", {}, scopeText(token.scope)),
    h("td", {}, h("span", { class: `pill plain ${look}`, "data-testid": "state" }, word)), h("td", {}, when(token.expiresAt)), h("td", {}, when(token.usedAt, "never")),
    h("td", { class: "row-actions" }, actionButton("Revoke", () => revoke(token), { class: "danger", "data-testid": "revoke", "aria-label": `Revoke ${token.name}` })));
}

const empty = () => h("div", { class: "empty", "data-testid": "empty" }, h("h2", {}, "No API tokens"), h("p", {}, "A program reads calls with an API token, with the rights that the token has."),
  roles.length === 0 && h("p", {}, "You can make none: an administrator of some apps gives a token only their own roles, and you do not have support or engineering."));

const load = () => readList(async (list) => {
  const { tokens } = await send("GET", "api/v1/tokens");
  list.replaceChildren(tokens.length > 0 ? scrolledTable("API tokens", ["Name", "Roles", "Scope", "State", "Expires", "Last use", ""], tokens.map(row)) : empty());
}, load);

byId("new").addEventListener("click", create);
byId("list").append(skeleton(4));
const session = await showUser();
all = managesAll(session);
if (!all) roles = roles.filter((role) => session.roles?.includes(role));
byId("new").hidden = roles.length === 0;
drawSettingsNav(session);
await load();
