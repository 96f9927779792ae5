// The numbered frames (protocol sections 2 and 4.6): in order, bounded by bytes and age.
//
// Entries that were sent stand before those that were not. A sent frame keeps its text
// and is never changed or dropped; frames that were never sent are dropped when there are
// too many of them, measurements first, what makes a fabric's life known last, and the
// oldest first, and each number lost that way is declared by a skip, which stands in their
// place.

import type { Clock, Stamp } from './clock.ts';
import type { CsError } from './types.ts';
import { byteLength } from './validate.ts';

/** Told once what became of a frame. */
export type Done = (err: CsError | 'failure', msg: string) => void;

/** A frame to be numbered. */
export interface Frame {
  type: 'stats' | 'event' | 'error' | 'feedback' | 'log';
  stamp: Stamp;
  /** The fabric it belongs to, 0 for none. */
  fabric: number;
  /** The members after seq and at. */
  members: object;
  /** For frames without a fabric: a time inside the conference. */
  conferenceAt?: Stamp;
  /** The column sets that its rows use. */
  sets?: readonly number[];
  /** Dropped last: it tells of the fabric's life. */
  keep?: boolean;
  done?: Done;
}

type Lost = ReadonlyMap<number, { stats: number; events: number }>;

/** A frame in the queue, or the skip of a run of dropped ones. */
export interface Entry {
  seq: number;
  /** The first number: seq itself, or the start of a skipped run. */
  from: number;
  stamp: Stamp;
  /** The announcements that it needs. */
  fabrics: readonly number[];
  sets: readonly number[];
  /** What is dropped first: 0 a measurement, 1 another frame, 2 one of a fabric's life; 3, a skip, never. */
  rank: number;
  bytes: number;
  sent: boolean;
  /** Refused for good; its number waits for the ack. */
  refused?: boolean;
  /** Makes the frame as it goes on the wire; asked once. */
  write(): string;
  /** What write() made: it never changes. */
  text?: string;
  lost?: Lost;
  done?: Done | undefined;
}

/** Bounds of what waits. */
export interface QueueLimits {
  bytes: number;
  ageMs: number;
  windowBytes: number;
}

/** A frame of the wire is at most this long. */
export const maxFrameBytes = 65_536;

/** One that goes with hello and its context into one POST: any door must take any frame. */
export const maxEntryBytes = maxFrameBytes - 12_288;

const defaults: QueueLimits = { bytes: 1 << 20, ageMs: 2 * 3600_000, windowBytes: 256 << 10 };
const headBytes = 90; // type, seq, at and conferenceAt of any frame

/** The text of an entry, made at its first sending and kept for ever. */
export function textOf(entry: Entry): string {
  entry.text ??= entry.write();
  return entry.text;
}

export class Queue {
  readonly #entries: Entry[] = [];
  readonly #clock: Clock;
  readonly #limits: QueueLimits;
  #lastSeq = 0;
  #ackedSeq = 0;
  #cursor = 0;
  #unread = false;
  #doubted = 0;

  constructor(clock: Clock, limits: QueueLimits = defaults) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Numbers a frame; false when it is too large. */
  push(frame: Frame): boolean {
    const tail = JSON.stringify(frame.members).slice(1);
    const bytes = byteLength(tail) + headBytes;
    if (bytes > maxEntryBytes) return false;
    this.#entries.push(entryOf(frame, ++this.#lastSeq, tail, bytes, this.#clock));
    this.#enforceLimits();
    return true;
  }

