// Fields of forms, made from the table of parameters.

import { h } from "./dom.js";
import { parameters } from "./parameters.js";
import { kinds } from "./values.js";

/** The values to choose from, where a parameter has few. */
const choices = { __proto__: null, outcome: kinds.outcomes, quality: kinds.labels, cause: kinds.causes, issue: kinds.issues };

/** A parameter; one of a baseline has a prefix. */
const parameterOf = (name) => name.replace(/^baseline\./, "");

const unitText = { __proto__: null, ms: " (ms)", fraction: " (0 to 1)" };

/** The input or the list of a parameter. Some values may be left out. */
export function control(name, props, without = []) {
  const { attributes } = parameters[parameterOf(name)];
  const list = choices[parameterOf(name)];
  if (!list) return h("input", { name, ...attributes, ...props });
  return h("select", { name, ...props }, h("option", { value: "" }, "All"), name === "outcome" && h("option", { value: "failed" }, "Failed (any)"),
    list.all.filter((value) => !without.includes(value)).map((value) => h("option", { value }, list.name(value))));
}

/** Fills a label with the name and the input of a parameter. */
function fill(label, name, without) {
  const { label: text, unit } = parameters[parameterOf(name)];
  label.prepend(h("span", {}, label.dataset.label ?? text + (unitText[unit] ?? "")), control(name, { required: "required" in label.dataset, ...(label.dataset.label && { placeholder: "" }) }, without));
}

/** Fills the empty fields of a form: <label class="field" data-parameter="app">. */
export function fillFields(form, without) {
  for (const label of form.querySelectorAll("[data-parameter]")) fill(label, label.dataset.parameter, without);
}

/** A field of its own. */
export function field(name, without) {
  const label = h("label", { class: "field" });
  fill(label, name, without);
  return label;
}
