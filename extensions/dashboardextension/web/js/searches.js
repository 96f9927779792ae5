// The saved searches of this browser: a list of names and searches, newest first. Several tabs share it.

import { root } from "./api.js";

const key = `qos.searches ${root.pathname}`;

/** How many searches a browser keeps. */
export const maxSaved = 50;

const isSaved = (one) => typeof one?.name === "string" && typeof one.query === "string";

/** Returns the list; what is not one is none. */
export function readSaved() {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(list) ? list.filter(isSaved).slice(0, maxSaved) : [];
  } catch {
    return [];
  }
}

/** Writes what change makes of the newest list. It returns why it could not, or "". */
function write(change) {
  const list = change(readSaved());
  if (list.length > maxSaved) return `${maxSaved} searches are saved already. Delete one first.`;
  try {
    localStorage.setItem(key, JSON.stringify(list));
    return "";
  } catch {
    return "This browser does not keep searches.";
  }
}

/** Saves a search; one of the same name is replaced. */
export const saveSearch = (name, query) => write((list) => [{ name, query }, ...list.filter((one) => one.name !== name)]);

export const deleteSearch = (name) => write((list) => list.filter((one) => one.name !== name));

/** Renames a search; another one of the new name is replaced. */
export const renameSearch = (name, to) => write((list) => list.filter((one) => one.name !== to || name === to).map((one) => (one.name === name ? { ...one, name: to } : one)));

/** Calls listener when another tab changes the list. */
export const onSavedElsewhere = (listener) => addEventListener("storage", (event) => (event.key === key || event.key === null) && listener());
