// The page of the users of the dashboard.

import { byId, h } from "../dom.js";
import { paging, skeleton } from "../parts.js";
import { showUser } from "../user.js";
import { when } from "./credentials.js";
import { confirm, formDialog, showSecrets } from "./dialog.js";
import { Draft } from "./draft.js";
import { checkField, trimmedField } from "./fields.js";
import { Problem, send, userPath } from "./manage.js";
import { actionButton, perform, Shared } from "./perform.js";
import { readList } from "./readlist.js";
import { order, rolesField, scopeFields, scopeOf, scopeText } from "./rights.js";
import { drawSettingsNav } from "./settingsnav.js";
import { scrolledTable } from "./table.js";

const query = new URLSearchParams(location.search);
const area = byId("alert");

/** The fields of a user's rights. */
function rightsFields() {
  const scope = scopeFields();
  return { fields: [rolesField(), ...scope.fields, checkField("disabled", "Disabled", { hint: "The user cannot sign in, and present logins end." })], show: scope.show };
}

/** Makes a field read-only. */
function lock(field) {
  for (const control of [field.control, ...field.control.querySelectorAll("input")]) control.disabled = true;
}

const ordered = (user) => ({ ...user, roles: order(user.roles) });

const rightsOf = (doc) => ({ roles: doc.roles ?? [], scope: scopeOf(doc), disabled: Boolean(doc.disabled) });

const showPassword = ({ name, password }) => showSecrets(`Password of ${name}`, "This password is shown once. The user must change it at the first sign-in.", [{ name: "Password", secret: password }]);

/** The name of a user for people. That of a user of an identity provider is stored under another one. */
const shownName = (user) => user.identity?.name || user.name;

async function edit(user) {
  const { fields, show } = rightsFields();
  if (user.identity) for (const field of fields.slice(0, -1)) lock(field);
  const draft = new Draft(fields, user);
  const shared = new Shared({ draft, read: async () => ordered(await send("GET", userPath(user.name))), draw: show });
  show();
  const answer = h("div", { class: "answer" });
  const submit = (again) => perform(answer, draft, async () => {
    const body = rightsOf(draft.with(fields));
    await shared.change(({ revision }) => send("PUT", userPath(user.name), { revision, body }));
  }, again);
  const content = [user.identity && h("p", {}, `Roles and scope are those that the identity provider ${user.identity.issuer} decides at each sign-in.`), ...fields.map((field) => field.element), answer];
  if (await formDialog({ title: `User ${shownName(user)}`, content, action: "Save", submit })) await change(() => {});
}

async function create() {
  const name = trimmedField("user", "Name", { max: 64, hint: "Lower case letters, digits and . _ @ + -" });
  const { fields, show } = rightsFields();
  const draft = new Draft([name, ...fields], { roles: ["engineering"], scope: { all: true }, disabled: false });
  show();
  const answer = h("div", { class: "answer" });
  let made;
  const submit = (again) => perform(answer, draft, async () => {
    const body = rightsOf(draft.with(fields));
    name.clear();
    if (!name.get()) throw Object.assign(new Problem("It must have at least one character.", 422), { field: "user" });
    try {
      made = await send("PUT", userPath(name.get()), { create: true, body });
    } catch (error) {
      throw error.status === 412 ? Object.assign(new Problem("A user of this name exists already.", 422), { field: "user" }) : error;
    }
  }, again);
  const content = [name.element, ...fields.map((field) => field.element), answer];
  if (!(await formDialog({ title: "New user", content, action: "Make the user", submit }))) return;
  await change(() => showPassword(made));
}

/** Runs a change and reads the list after it. Meanwhile nothing else can be changed: the rows have the revisions from before. */
async function change(work) {
  const places = [byId("list"), byId("new")];
  for (const place of places) place.inert = true;
  try {
    await work();
    await load();
  } finally {
    for (const place of places) place.inert = false;
  }
}

/** What can be done to a user beside the rights, each after a question. */
const acts = {
  async password(user) {
    const text = "The present password and all logins of the user end. The new password is shown once.";
    if (!(await confirm({ title: `New password for ${user.name}?`, text, action: "Make the password" }))) return;
    await change(async () => {
      let made;
      if (await perform(area, undefined, async () => {
        made = await send("POST", userPath(user.name, "password"), { body: {} });
        return "The password was replaced.";
      })) await showPassword(made);
    });
  },
  async signout(user) {
    if (!(await confirm({ title: `Sign ${shownName(user)} out?`, text: "All logins of the user end.", action: "Sign out" }))) return;
    await change(() => perform(area, undefined, async () => {
      await send("POST", userPath(user.name, "signout"), { body: {} });
      return `All logins of ${shownName(user)} were ended.`;
    }));
  },
  async remove(user) {
    if (!(await confirm({ title: `Delete user ${shownName(user)}?`, text: "All logins of the user end. Entries of the audit log stay.", action: "Delete the user", type: user.name }))) return;
    await change(() => perform(area, undefined, async () => {
      try {
        await send("DELETE", userPath(user.name), { revision: user.revision });
      } catch (error) {
        throw error.status === 412 ? new Problem("The user was changed meanwhile. See the present rights below, then delete again.", 412) : error;
      }
      return `User ${shownName(user)} was deleted.`;
    }));
  },
};

function row(user, me) {
  const label = (text) => ({ "aria-label": `${text} ${shownName(user)}` });
  const state = user.disabled ? ["missed", "Disabled"] : user.mustChange ? ["fair", "Must change password"] : ["success", "Enabled"];
  return h("tr", { "data-testid": "user", "data-name": user.name },
    h("th", { scope: "row" }, shownName(user), user.identity && h("span", { class: "sub" }, `${user.name} at ${user.identity.issuer}`), user.name === me && h("span", { class: "sub" }, "you")), h("td", {}, user.roles.join(", ")), h("td", {}, scopeText(user.scope)),
    h("td", {}, h("span", { class: `pill plain ${state[0]}`, "data-testid": "state" }, state[1])), h("td", {}, when(user.passwordAt, "none")),
    h("td", { class: "row-actions" },
      actionButton("Edit", () => edit(user), { "data-testid": "edit", ...label("Edit") }),
      !user.identity && actionButton("New password", () => acts.password(user), { "data-testid": "reset", ...label("New password for") }),
      actionButton("Sign out", () => acts.signout(user), { "data-testid": "sign-out", ...label("Sign out") }),
      actionButton("Delete", () => acts.remove(user), { class: "danger", "data-testid": "delete", ...label("Delete") })));
}

let me = "";

const load = () => readList(async (list) => {
  const { users, next } = await send("GET", "api/v1/users", { query: { after: query.get("after") } });
  list.replaceChildren(scrolledTable("users", ["Name", "Roles", "Scope", "State", "Password of", ""], users.map((user) => row(ordered(user), me))));
  byId("paging").replaceChildren(...paging(query, next, { place: "after", first: "First", on: "Next" }));
}, load);

byId("new").addEventListener("click", create);
byId("list").append(skeleton(4));
const session = await showUser();
me = session.user;
drawSettingsNav(session);
await load();
