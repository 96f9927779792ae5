// The numbered frames (protocol sections 2 and 4.6): in order, bounded by bytes and age.
//
// Entries that were sent stand before those that were not. A sent frame keeps its text
// and is never changed or dropped; frames that were never sent are dropped when there are
// too many of them, measurements first, what makes a fabric's life known last, and the
// oldest first, and each number lost that way is declared by a skip, which stands in their
// place.

import type { Clock, Stamp } from './clock.ts';
import { json } from './result.ts';
import type { CsError } from './types.ts';
import { byteLength } from './validate.ts';

/** Called once with what became of a frame. */
export type Done = (err: CsError | 'failure', msg: string) => void;

/** A frame to be numbered. */
export interface Frame {
  type: 'stats' | 'event' | 'error' | 'sdp' | 'feedback' | 'log';
  stamp: Stamp;
  /** The fabric, or one of the conference, that loses it when it is dropped; 0 for none. */
  fabric: number;
  /** The members after seq and at. */
  members: object;
  /** For frames without a fabric: a time inside the conference. */
  insideAt?: Stamp | undefined;
  /** The column sets that its rows use. */
  sets?: readonly number[];
  /** Dropped last: it tells of the fabric's life. */
  keep?: boolean;
  done?: Done | undefined;
}

/** Frames without a way: how many of a fabric, 0 for those of none. */
interface Lost {
  fabric: number;
  stats: number;
  events: number;
}

/** A frame in the queue, or the skip of a run of dropped ones. */
export interface Entry {
  seq: number;
  /** The first number: seq itself, or the start of a skipped run. */
  firstSeq: number;
  stamp: Stamp;
  /** The column sets that it needs announced. */
  sets: readonly number[];
  /** What is lost without it, or was: of the fabrics that it needs announced. */
  lost: readonly Lost[];
  /**
   * What is dropped first: 0 a measurement, 0.5 a part of an SDP, 1 another frame, 2 one of a
   * fabric's life; 3, a skip, never.
   */
  rank: number;
  byteCount: number;
  sent: boolean;
  /** Refused for good; its number waits for the ack. */
  refused?: boolean;
  /** The frame as it goes on the wire: written when first asked for, and never changed. */
  line(): string;
  done?: Done | undefined;
}

/** Bounds of what waits. */
export interface QueueLimits {
  maxBytes: number;
  ageMs: number;
  windowBytes: number;
}

/** A frame of the wire is at most this long. */
export const maxFrameBytes = 65_536;

/** One that goes with hello and its context into one POST: any door must take any frame. */
export const maxEntryBytes = maxFrameBytes - 12_288;

const headBytes = 90; // type, seq, at and conferenceAt of any frame

const skipRank = 3;

/** The numbered frames of a session. */
export type Queue = ReturnType<typeof createQueue>;

