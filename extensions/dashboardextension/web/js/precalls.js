// The page of pre-call tests, newest first.

import { ask } from "./api.js";
import { byId, drawOnChange, h } from "./dom.js";
import { clock, fromInput, toInput } from "./format.js";
import { fillFields } from "./forms.js";
import { ofPreCalls as names } from "./parameters.js";
import { notice, paging, skeleton } from "./parts.js";
import { preCallTable } from "./precalltable.js";
import { showUser } from "./user.js";

const query = new URLSearchParams(location.search);
const form = byId("filters");
fillFields(form);
const fields = names.filter((name) => form.elements[name]);
const isTime = (name) => form.elements[name].type === "datetime-local";

/** What the choice of results stands for in the address. */
const results = { "": {}, success: { status: "success" }, failure: { status: "failure" }, failed: { failed: "true" } };

function empty() {
  const filtered = names.some((name) => query.get(name)) || query.get("cursor");
  return h("div", { class: "empty", "data-testid": "empty" },
    h("h2", {}, filtered ? "Nothing matches" : "No pre-call tests"),
    h("p", {}, filtered ? "No pre-call test that you may see fits this filter. Texts are matched whole: upper and lower case differ." : "No app that you may see has sent one."),
    filtered && h("p", { class: "choices" }, h("a", { class: "button", href: "precalls" }, "Show all")));
}

function draw(list) {
  byId("alert").replaceChildren(...[list.damaged && h("div", { class: "notice warning", role: "status", "data-testid": "damaged" },
    h("p", {}, "Some tests are damaged and are not shown. The collector's log names them."))].filter(Boolean));
  byId("list").replaceChildren(list.preCalls.length > 0 ? preCallTable(list) : empty());
  drawOnChange(byId("paging"), list.next, () => paging(query, list.next));
  byId("status").textContent = `Updated ${clock(Date.now())}`;
}

async function load() {
  try {
    draw(await ask("api/precalls", Object.fromEntries([...query].filter(([name]) => [...names, "cursor", "limit"].includes(name)))));
  } catch (error) {
    byId("list").replaceChildren();
    byId("alert").replaceChildren(notice(error.message, error.status === 400 ? undefined : load));
  } finally {
    byId("list").setAttribute("aria-busy", "false");
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const next = new URLSearchParams();
  const put = (name, value) => value && next.set(name, value);
  for (const name of fields) put(name, isTime(name) ? fromInput(form.elements[name].value, query.get(name)) : form.elements[name].value);
  if (form.elements.additional.value) put("additionalKey", query.get("additionalKey"));
  for (const [name, value] of Object.entries(results[form.elements.result.value])) put(name, value);
  location.search = String(next);
});
for (const name of fields) form.elements[name].value = isTime(name) ? toInput(query.get(name)) : query.get(name) ?? "";
form.elements.result.value = query.get("failed") ? "failed" : query.get("status") ?? "";
byId("clear").hidden = !names.some((name) => query.get(name));
byId("list").append(skeleton(4));
load();
showUser();
