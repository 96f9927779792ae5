// Keeps a page up to date: the store tells of commits by Server-Sent Events, and the page
// asks anew. Where events cannot be had it asks again and again.

const gapMs = 1000; // between the beginnings of two askings because of changes
const idleMs = 30_000; // ages and states change though nothing is committed
const refusedMs = 60_000; // until a stream that was refused is asked for again

/** When to ask next, as a time; Infinity for never. */
export function nextAt({ began, ended, due, streaming, pauseMs }) {
  const took = ended - began;
  if (due) return Math.max(began + gapMs, ended + 4 * took);
  if (pauseMs > 0) return ended + Math.max(streaming ? idleMs : pauseMs, 10 * took);
  return Infinity;
}

/**
 * Calls work while the page can be seen: when something was committed that fits the
 * address of its events, else after the pause (ms) that it gives back. When that is 0 the
 * page rests, without a stream. What is returned asks for work now.
 */
export function keepFresh(address, work) {
  let timer = 0;
  let source = null;
  let sourceOf = "";
  let refusedUntil = 0;
  let running = false;
  let again = false;
  const state = { began: 0, ended: 0, due: false, streaming: false, pauseMs: 0 };

  async function run() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    state.due = false;
    state.pauseMs = 0;
    state.began = performance.now();
    try {
      state.pauseMs = await work();
    } finally {
      running = false;
      state.ended = performance.now();
      if (state.pauseMs > 0) connect();
      else disconnect();
    }
    if (again) {
      again = false;
      run();
    } else schedule();
  }

  function schedule() {
    clearTimeout(timer);
    if (running || document.hidden) return;
    const at = nextAt(state);
    if (at < Infinity) timer = setTimeout(run, Math.max(0, at - performance.now()));
  }

  function changed() {
    state.streaming = true;
    state.due = true;
    schedule();
  }

  function connect() {
    const url = address();
    if (source && sourceOf === url) return;
    disconnect();
    if (document.hidden || performance.now() < refusedUntil) return;
    const mine = new EventSource(url);
    source = mine;
    sourceOf = url;
    // The first event is always a catch-up: what was committed since work was called is asked for then.
    for (const kind of ["catchup", "change"]) mine.addEventListener(kind, () => mine === source && changed());
    mine.addEventListener("error", () => mine === source && lost());
  }

  /** The browser tries again by itself, unless the answer was no stream. */
  function lost() {
    state.streaming = false;
    if (source.readyState === EventSource.CLOSED) {
      source = null;
      refusedUntil = performance.now() + refusedMs;
    }
    schedule();
  }

  function disconnect() {
    source?.close();
    source = null;
    state.streaming = false;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      disconnect();
    } else if (state.due || state.pauseMs > 0) run();
  });
  return run;
}

/** The address of the events of an app and a conference; what is empty does not narrow. */
export function liveAddress(app, conference) {
  const query = new URLSearchParams();
  if (app) query.set("app", app);
  if (conference) query.set("conference", conference);
  return `api/live?${query}`;
}