export function createQueue(
  clock: Clock,
  { maxBytes = 1 << 20, ageMs = 2 * 3600_000, windowBytes = 256 << 10 }: Partial<QueueLimits> = {},
) {
  const entries: Entry[] = [];
  let lastSeq = 0;
  let ackedSeq = 0;
  let cursor = 0;
  let unread = false;
  let doubted = 0;

  /** Puts a skip in the place of an entry, together with the unsent skips beside it. */
  function drop(entry: Entry): void {
    settle(entry, 'failure', 'dropped unsent');
    const at = entries.indexOf(entry);
    const skipAt = (index: number) => Number(entries[index]?.rank === skipRank && !entries[index]?.sent);
    const start = at - skipAt(at - 1);
    const end = at + 1 + skipAt(at + 1);
    entries.splice(start, end - start, skipOf(entries.slice(start, end), clock));
  }

  const droppable = () => entries.filter((entry) => !entry.sent && entry.rank < skipRank);

  /** Drops until what was never sent takes at most so many bytes. */
  function shrink(bytes: number): void {
    while (total(entries.filter((entry) => !entry.sent)) > bytes) {
      const [first] = droppable().sort((a, b) => a.rank - b.rank); // the oldest of a rank stays in front
      if (!first) return;
      drop(first);
    }
  }

  return {
    shrink,

    /** Returns the number of a frame; 0 when it is too large. */
    push(frame: Frame): number {
      const tail = json(frame.members).slice(1);
      const bytes = byteLength(tail) + headBytes;
      if (bytes > maxEntryBytes) return 0;
      entries.push(entryOf(frame, ++lastSeq, tail, bytes, clock));
      const oldestMs = frame.stamp.ms - ageMs;
      for (const entry of droppable()) if (entry.stamp.ms < oldestMs) drop(entry);
      shrink(maxBytes - total(entries.filter((entry) => entry.sent)));
      return lastSeq;
    },

    /** The next entry to send within the window. */
    upNext(windowFrames: number): Entry | undefined {
      const entry = entries[cursor];
      return cursor < windowFrames && (!cursor || total(entries.slice(0, cursor + 1)) <= windowBytes)
        ? entry
        : undefined;
    },

    /** The entry is on the wire. */
    sent(entry: Entry): void {
      entry.sent = true;
      cursor = entries.indexOf(entry) + 1;
    },

    /**
     * From the last acknowledged number again. Where the collector refused what had no number
     * that it could read, twice with the same frame as the first without an ack, it is that
     * frame: a skip takes its place (protocol section 2).
     */
    rewind(): void {
      cursor = 0;
      const [first] = entries;
      if (!unread || !first?.sent) return;
      unread = false;
      if (first.seq === doubted) drop(first);
      doubted = first.seq;
    },

    /**
     * Everything up to seq is taken or refused; a number that was never sent cannot be.
     * Returns whether a frame was taken.
     */
    ack(seq: number): boolean {
      let taken = false;
      for (let entry = entries[0]; entry?.sent && entry.seq <= seq; entry = entries[0]) {
        entries.shift();
        ackedSeq = entry.seq;
        cursor = Math.max(0, cursor - 1);
        settle(entry, 'success', '');
        taken ||= !entry.refused;
      }
      return taken;
    },

    /** One frame is refused for good; its number, NaN where it could not be read, waits for the ack. */
    nack(seq: number, err: CsError, msg: string): void {
      unread ||= !seq;
      const entry = entries.find((other) => other.seq === seq);
      if (!entry) return;
      entry.refused = true;
      settle(entry, err, msg);
    },

    /** The highest number up to which all is acknowledged. */
    lastAcked: () => ackedSeq,

    /** Whether frames wait for an acknowledgement. */
    unacked: () => cursor > 0,

    /** Everything that is not acknowledged, in order. */
    waiting: (): readonly Entry[] => [...entries],

    /** Tells every frame that waits what to expect; they go on waiting. */
    giveUp(err: CsError | 'failure', msg: string): void {
      for (const entry of entries) settle(entry, err, msg);
    },
  };
}

/** The bytes of entries. */
export const total = (entries: readonly Entry[]) => entries.reduce((sum, entry) => sum + entry.byteCount, 0);

function settle(entry: Entry, err: CsError | 'failure', msg: string): void {
  entry.done?.(err, msg);
  entry.done = undefined;
}

/** Writes when first asked; then the text stays, whatever the clock learns. */
export function once(write: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= write();
    return text;
  };
}

function entryOf(frame: Frame, seq: number, tail: string, bytes: number, clock: Clock): Entry {
  const { type, stamp, fabric, sets = [], keep, done, insideAt } = frame;
  const measured = type === 'stats';
  return {
    seq,
    firstSeq: seq,
    stamp,
    sets,
    lost: [{ fabric, stats: Number(measured), events: Number(!measured) }],
    rank: measured ? 0 : type === 'sdp' ? 0.5 : keep ? 2 : 1,
    byteCount: bytes,
    sent: false,
    done,
    line: once(() => {
      const inside = insideAt ? `"conferenceAt":${clock.time(insideAt)},` : '';
      return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${tail}`;
    }),
  };
}

/** One skip for neighbouring entries that are dropped or were skips already. */
function skipOf(run: readonly Entry[], clock: Clock): Entry {
  const sums = new Map<number, Lost>();
  for (const { fabric, stats, events } of run.flatMap((entry) => entry.lost)) {
    const before = sums.get(fabric);
    sums.set(fabric, { fabric, stats: stats + (before?.stats ?? 0), events: events + (before?.events ?? 0) });
  }
  const lost = [...sums.values()];
  const { firstSeq } = run[0] as Entry;
  const { seq, stamp } = run.at(-1) as Entry;
  return {
    seq,
    firstSeq,
    stamp,
    sets: [],
    lost,
    rank: skipRank,
    byteCount: headBytes + 48 * lost.length,
    sent: false,
    line: once(() => json({ type: 'skip', seq, from: firstSeq, at: clock.time(stamp), lost })),
  };
}
