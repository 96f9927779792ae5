// Asks the read API.

/** The dashboard's own address, which relative addresses of this module begin from. */
export const root = new URL("../../", import.meta.url);

/** A refusal or a failure, with words for people. */
export class APIError extends Error {
  constructor(message, status, field) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

let signedIn = false;

/** After this a refusal for want of a login leads to sign-in, and from there back. */
export function expectLogin() {
  signedIn = true;
}

/** Leads to sign-in, and from there back to this page. */
export function toSignIn() {
  location.assign(new URL(`signin?${new URLSearchParams({ to: location.pathname + location.search })}`, root));
}

async function explain(response) {
  try {
    const { error } = await response.json();
    return new APIError(error.message, response.status, error.field);
  } catch {
    return new APIError(`The dashboard answered with status ${response.status}.`, response.status);
  }
}

async function get(path, parameters, signal) {
  const pairs = Symbol.iterator in parameters ? [...parameters] : Object.entries(parameters);
  const query = new URLSearchParams(pairs.filter(([, v]) => v !== null && v !== undefined && v !== ""));
  let response;
  try {
    response = await fetch(new URL(`${path}?${query}`, root), { signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new APIError("The dashboard cannot be reached.", 0);
  }
  if (response.status === 401 && signedIn) toSignIn();
  if (!response.ok) throw await explain(response);
  return response;
}

/** GETs JSON. The parameters are members of an object, or pairs; those that are empty are left out. */
export const ask = async (path, parameters, signal) => (await get(path, parameters, signal)).json();

/** GETs text, likewise. */
export const askText = async (path, parameters) => (await get(path, parameters)).text();
