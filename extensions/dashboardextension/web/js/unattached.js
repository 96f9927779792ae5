// The page of annotations that no conference owns, newest first.

import { ask } from "./api.js";
import { byId, drawOnChange, h } from "./dom.js";
import { describe } from "./entries.js";
import { ago, clock, date, toInput } from "./format.js";
import { keepFresh, liveAddress } from "./live.js";
import { notice, paging, skeleton, time, userText } from "./parts.js";
import { showUser } from "./user.js";

const refreshMs = 5000;
const names = ["app", "from", "to"];
const query = new URLSearchParams(location.search);
const form = byId("filters");

function entry(e) {
  const { title, tone, detail } = describe(e);
  return h("li", { class: `entry ${tone}`, "data-testid": "entry", "data-kind": e.kind }, h("b", {}, title), detail && h("span", { class: "detail" }, ` ${detail}`));
}

function row(u, now) {
  return h("tr", { "data-testid": "unattached", "data-id": u.id },
    h("td", {}, h("b", { class: "id" }, u.id), h("span", { class: "sub" }, u.app)),
    h("td", {}, h("ul", { class: "entries" }, u.entries.map(entry), u.more && h("li", { class: "sub" }, "and more"))),
    h("td", {}, userText(u.participant)),
    h("td", { class: "when" }, time(u.aboutAt, date(u.aboutAt)), h("span", { class: "sub" }, ago(u.aboutAt, now))),
  );
}

function table(list) {
  return h("table", { class: "conferences unattached" },
    h("caption", { class: "visually-hidden" }, "Unattached annotations, newest first"),
    h("thead", {}, h("tr", {}, ["Conference ID", "What", "User", "About"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, list.unattached.map((u) => row(u, list.at))),
  );
}

function empty() {
  const filtered = names.some((name) => query.get(name)) || query.get("cursor");
  return h("div", { class: "empty", "data-testid": "empty" },
    h("h2", {}, filtered ? "Nothing matches" : "Nothing is unattached"),
    h("p", {}, filtered ? "No unattached annotation fits this filter." : "All feedback, logs, errors and details belong to a conference."),
    filtered && h("p", { class: "choices" }, h("a", { class: "button", href: "unattached" }, "Show all")));
}

function draw(list) {
  drawOnChange(byId("alert"), list.damaged, () => list.damaged && h("div", { class: "notice warning", role: "status", "data-testid": "damaged" },
    h("p", {}, "Some records are damaged and are not shown. The collector's log names them.")));
  drawOnChange(byId("list"), [list.unattached, Math.floor(list.at / 30_000)], () => (list.unattached.length > 0 ? table(list) : empty()));
  drawOnChange(byId("paging"), list.next, () => paging(query, list.next));
  byId("status").textContent = `Updated ${clock(Date.now())}`;
}

async function load() {
  try {
    draw(await ask("api/unattached", Object.fromEntries([...query].filter(([name]) => [...names, "cursor", "limit"].includes(name)))));
    return query.get("cursor") ? 0 : refreshMs;
  } catch (error) {
    drawOnChange(byId("alert"), error.message, () => notice(error.message, error.status === 400 ? undefined : () => run()));
    if (!byId("list").drawnFrom || error.status === 400) byId("list").replaceChildren();
    if (!(error.status >= 0)) throw error;
    return error.status === 400 ? 0 : refreshMs;
  } finally {
    byId("list").setAttribute("aria-busy", "false");
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const next = new URLSearchParams();
  for (const name of names) {
    const value = form.elements[name].value;
    if (value) next.set(name, name === "app" ? value : String(new Date(value).getTime()));
  }
  location.search = String(next);
});
for (const name of names) form.elements[name].value = name === "app" ? query.get(name) ?? "" : toInput(query.get(name));
byId("clear").hidden = !names.some((name) => query.get(name));
byId("list").append(skeleton(4));

const run = keepFresh(() => liveAddress(query.get("app")), load);
run();
showUser();
