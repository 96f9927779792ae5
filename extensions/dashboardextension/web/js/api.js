// Asks the read API.

/** A refusal or a failure, with words for people. */
export class APIError extends Error {
  constructor(message, status, field) {
    super(message);
    this.status = status;
    this.field = field;
  }
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
  if (!response.ok) throw await explain(response);
  return response.json();
}

/**
 * Calls work again and again while the page can be seen: after the pause it gives back,
 * and no sooner than ten times as long as it took. It rests when that is 0. What is
 * returned asks for work now.
 */
export function poll(work) {
  let timer = 0;
  let running = false;
  let again = false;
  let waiting = false; // for the page to be seen
  async function run() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    const started = performance.now();
    let pause = 0;
    try {
      pause = await work();
    } finally {
      running = false;
    }
    if (again) {
      again = false;
      run();
    } else if (pause > 0) {
      timer = setTimeout(tick, Math.max(pause, 10 * (performance.now() - started)));
    }
  }
  function tick() {
    waiting = document.hidden;
    if (!waiting) run();
  }
  document.addEventListener("visibilitychange", () => waiting && tick());
  return run;
}
