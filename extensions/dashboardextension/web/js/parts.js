// Pieces that both pages show.

import { h } from "./dom.js";
import { capital, fullDate, mos, none, statusOf } from "./format.js";

export function pill(conference) {
  const [kind, word, why] = statusOf(conference);
  return h("span", { class: `pill ${kind}`, title: why || null, "data-testid": "outcome", "data-outcome": conference.outcome || conference.state }, word);
}

/** Marks what may change while its conference goes on. */
export const soFarPill = () => h("span", { class: "pill so-far", title: "The conference goes on: this may change." }, "So far");

/** A score with its word; a dash where there is no evidence. */
export function score(value, label) {
  if (value === null || value === undefined) return h("span", { class: "muted", title: "Nothing that could be scored" }, none);
  return h("span", { class: `score ${label || ""}`, "data-testid": "score" }, h("b", {}, mos(value)), label && h("span", { class: "word" }, capital(label)));
}

export const time = (at, text) => h("time", { datetime: new Date(at).toISOString(), title: fullDate(at) }, text);

export function notice(message, retry) {
  return h("div", { class: "notice error", role: "alert" }, h("p", {}, message), retry && h("button", { type: "button", onclick: retry }, "Try again"));
}

/**
 * The links that turn the pages of a list: back to its first page, unless this is it, and on, where `next` is the place at which
 * the next page begins. `place` is the parameter of the address that has it.
 */
export function paging(query, next, { place = "cursor", first = "Newest", on = "Older" } = {}) {
  const at = (value) => {
    const to = new URLSearchParams(query);
    if (value) to.set(place, value);
    else to.delete(place);
    return `${location.pathname}?${to}`;
  };
  return [
    query.get(place) ? h("a", { class: "button", href: at(), "data-testid": "first" }, `← ${first}`) : h("span"),
    next && h("a", { class: "button", href: at(next), rel: "next", "data-testid": "next" }, `${on} →`),
  ].filter(Boolean);
}

export const skeleton = (rows) => h("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: rows }, () => h("i")));

/** The link of a conference's page. */
export const conferenceLink = (c) => `conference?${new URLSearchParams({ app: c.app, id: c.id, at: c.startAt })}`;

/** Whether a user ID is a pseudonym: the collector hashed it (docs/security.md). */
export const isPseudonym = (id) => /^u_[a-z2-7]{26}$/.test(id ?? "");

/** Explains a pseudonym. */
export const pseudonymTitle = "The application's user IDs are hashed. A search for the user ID itself finds this user.";

/** Marks a user of whom the store has a pseudonym. */
export const pseudonymPill = (id) => isPseudonym(id) && h("span", { class: "pill plain", title: pseudonymTitle, "data-testid": "pseudonym" }, "Pseudonym");

/** Whether one of the names is, or was, the participant's. */
export const isCalled = (p, names) => [p.user, p.userName, ...(p.former ?? [])].some((name) => name && names.includes(name));

/** A user as the API may name them. */
export function userText(p, index) {
  const alias = p.user || (index === undefined ? "unnamed" : `Participant ${index + 1}`);
  return p.userName ? `${p.userName} (${alias})` : alias;
}
