// Requests to the management API.

import { root } from "../api.js";
import { capital } from "../format.js";

/** A refusal. `field` is the path of the member that is wrong, if one is; `limit` is what it must be. */
export class Problem extends Error {
  constructor(message, status, { field, limit, got } = {}) {
    super(message);
    this.status = status;
    this.field = field;
    this.limit = limit;
    this.got = got;
  }
}

const unreachable = "The dashboard cannot be reached. What you typed is kept on this page: try again.";
const ended = "Your login has ended. Sign in again in another tab, then try again here: what you typed is kept on this page.";

async function problemOf(response) {
  if (response.status === 401) return new Problem(ended, 401);
  const p = await response.json().catch(() => ({}));
  return new Problem(sentence(p.detail ?? p.error?.message ?? `The dashboard answered with status ${response.status}`), response.status, p);
}

/** A text of the API as a sentence. */
const sentence = (text) => capital(text).replace(/\.?$/, ".");

/**
 * Sends a request and returns the answer, or throws its Problem. `revision` is the one that a change requires
 * (If-Match); with `create` nothing may exist yet. Parameters of `query` that are empty are left out.
 */
export async function request(method, path, { body, revision, create, query } = {}) {
  const url = new URL(path, root);
  for (const [name, value] of Object.entries(query ?? {})) if (value) url.searchParams.set(name, value);
  const headers = new Headers();
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (revision) headers.set("If-Match", `"${revision}"`);
  if (create) headers.set("If-None-Match", "*");
  let response;
  try {
    response = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
  } catch {
    throw new Problem(unreachable, 0);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Sends a request as `request` does, and returns the body of the answer. */
export async function send(method, path, options) {
  const response = await request(method, path, options);
  return response.status === 204 ? undefined : response.json();
}

/** The path of an app in the API, and of what belongs to it. */
export const appPath = (id, ...more) => ["api/v1/apps", ...[id, ...more].map((part) => encodeURIComponent(part))].join("/");

/** The same of a user. */
export const userPath = (name, ...more) => ["api/v1/users", ...[name, ...more].map((part) => encodeURIComponent(part))].join("/");
