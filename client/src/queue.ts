// The numbered frames (protocol sections 2 and 4.6): in order, bounded by bytes and age.
//
// Entries that were sent are before those that were not. A sent frame keeps its text
// and is never changed or dropped. When those that were never sent take too much, each measurement
// is first merged into the next; then they are dropped: measurements first, events of a fabric's life last,
// of one kind the oldest first. Each number that is lost that way is declared by a skip in its place.

import type { Clock, Stamp } from './clock.ts';
import { json } from './result.ts';
import { merge } from './stats/merge.ts';
import type { CsError } from './types.ts';
import { byteLength } from './validate.ts';

/** Called once with the outcome of a frame. */
export type Done = (err: CsError | 'failure', msg: string) => void;

/** A frame to be numbered. */
export interface Frame {
  type: 'stats' | 'event' | 'error' | 'sdp' | 'feedback' | 'log' | 'precall';
  stamp: Stamp;
  /** The fabric, or one of the conference, that loses it when it is dropped; 0 for none. */
  fabric: number;
  /** The members after seq and at. */
  members: object;
  /** For frames without a fabric: a time inside the conference. */
  insideAt?: Stamp | undefined;
  /** The column sets that its rows use. */
  sets?: readonly number[];
  /** Dropped last: it is an event of the fabric's life. */
  keep?: boolean;
  done?: Done | undefined;
}

/** Frames that are dropped: how many of a fabric, 0 for those of none. */
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
  /** The frames that it carries or declares lost, by fabric: each fabric is announced before it. */
  lost: readonly Lost[];
  /**
   * The lowest is dropped first: 0 a measurement, 0.5 a part of an SDP, 1 another frame, 2 one of
   * a fabric's life; 3, a skip, is never dropped.
   */
  rank: number;
  byteCount: number;
  sent: boolean;
  /** The frame after its number and times; empty for a skip. */
  tail: string;
  /** Its line was written, or it could not be merged with the next measurement: it is not merged any more. */
  closed?: boolean;
  /** The collector refused it for good; its number waits for the ack. */
  refused?: boolean;
  /** The frame as it is sent: written at the first call, and never changed. */
  line(): string;
  done?: Done | undefined;
}

/** The limits of a queue. */
export interface QueueLimits {
  /** Of all that waits. */
  mostBytes: number;
  /** Frames that are older than the newest by more are dropped unsent. */
  ageMs: number;
  /** Of all that is sent and not acknowledged. */
  windowBytes: number;
}

/** A frame of the wire is at most this long. */
export const maxFrameBytes = 65_536;

/** One that has room in a POST with its hello and announcements: each frame can be sent by either. */
export const maxEntryBytes = maxFrameBytes - 12_288;

const headBytes = 90; // type, seq, at and conferenceAt of any frame

const skipRank = 3;

/** The numbered frames of a session. Only the functions of this file write it. */
export interface Queue extends QueueLimits {
  clock: Clock;
  /** All that is not acknowledged, in order: entries that were sent, then the others. */
  pending: Entry[];
  /** The number of the newest frame; 0 before the first. */
  lastSeq: number;
  /** The highest number up to which all is acknowledged; 0 at first. */
  ackedSeq: number;
  /** The index of the entry to send next: all before it are sent on this connection. */
  cursor: number;
  /** The collector refused a frame whose number it could not read. */
  unread: boolean;
  /** The number of the first entry when that happened last; 0 for never. */
  suspectSeq: number;
}

export const createQueue = (clock: Clock, limits: Partial<QueueLimits> = {}): Queue => ({
  clock,
  mostBytes: 1 << 20,
  ageMs: 2 * 3600_000,
  windowBytes: 256 << 10,
  ...limits,
  pending: [],
  lastSeq: 0,
  ackedSeq: 0,
  cursor: 0,
  unread: false,
  suspectSeq: 0,
});

function drop(queue: Queue, entry: Entry): void {
  settle(entry, 'failure', 'dropped unsent');
  skip(queue, entry);
}

/** Puts a skip in the place of an entry, together with the unsent skips beside it. */
function skip({ pending, clock }: Queue, entry: Entry): void {
  const at = pending.indexOf(entry);
  const skipAt = (index: number) => Number(pending[index]?.rank === skipRank && !pending[index]?.sent);
  const start = at - skipAt(at - 1);
  const end = at + 1 + skipAt(at + 1);
  pending.splice(start, end - start, skipOf(pending.slice(start, end), clock));
}

const droppable = ({ pending }: Queue) => pending.filter((entry) => !entry.sent && entry.rank < skipRank);

/** Merges, then drops, until what was never sent takes at most so many bytes. */
export function shrink(queue: Queue, bytes: number): void {
  while (total(queue.pending.filter((entry) => !entry.sent)) > bytes) {
    const entries = droppable(queue).sort((a, b) => a.rank - b.rank); // the oldest of a rank stays in front
    if (!entries[0]) return;
    if (!entries.some((entry) => join(queue, entry))) drop(queue, entries[0]);
  }
}

