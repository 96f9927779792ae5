// The part of the list's page with the saved searches.

import { byId, drawOnChange, h } from "./dom.js";
import { deleteSearch, onSavedElsewhere, readSaved, renameSearch, saveSearch } from "./searches.js";
import { searchOf } from "./search.js";

const form = byId("save");
let current = new URLSearchParams();
let renamed = "";

/** Shows the list after a change, or why there was none. */
function changed(problem) {
  byId("saved-note").textContent = problem;
  draw();
}

function rename(from) {
  renamed = from;
  draw();
  byId("saved-list").querySelector("input")?.select();
}

function renaming({ name }) {
  const input = h("input", { name: "to", value: name, maxlength: 100, required: true, "aria-label": `New name of ${name}`, autocomplete: "off" });
  const end = (event) => {
    event.preventDefault();
    renamed = "";
    changed(event.type === "submit" && input.value.trim() ? renameSearch(name, input.value.trim()) : "");
    byId("saved").querySelector("summary").focus();
  };
  return h("form", { class: "save", onsubmit: end }, input, h("button", { type: "submit" }, "Rename"), h("button", { type: "button", class: "quiet", onclick: end }, "Cancel"));
}

function row(one) {
  const query = searchOf(new URLSearchParams(one.query));
  const here = String(query) === String(current);
  return h("li", { "data-testid": "saved-search", "data-key": one.name }, one.name === renamed ? renaming(one) : [
    h("a", { href: `search?${query}`, "aria-current": here ? "true" : null }, one.name),
    h("button", { type: "button", class: "quiet", "aria-label": `Rename ${one.name}`, onclick: () => rename(one.name) }, "Rename"),
    h("button", { type: "button", class: "quiet", "aria-label": `Delete ${one.name}`, onclick: () => changed(deleteSearch(one.name)) }, "Delete"),
  ]);
}

function draw() {
  const list = readSaved();
  byId("saved-count").textContent = list.length ? `(${list.length})` : "";
  drawOnChange(byId("saved-list"), [list, String(current), renamed], () => list.map(row));
}

/** Draws the saved searches, of which one may be the search that is shown. */
export function drawSaved(query) {
  current = query;
  form.hidden = !String(query);
  byId("saved-note").textContent = String(query) ? "" : "Search for something to save it here.";
  draw();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = form.elements.name.value.trim();
  if (!name) return;
  changed(saveSearch(name, String(current)));
  form.reset();
});
onSavedElsewhere(draw);
