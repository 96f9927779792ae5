// The search of the list: what the form says, and what the address says. Each word that is
// looked for is a parameter of its own; one stands in the field, the others beside it.

import { byId, drawOnChange, h } from "./dom.js";
import { factText } from "./facts.js";
import { control, fillFields } from "./forms.js";
import { capital, idWords, ms, percent, toInput } from "./format.js";
import { ofConferences as parameters, parameters as table, terms } from "./parameters.js";
import { isCalled } from "./parts.js";
import { attributeValue, kinds as counted } from "./values.js";
import { additionalKeys } from "./words.js";

export { parameters };

const form = byId("filters");
const { elements } = form;
const option = (value, text) => h("option", { value }, text);
const scoreField = (name) => control(name, { "aria-label": table[name].label });

fillFields(form);
elements.app.setAttribute("list", "apps");
byId("scores").append(scoreField("scoreFrom"), h("span", { "aria-hidden": "true" }, "–"), scoreField("scoreTo"));

/** What a word may be looked for as: by the parameter, and by the key of additionalIDs. */
const kinds = Object.assign({ __proto__: null }, ...terms.map((name) => ({ [name]: table[name].label })));

/** What the form has beside the words. */
const choices = parameters.filter((name) => !kinds[name] && elements[name]);

/** What links narrow by beside what the form has: each that has a label is shown, and can be taken away. */
const beside = parameters.filter((name) => !kinds[name] && !choices.includes(name) && name !== "additionalKey");
const narrowed = beside.filter((name) => table[name]);

/** The search of an address, without what turns its pages. */
export const searchOf = (query) => new URLSearchParams([...query].filter(([name, value]) => parameters.includes(name) && value));

const kindName = (kind, key) => (key ? idWords(key) : kinds[kind]);

/** The word that API and page name a match by. */
export const matchName = (word) =>
  ({ conferenceID: "conference ID", userID: "user ID", siteID: "site", applicationVersion: "app version", additionalIDs: "additional ID" })[word] ?? kindName("additional", word);

elements.kind.append(
  ...Object.entries(kinds).map(([kind, name]) => option(kind, kind === "additional" ? "Any additional ID" : name)),
  h("optgroup", { label: "Additional IDs" }, additionalKeys.map((key) => option(`additional ${key}`, kindName("additional", key)))));

/** The words that are looked for, as [kind, key, value]; the first stands in the field. */
export const lookedFor = (query) =>
  [...query].filter(([name, value]) => kinds[name] && value).map(([name, value]) => [name, name === "additional" ? query.get("additionalKey") ?? "" : "", value]);

export const isSearch = (query) => parameters.some((name) => query.get(name));

const isTime = (name) => name === "from" || name === "to";

/** The form has minutes, a link milliseconds: what the form shows of a time that is unchanged is that time. */
const readTime = (chosen, before) => (before && chosen === toInput(before) ? before : String(new Date(chosen).getTime()));

/** Reads the form. A word in the field takes the place of the one that stood there. */
export function readForm(before) {
  const query = new URLSearchParams();
  const [kind, key = ""] = elements.kind.value.split(" ");
  const value = elements.word.value;
  const rest = lookedFor(before).slice(1).filter(([other]) => !value || other !== kind);
  for (const [name, itsKey, word] of [...(value ? [[kind, key, value]] : []), ...rest]) {
    query.set(name, word);
    if (itsKey) query.set("additionalKey", itsKey);
  }
  for (const name of beside) for (const value of before.getAll(name)) query.append(name, value);
  for (const name of choices) {
    const chosen = elements[name].value;
    if (chosen) query.set(name, isTime(name) ? readTime(chosen, before.get(name)) : chosen);
  }
  return query;
}