/** Merges a measurement into the next of its fabric; false where it cannot be. */
function join(queue: Queue, entry: Entry): boolean {
  if (entry.rank || entry.closed) return false;
  const fabricOf = ({ lost }: Entry) => lost[0]?.fabric;
  const later = queue.pending.slice(queue.pending.indexOf(entry) + 1);
  const next = later.find((other) => !other.rank && fabricOf(other) === fabricOf(entry));
  if (!next || next.closed) return false;
  const merged = merge(JSON.parse(`{${entry.tail}`), JSON.parse(`{${next.tail}`));
  const tail = merged ? json(merged).slice(1) : '';
  const bytes = byteLength(tail) + headBytes;
  entry.closed = !tail || bytes > maxEntryBytes;
  if (entry.closed) return false;
  next.tail = tail;
  next.byteCount = bytes;
  entry.lost = [];
  skip(queue, entry);
  return true;
}

/** Returns the number of a frame; 0 when it is too large. */
export function push(queue: Queue, frame: Frame): number {
  const tail = json(frame.members).slice(1);
  const bytes = byteLength(tail) + headBytes;
  if (bytes > maxEntryBytes) return 0;
  const { pending, ageMs, mostBytes, clock } = queue;
  pending.push(entryOf(frame, ++queue.lastSeq, tail, bytes, clock));
  const oldestMs = frame.stamp.ms - ageMs;
  for (const entry of droppable(queue)) if (entry.stamp.ms < oldestMs) drop(queue, entry);
  shrink(queue, mostBytes - total(pending.filter((entry) => entry.sent)));
  return queue.lastSeq;
}

/** The next entry to send within the window of so many frames; undefined for none. */
export function upNext({ pending, cursor, windowBytes }: Queue, frameWindow: number): Entry | undefined {
  const fits = cursor < frameWindow && (!cursor || total(pending.slice(0, cursor + 1)) <= windowBytes);
  return fits ? pending[cursor] : undefined;
}

/** The entry is on the wire. */
export function markSent(queue: Queue, entry: Entry): void {
  entry.sent = true;
  queue.cursor = queue.pending.indexOf(entry) + 1;
}

/**
 * Sends from the last acknowledged number again. Where the collector refused a frame whose number
 * it could not read, twice with the same first entry and no ack between, it is that entry: a
 * skip takes its place (protocol section 2).
 */
export function rewind(queue: Queue): void {
  queue.cursor = 0;
  const [first] = queue.pending;
  if (!queue.unread || !first?.sent) return;
  queue.unread = false;
  if (first.seq === queue.suspectSeq) drop(queue, first);
  queue.suspectSeq = first.seq;
}

/**
 * Everything up to seq is stored or refused; a number that was never sent cannot be.
 * Returns whether a frame was stored.
 */
export function acknowledge(queue: Queue, seq: number): boolean {
  const { pending } = queue;
  let stored = false;
  for (let entry = pending[0]; entry?.sent && entry.seq <= seq; entry = pending[0]) {
    pending.shift();
    queue.ackedSeq = entry.seq;
    queue.cursor = Math.max(0, queue.cursor - 1);
    settle(entry, 'success', '');
    stored ||= !entry.refused;
  }
  return stored;
}

/** The collector refused a frame; its number, NaN where it could not be read, waits for the ack. */
export function refuse(queue: Queue, seq: number, err: CsError, msg: string): void {
  queue.unread ||= !seq;
  const entry = queue.pending.find((other) => other.seq === seq);
  if (!entry) return;
  entry.refused = true;
  settle(entry, err, msg);
}

/** Reports a failure for every frame that waits; it still waits. */
export function giveUp(queue: Queue, err: CsError | 'failure', msg: string): void {
  for (const entry of queue.pending) settle(entry, err, msg);
}

/** The bytes of entries. */
export const total = (entries: readonly Entry[]) => entries.reduce((sum, entry) => sum + entry.byteCount, 0);

function settle(entry: Entry, err: CsError | 'failure', msg: string): void {
  entry.done?.(err, msg);
  entry.done = undefined;
}

/** Writes at the first call; then the text stays, whatever the clock's next samples are. */
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
  const entry: Entry = {
    seq,
    firstSeq: seq,
    stamp,
    sets,
    lost: [{ fabric, stats: Number(measured), events: Number(!measured) }],
    rank: measured ? 0 : type === 'sdp' ? 0.5 : keep ? 2 : 1,
    byteCount: bytes,
    sent: false,
    tail,
    done,
    line: once(() => {
      entry.closed = true;
      const inside = insideAt ? `"conferenceAt":${clock.time(insideAt)},` : '';
      return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${entry.tail}`;
    }),
  };
  return entry;
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
    tail: '',
    line: once(() => json({ type: 'skip', seq, from: firstSeq, at: clock.time(stamp), lost })),
  };
}
