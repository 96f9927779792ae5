// Keeps a page up to date: the store tells of commits by Server-Sent Events, and the page
// asks anew. Where events cannot be had it asks again and again.

const gapMs = 500; // between the beginnings of two askings because of changes
const idleMs = 30_000; // ages and states change though nothing is committed
const refusedMs = 60_000; // until a stream that was refused is asked for again
const slowMs = 100; // work that takes longer is not for each change, where the newest part can be asked for
const behindMs = 5000; // what is evaluated over the whole may be older than its newest part
const tailGapMs = 250;

/** When to ask for all next, as a time; Infinity for never. due: all has changed; behind: the newest part is ahead of it. */
export function nextAt({ began, ended, due, behind, streaming, pauseMs }) {
  const took = ended - began;
  if (due) return Math.max(began + gapMs, ended + 4 * took);
  if (behind) return ended + Math.max(behindMs, 10 * took);
  if (pauseMs > 0) return ended + Math.max(streaming ? idleMs : pauseMs, 10 * took);
  return Infinity;
}

/** When to ask for the part from a time on next; Infinity for never. */
export function nextTailAt({ began, ended, from }) {
  return from < Infinity ? Math.max(began + tailGapMs, 2 * ended - began) : Infinity;
}

/** The stream of the events at an address. changed gets each change, or null where all may have changed. */
class Stream {
  constructor(address, changed, lost) {
    Object.assign(this, { address, changed, lost, source: null, of: "", refusedUntil: 0, isOpen: false });
  }

  connect() {
    const url = this.address();
    if (this.source && this.of === url) return;
    this.disconnect();
    if (document.hidden || performance.now() < this.refusedUntil) return;
    const mine = new EventSource(url);
    this.source = mine;
    this.of = url;
    // The first event is always a catch-up: what was committed since work was called is asked for then.
    mine.addEventListener("catchup", () => this.#hear(mine, null));
    mine.addEventListener("change", (event) => this.#hear(mine, JSON.parse(event.data)));
    mine.addEventListener("error", () => mine === this.source && this.#lose());
  }

  #hear(from, change) {
    if (from !== this.source) return;
    this.isOpen = true;
    this.changed(change);
  }

  /** The browser tries again by itself, unless the answer was no stream. */
  #lose() {
    this.isOpen = false;
    if (this.source.readyState === EventSource.CLOSED) {
      this.source = null;
      this.refusedUntil = performance.now() + refusedMs;
    }
    this.lost();
  }

  disconnect() {
    this.source?.close();
    this.source = null;
    this.isOpen = false;
  }
}

/**
 * Calls work while the page can be seen: when something was committed that fits the
 * address of its events, else after the pause (ms) that it gives back. When that is 0 the
 * page rests, without a stream. Where work is slow and newest is given, a change calls newest with the
 * earliest time that changed (ms since the epoch), meanwhile too; it returns whether all has to be asked for. What
 * keepFresh returns asks for work now.
 */
export function keepFresh(address, work, newest = null) {
  let timer = 0;
  let tailTimer = 0;
  let running = false;
  let again = false;
  let tailing = false;
  const state = { began: 0, ended: 0, due: false, behind: false, pauseMs: 0 };
  const tail = { began: 0, ended: 0, from: Infinity };
  const stream = new Stream(address, changed, schedule);

  async function run() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    state.due = false;
    state.behind = false;
    state.pauseMs = 0;
    const began = performance.now();
    try {
      state.pauseMs = await work();
    } finally {
      running = false;
      state.began = began;
      state.ended = performance.now();
      if (state.pauseMs > 0) stream.connect();
      else stream.disconnect();
    }
    if (again) {
      again = false;
      run();
    } else schedule();
  }

  async function runTail() {
    const { from } = tail;
    tail.from = Infinity;
    tailing = true;
    const began = performance.now();
    try {
      if (await newest(from)) state.due = true;
      else state.behind = true;
    } catch {
      state.due = true;
    } finally {
      tailing = false;
      tail.began = began;
      tail.ended = performance.now();
    }
    schedule();
  }

  const after = (at, call) => (at < Infinity ? setTimeout(call, Math.max(0, at - performance.now())) : 0);

  function schedule() {
    clearTimeout(timer);
    clearTimeout(tailTimer);
    if (document.hidden) return;
    if (!running) timer = after(nextAt({ ...state, streaming: stream.isOpen }), run);
    if (!tailing && newest) tailTimer = after(nextTailAt(tail), runTail);
  }

  /** Only the newest part is asked for where that is enough. */
  function changed(change) {
    const isSlow = newest && state.ended - state.began > slowMs;
    if (isSlow && change?.records > 0) tail.from = Math.min(tail.from, change.fromAt);
    if (!isSlow || !change || change.summary) state.due = true;
    schedule();
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      clearTimeout(tailTimer);
      stream.disconnect();
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