/** Writes what the address says into the form. */
export function fillForm(query) {
  const [first, ...rest] = lookedFor(query);
  if (first) elements.kind.value = [first[0], first[1]].filter(Boolean).join(" ");
  elements.word.value = first?.[2] ?? "";
  for (const name of choices) elements[name].value = isTime(name) ? toInput(query.get(name)) : query.get(name) ?? "";
  byId("clear").hidden = !isSearch(query);
  drawOnChange(byId("also"), [String(query)], () => [...rest.map((one) => token(one, query)), ...narrowed.flatMap((name) => query.getAll(name).map((value) => narrowing(name, value, query)))]);
}

/** A part of the search, with a link to the search without it. */
const removable = (kind, name, value, without) =>
  h("li", { class: "token", "data-testid": "also", "data-kind": kind }, h("span", {}, `${name} `, h("b", {}, value)),
    h("a", { href: `search?${without}`, "aria-label": `Remove ${name} ${value}`, title: "Remove" }, "×"));

/** A fact of an address, "browserVersion:firefox 144", as text. */
const factOf = (text) => factText({ attribute: text.split(":", 1)[0], value: text.slice(text.indexOf(":") + 1) });

const narrowingText = { __proto__: null, state: capital, fact: factOf, issue: counted.issues.name, browser: (value) => attributeValue("browser", value) };
const unitText = { __proto__: null, ms, fraction: percent };

/** A value as it reads. */
function valueText(name, value) {
  const unit = unitText[table[name].unit];
  return unit ? unit(Number(value)) : narrowingText[name]?.(value) ?? value;
}

/** A part that only links make. */
function narrowing(name, value, query) {
  const without = searchOf(query);
  without.delete(name, value);
  if (name === "reason") without.delete("past");
  return removable(name, table[name].label, valueText(name, value), without);
}

/** One more word. */
function token([kind, key, value], query) {
  const without = searchOf(query);
  without.delete(kind);
  if (kind === "additional") without.delete("additionalKey");
  return removable(kind, kindName(kind, key), value, without);
}

/** Whether a choice that narrow screens fold away is in use. */
export const isFolded = (query) => choices.some((name) => query.get(name));

/** What to say where nothing was found. */
export function nothingFound(query) {
  const [first] = lookedFor(query);
  const anything = new URLSearchParams({ q: first?.[2] ?? "" });
  return h("div", { class: "empty", "data-testid": "empty" },
    h("h2", {}, "Nothing matches"),
    h("p", {}, first ? ["No conference has ", h("b", {}, first[2]), ` ${first[0] === "q" ? "as any of its IDs, users, sites or versions" : `as its ${kindName(first[0], first[1]).toLowerCase().replace(/\bid\b/, "ID")}`}`, isFolded(query) || lookedFor(query).length > 1 ? " and fits the rest of this search." : "."] : "No conference fits this search."),
    first && h("p", {}, "IDs are matched whole: upper and lower case differ, and so does a space."),
    h("p", { class: "choices" }, first && first[0] !== "q" && h("a", { class: "button", href: `?${anything}` }, "Search as anything"),
      h("a", { class: "button", href: "search" }, "Show all conferences")));
}

/** As what a row was found, where its own words do not say it. Pseudonyms are those of the ID that was searched for. */
export function foundAs(c, query, pseudonyms) {
  const [first] = lookedFor(query).filter(([kind]) => kind === "q" || kind === "user");
  if (!first) return "";
  const [kind, , value] = first;
  const as = kind === "q" ? (c.matched ?? []) : ["userID"];
  if (c.participants.some((p) => isCalled(p, pseudonyms))) return "Found by the pseudonym of this ID";
  const shown = c.participants.some((p) => p.user === value || p.userName === value);
  const former = c.participants.some((p) => p.former?.includes(value));
  const others = as.filter((word) => word !== "conferenceID" && !(word === "userID" && shown));
  if (others.length === 0) return "";
  const name = (word) => (word === "userID" ? (former ? "a former user ID" : "another user ID") : matchName(word));
  return `Found as ${others.map(name).join(" and ")}`;
}
