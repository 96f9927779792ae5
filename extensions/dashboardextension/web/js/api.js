// Asks the read API.

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

async function explain(response) {
  try {
    const { error } = await response.json();
    return new APIError(error.message, response.status, error.field);
  } catch {
    return new APIError(`The dashboard answered with status ${response.status}.`, response.status);
  }
}

/** GETs JSON. Parameters that are empty are left out. */
export async function ask(path, parameters, signal) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  let response;
  try {
    response = await fetch(`${path}?${query}`, { signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new APIError("The dashboard cannot be reached.", 0);
  }
  if (response.status === 401 && signedIn) location.assign(`signin?${new URLSearchParams({ to: location.pathname + location.search })}`);
  if (!response.ok) throw await explain(response);
  return response.json();
}
