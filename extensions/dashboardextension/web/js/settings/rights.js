// Fields of roles and scope, which users and API tokens have.

import { h } from "../dom.js";
import { capital } from "../format.js";
import { choiceField, Field, linesField } from "./fields.js";

/** The roles, and what each may do. */
const roles = [
  ["support", "reads calls, with names of users and comments"],
  ["engineering", "reads calls, with aliases only"],
  ["admin", "manages settings; reads no calls"],
];

/** The set of roles as one field of checkboxes; `names` are those that may be chosen. */
export function rolesField(names = roles.map(([role]) => role)) {
  const boxes = roles.filter(([role]) => names.includes(role)).map(([role, text]) => [role, h("input", { type: "checkbox", id: `role-${role}`, value: role, "data-testid": `role-${role}` }), text]);
  const group = h("div", { class: "choices-list", role: "group", "aria-label": "Roles" },
    boxes.map(([role, box, text]) => h("div", { class: "field check" }, box, h("label", { for: box.id }, capital(role), h("span", { class: "hint" }, ` ${text}`)))));
  const field = new Field("roles", "Roles", group, {
    empty: [], text: (all) => all.join(", "),
    read: () => boxes.filter(([, box]) => box.checked).map(([role]) => role),
    write: (_, all) => {
      for (const [role, box] of boxes) box.checked = all.includes(role);
    },
  });
  field.element.querySelector(":scope > label").removeAttribute("for");
  group.tabIndex = -1;
  return field;
}

/** Roles in their order; that of a document has no meaning. */
export const order = (all) => roles.map(([role]) => role).filter((role) => all.includes(role));

const scopes = [[true, "all apps"], [false, "these apps only"]];

/** The fields of a scope. `show` hides the list of apps while all are chosen. */
export function scopeFields() {
  const apps = linesField("scope.apps", "Apps in scope", { rows: 3, hint: "AppIDs, one a line, at most 50." });
  const scope = choiceField("scope.all", "Scope", scopes, { empty: false });
  const show = () => (apps.element.hidden = scope.get());
  scope.control.addEventListener("change", show);
  return { fields: [scope, apps], show };
}

/** The scope of a document, as the API takes it. */
export const scopeOf = (doc) => (doc.scope?.all ? { all: true } : { all: false, apps: doc.scope?.apps ?? [] });

export const scopeText = ({ all, apps }) => (all ? "all apps" : apps.join(", "));