  /** The next entry to send within the window, null when there is none. */
  next(windowFrames: number): Entry | null {
    const entry = this.#entries[this.#cursor];
    if (!entry || this.#cursor >= windowFrames) return null;
    const inFlight = total(this.#entries.slice(0, this.#cursor));
    return this.#cursor === 0 || inFlight + entry.bytes <= this.#limits.windowBytes ? entry : null;
  }

  /** The entry is on the wire. */
  sent(entry: Entry): void {
    entry.sent = true;
    this.#cursor = this.#entries.indexOf(entry) + 1;
  }

  /**
   * From the last acknowledged number again. Where the collector refused what had no number
   * that it could read, twice with the same frame as the first without an ack, it is that
   * frame: a skip takes its place (protocol section 2).
   */
  rewind(): void {
    this.#cursor = 0;
    const [first] = this.#entries;
    if (!this.#unread || !first?.sent) return;
    this.#unread = false;
    if (first.seq === this.#doubted) this.#drop(0);
    this.#doubted = first.seq;
  }

  /**
   * Everything up to seq is taken or refused; a number that was never sent cannot be.
   * Returns whether a frame was taken.
   */
  ack(seq: number): boolean {
    let taken = false;
    for (let entry = this.#entries[0]; entry?.sent && entry.seq <= seq; entry = this.#entries[0]) {
      this.#entries.shift();
      this.#ackedSeq = entry.seq;
      this.#cursor = Math.max(0, this.#cursor - 1);
      settle(entry, 'success', '');
      taken ||= !entry.refused;
    }
    return taken;
  }

  /** One frame is refused for good; its number, NaN where it could not be read, waits for the ack. */
  nack(seq: number, err: CsError, msg: string): void {
    const entry = this.#entries.find((e) => e.seq === seq);
    this.#unread ||= !seq;
    if (!entry) return;
    entry.refused = true;
    settle(entry, err, msg);
  }

  /** The highest number up to which all is acknowledged. */
  acked(): number {
    return this.#ackedSeq;
  }

  /** Whether frames wait for an acknowledgement. */
  unacked(): boolean {
    return this.#cursor > 0;
  }

  /** Everything that is not acknowledged, in order. */
  waiting(): readonly Entry[] {
    return [...this.#entries];
  }

  /** Drops until what was never sent takes at most so many bytes. */
  shrink(bytes: number): void {
    while (total(this.#entries.slice(this.#sentCount())) > bytes && this.#dropOldest());
  }

  /** Tells every frame that waits what to expect; they go on waiting. */
  giveUp(err: CsError | 'failure', msg: string): void {
    for (const entry of this.#entries) settle(entry, err, msg);
  }

  #sentCount(): number {
    const first = this.#entries.findIndex((entry) => !entry.sent);
    return first < 0 ? this.#entries.length : first;
  }

  #enforceLimits(): void {
    const oldest = this.#clock.stamp().ms - this.#limits.ageMs;
    const tooOld = () => this.#entries.findIndex((e) => !e.sent && !e.lost && e.stamp.ms < oldest);
    for (let at = tooOld(); at >= 0; at = tooOld()) this.#drop(at);
    const { bytes } = this.#limits;
    if (total(this.#entries) > bytes) this.shrink(bytes - total(this.#entries.slice(0, this.#sentCount())));
  }

  #dropOldest(): boolean {
    const droppable = this.#entries.filter((entry) => !entry.sent && entry.rank < 3);
    const [first] = droppable.sort((a, b) => a.rank - b.rank); // the oldest of a rank stays in front
    if (!first) return false;
    this.#drop(this.#entries.indexOf(first));
    return true;
  }

  /** Puts a skip in the place of an entry, together with the skips beside it. */
  #drop(index: number): void {
    const entry = this.#entries[index] as Entry;
    settle(entry, 'failure', 'dropped before it could be sent');
    const isSkip = (other: Entry | undefined) => other?.lost && !other.sent;
    const start = isSkip(this.#entries[index - 1]) ? index - 1 : index;
    const end = isSkip(this.#entries[index + 1]) ? index + 2 : index + 1;
    this.#entries.splice(start, end - start, skipOf(this.#entries.slice(start, end), this.#clock));
  }
}

function total(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0);
}

function settle(entry: Entry, err: CsError | 'failure', msg: string): void {
  const { done } = entry;
  entry.done = undefined;
  done?.(err, msg);
}

function entryOf(frame: Frame, seq: number, tail: string, bytes: number, clock: Clock): Entry {
  const { type, stamp, fabric, sets = [], keep, done, conferenceAt } = frame;
  return {
    seq,
    from: seq,
    stamp,
    fabrics: fabric ? [fabric] : [],
    sets,
    rank: type === 'stats' ? 0 : keep ? 2 : 1,
    bytes,
    sent: false,
    done,
    write() {
      const inside = conferenceAt ? `"conferenceAt":${clock.time(conferenceAt)},` : '';
      return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${tail}`;
    },
  };
}

/** One skip for neighbouring entries that are dropped or were skips already. */
function skipOf(run: readonly Entry[], clock: Clock): Entry {
  const lost = new Map<number, { stats: number; events: number }>();
  for (const entry of run) {
    const own: Iterable<readonly [number, { stats: number; events: number }]> = entry.lost ?? [
      [entry.fabrics[0] ?? 0, { stats: +!entry.rank, events: +!!entry.rank }],
    ];
    for (const [fabric, { stats, events }] of own) {
      const sum = lost.get(fabric) ?? { stats: 0, events: 0 };
      lost.set(fabric, { stats: sum.stats + stats, events: sum.events + events });
    }
  }
  const { from } = run[0] as Entry;
  const { seq, stamp } = run[run.length - 1] as Entry;
  return {
    seq,
    from,
    stamp,
    fabrics: [...lost.keys()].filter(Boolean),
    sets: [],
    rank: 3,
    bytes: headBytes + 48 * lost.size,
    sent: false,
    lost,
    write: () =>
      JSON.stringify({
        type: 'skip',
        seq,
        from,
        at: clock.time(stamp),
        lost: Array.from(lost, ([fabric, counts]) => ({ fabric, ...counts })),
      }),
  };
}
