// The streams of one fabric over time: readings in, rows and intervals out.

import { pairSet, row, streamSet } from './columns.ts';
import { type Cell, type Measures, measurePair, measureRemoteSender, measureStream } from './interval.ts';
import { normalise, num, type Pair, type Report, type Snapshot, type Stream } from './normalise.ts';

/** One stream in one interval. */
export interface StreamInterval {
  stream: Stream;
  ms: number;
  measures: Measures;
  /** What the sender of an inbound stream says it sent. */
  sender: { bytes: number | null; packets: number | null };
  meanJitterMs: number | null;
  meanRttMs: number | null;
}

/** Rows that share an interval: one frame. */
export interface RowGroup {
  intervalMs: number;
  sets: number[];
  rows: Cell[][];
}

/** What one reading brought. */
export interface Reading {
  intervals: StreamInterval[];
  groups: RowGroup[];
  added: Stream[];
  /** Pairs that took the place of others. */
  changedPairs: Pair[];
}

/** The area of the element that shows a video, null when unknown. */
export type AreaOf = (ssrc: number) => number | null;

const freezeWindowMs = 60_000;
const maxRows = 200; // a frame stays far below the limit of 64 KiB
const sameIntervalMs = 100;
const tooShortMs = 500; // rates over less say nothing: the interval goes on

export class Monitor {
  #known = new Map<string, Known>();
  #pairs = new Map<string, Pair>();
  #lastMs: number;

  constructor(startMs: number) {
    this.#lastMs = startMs;
  }

  /** An interval begins. */
  begin(atMs: number): void {
    this.#lastMs = atMs;
  }

  /** The selected pair of the last reading. */
  pair(): Pair | undefined {
    return this.#pairs.values().next().value;
  }

  /** Whether the last reading has that SSRC. */
  has(ssrc: number): boolean {
    return [...this.#known.values()].some((known) => known.stream.ssrc === ssrc);
  }

  /** A reading between intervals: only what is new becomes a starting point. */
  adopt(reports: Iterable<Report>, atMs: number): Reading {
    const snapshot = normalise(reports);
    const added = this.#adoptNew(snapshot, atMs);
    const changedPairs = this.#changed(snapshot);
    for (const pair of changedPairs) this.#pairs.set(pair.transport, pair);
    for (const [transport, pair] of snapshot.pairs) if (!this.#pairs.has(transport)) this.#pairs.set(transport, pair);
    return { intervals: [], groups: [], added, changedPairs };
  }

  /** The end of an interval. */
  measure(reports: Iterable<Report>, atMs: number, areaOf: AreaOf): Reading {
    const snapshot = normalise(reports);
    const frameMs = span(this.#lastMs, atMs);
    const groups: RowGroup[] = [{ intervalMs: frameMs, sets: [], rows: [] }];
    let pairRttMs: number | null = null;
    for (const [transport, pair] of snapshot.pairs) {
      const measures = measurePair(this.#pairs.get(transport), pair);
      pairRttMs ??= num(measures.rttMs);
      addRow(groups, frameMs, pairSet, measures);
    }
    const intervals: StreamInterval[] = [];
    for (const [key, known] of this.#known) {
      const stream = snapshot.streams.get(key);
      if (!stream) this.#known.delete(key);
      else if (atMs - known.atMs >= tooShortMs) {
        const interval = known.advance(stream, atMs, pairRttMs, areaOf);
        if (isIdle(stream)) continue;
        intervals.push(interval);
        addRow(groups, interval.ms, streamSet(stream.statsType, stream.mediaType), interval.measures);
      }
    }
    this.#lastMs = atMs;
    const changedPairs = this.#changed(snapshot);
    if (snapshot.pairs.size) this.#pairs = snapshot.pairs;
    return { intervals, groups, added: this.#adoptNew(snapshot, atMs), changedPairs };
  }

  #adoptNew(snapshot: Snapshot, atMs: number): Stream[] {
    const added = [...snapshot.streams.values()].filter((stream) => !this.#known.has(stream.key));
    for (const stream of added) this.#known.set(stream.key, new Known(stream, atMs));
    return added;
  }

  #changed(snapshot: Snapshot): Pair[] {
    return [...snapshot.pairs.values()].filter((pair) => {
      const before = this.#pairs.get(pair.transport);
      return before && before.id !== pair.id;
    });
  }
}

/** What is kept of a stream between readings. */
class Known {
  stream: Stream;
  atMs: number;
  #freezes: { atMs: number; count: number }[] = [];
  readonly #jitter = new Mean();
  readonly #rtt = new Mean();

  constructor(stream: Stream, atMs: number) {
    this.stream = stream;
    this.atMs = atMs;
  }

  /** The interval since the last reading, which this one replaces. */
  advance(stream: Stream, atMs: number, pairRttMs: number | null, areaOf: AreaOf): StreamInterval {
    const ms = span(this.atMs, atMs);
    const measures: Record<string, Cell> = { ...measureStream(this.stream, stream, ms, pairRttMs) };
    if (stream.mediaType === 'video') {
      measures.displayedPixels = areaOf(stream.ssrc);
      measures.freezes60s = this.#recentFreezes(num(measures.freezes), atMs);
    }
    const sender = measureRemoteSender(this.stream.remote, stream.remote);
    this.stream = stream;
    this.atMs = atMs;
    return {
      stream,
      ms,
      measures,
      sender,
      meanJitterMs: this.#jitter.with(num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
      meanRttMs: this.#rtt.with(num(measures.rttMs)),
    };
  }

  #recentFreezes(count: number | null, atMs: number): number | null {
    if (count === null) return null;
    this.#freezes = this.#freezes.filter((f) => atMs - f.atMs < freezeWindowMs);
    if (count) this.#freezes.push({ atMs, count });
    return this.#freezes.reduce((sum, f) => sum + f.count, 0);
  }
}

/** The mean of all values so far. */
class Mean {
  #sum = 0;
  #count = 0;

  with(value: number | null): number | null {
    if (value !== null) {
      this.#sum += value;
      this.#count++;
    }
    return this.#count ? this.#sum / this.#count : null;
  }
}

function span(fromMs: number, toMs: number): number {
  return Math.min(600_000, Math.max(1, Math.round(toMs - fromMs)));
}

/** A stream on which no packet ever went, as most of a large conference's are. */
function isIdle({ rtp }: Stream): boolean {
  return !(num(rtp.packetsReceived) ?? num(rtp.packetsSent));
}

/** Rows are gathered by interval and cut into frames. */
function addRow(groups: RowGroup[], ms: number, set: number, measures: Measures): void {
  let group = groups.find((g) => Math.abs(g.intervalMs - ms) <= sameIntervalMs && g.rows.length < maxRows);
  if (!group) {
    group = { intervalMs: ms, sets: [], rows: [] };
    groups.push(group);
  }
  if (!group.sets.includes(set)) group.sets.push(set);
  group.rows.push(row(set, measures));
}
