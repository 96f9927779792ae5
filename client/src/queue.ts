// The numbered frames (protocol sections 2 and 4.6): in order, bounded by bytes and age.
//
// Entries that were sent stand before those that were not. A sent frame keeps its text
// and is never changed or dropped; frames that were never sent are dropped when there are
// too many of them, measurements first and oldest first, and each number lost that way is
// declared by a skip, which stands in their place.

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
  done?: Done;
}

/** A frame in the queue, or the skip of a run of dropped ones. */
export interface Entry {
  seq: number;
  /** The first number: seq itself, or the start of a skipped run. */
  from: number;
  stamp: Stamp;
  fabrics: readonly number[];
  sets: readonly number[];
  isStats: boolean;
  bytes: number;
  sent: boolean;
  /** The frame as it goes on the wire; calling it fixes it for ever. */
  text(): string;
  lost?: Map<number, { stats: number; events: number }>;
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

const defaults: QueueLimits = { bytes: 1 << 20, ageMs: 2 * 3600_000, windowBytes: 256 << 10 };
const headBytes = 90; // type, seq, at and conferenceAt of any frame

export interface Queue {
  /** Numbers a frame; false when it is too large for the wire. */
  push(frame: Frame): boolean;
  /** The next entry to send within the window, null when there is none. */
  next(windowFrames: number): Entry | null;
  /** The entry that next() gave is on the wire. */
  sent(entry: Entry): void;
  /** From the last acknowledged number again. */
  rewind(): void;
  ack(seq: number): void;
  nack(seq: number, err: CsError, msg: string): void;
  /** The highest number up to which all is acknowledged. */
  acked(): number;
  /** Whether frames wait for an acknowledgement. */
  unacked(): boolean;
  /** Everything that is not acknowledged, in order. */
  waiting(): readonly Entry[];
  /** Drops until what was never sent fits into so many bytes; returns what waits then. */
  shrink(bytes: number): readonly Entry[];
  /** Calls the done of every frame that waits, and forgets it. */
  giveUp(err: CsError | 'failure', msg: string): void;
}

export function createQueue(clock: Clock, limits: QueueLimits = defaults): Queue {
  const entries: Entry[] = [];
  let lastSeq = 0;
  let ackedSeq = 0;
  let cursor = 0;

  const sentCount = () => {
    const first = entries.findIndex((entry) => !entry.sent);
    return first < 0 ? entries.length : first;
  };
  const total = (part: readonly Entry[]) => part.reduce((sum, entry) => sum + entry.bytes, 0);

  function drop(index: number): void {
    const entry = entries[index];
    if (!entry) return;
    settle(entry, 'failure', 'dropped before it could be sent');
    const before = entries[index - 1];
    const after = entries[index + 1];
    const merged = [before, entry, after].filter((e) => e !== undefined && !e.sent && (e === entry || e.lost)) as Entry[];
    entries.splice(before && merged.includes(before) ? index - 1 : index, merged.length, skipOf(merged, clock));
  }

  function dropOldest(): boolean {
    const start = sentCount();
    const waiting = entries.slice(start);
    let index = waiting.findIndex((entry) => entry.isStats);
    if (index < 0) index = waiting.findIndex((entry) => !entry.lost);
    if (index < 0) return false;
    drop(start + index);
    return true;
  }

  function shrink(bytes: number): readonly Entry[] {
    while (total(entries.slice(sentCount())) > bytes && dropOldest());
    return [...entries];
  }

  function enforceLimits(): void {
    const oldest = clock.stamp().ms - limits.ageMs;
    for (let i = sentCount(); i < entries.length && (entries[i]?.stamp.ms ?? oldest) < oldest; i++) {
      if (!entries[i]?.lost) drop(i--);
    }
    if (total(entries) > limits.bytes) shrink(limits.bytes - total(entries.slice(0, sentCount())));
  }

  return {
    push(frame) {
      const tail = JSON.stringify(frame.members).slice(1);
      const bytes = byteLength(tail) + headBytes;
      if (bytes > maxFrameBytes) return false;
      entries.push(entryOf(frame, ++lastSeq, tail, bytes, clock));
      enforceLimits();
      return true;
    },
    next(windowFrames) {
      const entry = entries[cursor];
      if (!entry || cursor >= windowFrames) return null;
      const inFlight = total(entries.slice(0, cursor));
      return cursor === 0 || inFlight + entry.bytes <= limits.windowBytes ? entry : null;
    },
    sent(entry) {
      entry.sent = true;
      cursor = entries.indexOf(entry) + 1;
    },
    rewind() {
      cursor = 0;
    },
    ack(seq) {
      while (entries[0]?.sent && entries[0].seq <= seq) {
        const entry = entries.shift() as Entry;
        ackedSeq = entry.seq;
        cursor = Math.max(0, cursor - 1);
        settle(entry, 'success', '');
      }
    },
    nack(seq, err, msg) {
      const entry = entries.find((e) => e.seq === seq);
      if (entry) settle(entry, err, msg);
    },
    acked: () => ackedSeq,
    unacked: () => cursor > 0,
    waiting: () => [...entries],
    shrink,
    giveUp(err, msg) {
      for (const entry of entries) settle(entry, err, msg);
    },
  };
}

function settle(entry: Entry, err: CsError | 'failure', msg: string): void {
  const { done } = entry;
  entry.done = undefined;
  done?.(err, msg);
}

function entryOf(frame: Frame, seq: number, tail: string, bytes: number, clock: Clock): Entry {
  let text = '';
  return {
    seq,
    from: seq,
    stamp: frame.stamp,
    fabrics: frame.fabric ? [frame.fabric] : [],
    sets: frame.sets ?? [],
    isStats: frame.type === 'stats',
    bytes,
    sent: false,
    done: frame.done,
    text() {
      if (text === '') {
        const conferenceAt = frame.conferenceAt ? `"conferenceAt":${clock.time(frame.conferenceAt)},` : '';
        text = `{"type":"${frame.type}","seq":${seq},"at":${clock.time(frame.stamp)},${conferenceAt}${tail}`;
      }
      return text;
    },
  };
}

/** One skip in the place of neighbouring entries that are dropped or were skips already. */
function skipOf(run: readonly Entry[], clock: Clock): Entry {
  const lost: NonNullable<Entry['lost']> = new Map();
  for (const entry of run) {
    const own = entry.lost ?? [[entry.fabrics[0] ?? 0, { stats: +entry.isStats, events: +!entry.isStats }] as const];
    for (const [fabric, { stats, events }] of own) {
      const sum = lost.get(fabric) ?? { stats: 0, events: 0 };
      lost.set(fabric, { stats: sum.stats + stats, events: sum.events + events });
    }
  }
  const first = run[0] as Entry;
  const last = run[run.length - 1] as Entry;
  let text = '';
  return {
    seq: last.seq,
    from: first.from,
    stamp: last.stamp,
    fabrics: [...lost.keys()].filter((fabric) => fabric > 0),
    sets: [],
    isStats: false,
    bytes: headBytes + 48 * lost.size,
    sent: false,
    lost,
    text() {
      text ||= JSON.stringify({
        type: 'skip',
        seq: last.seq,
        from: first.from,
        at: clock.time(last.stamp),
        lost: Array.from(lost, ([fabric, counts]) => ({ fabric, ...counts })),
      });
      return text;
    },
  };
}
