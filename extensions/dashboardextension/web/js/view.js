// What the time-line and the charts share: the stretch of time that is shown, and the
// moment under the cursor.

export class View {
  #listeners = new Set();

  constructor() {
    this.full = [0, 1];
    this.range = [0, 1];
    this.zoomed = false;
    this.cursor = null;
  }

  /** Calls listener with what changed: "range" or "cursor". */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(what, source) {
    for (const listener of this.#listeners) listener(what, source);
  }

  /** The whole conference, with a little room at its ends. */
  setFull(from, to) {
    const room = Math.max(1000, (to - from) * 0.012);
    this.full = [from - room, to + room];
    if (!this.zoomed) this.#setRange(this.full);
  }

  zoom(from, to, source) {
    if (to - from < 1000) return;
    this.zoomed = true;
    this.#setRange([from, to], source);
  }

  reset() {
    this.zoomed = false;
    this.#setRange(this.full);
  }

  #setRange(range, source) {
    if (range[0] === this.range[0] && range[1] === this.range[1]) return;
    this.range = range;
    this.#tell("range", source);
  }

  point(at, source) {
    if (at === this.cursor) return;
    this.cursor = at;
    this.#tell("cursor", source);
  }

  /** Where a time stands, 0 to 1. */
  share(at) {
    return (at - this.range[0]) / (this.range[1] - this.range[0]);
  }
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((s) => s * 1000);

/** Round times for an axis, at most so many, in local time. */
export function ticks([from, to], most) {
  const step = steps.find((s) => (to - from) / s <= most) ?? steps.at(-1);
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const out = [];
  for (let t = Math.ceil((from - shift) / step) * step + shift; t <= to; t += step) out.push(t);
  return { step, times: out };
}
