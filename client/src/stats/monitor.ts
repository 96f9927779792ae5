// The streams of one fabric over time: readings in, rows and the application's view out.

import { row, pairSet, streamSet } from './columns.ts';
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

export interface Monitor {
  /** The end of an interval. */
  measure(reports: Iterable<Report>, atMs: number, areaOf: (ssrc: number) => number | null): Reading;
  /** A reading between intervals: only what is new becomes a starting point. */
  adopt(reports: Iterable<Report>, atMs: number): Reading;
  /** An interval begins. */
  begin(atMs: number): void;
  /** The selected pair of the last reading. */
  pair(): Pair | undefined;
  /** Whether the last reading has that SSRC. */
  has(ssrc: number): boolean;
}

interface Known {
  stream: Stream;
  atMs: number;
  freezes: { atMs: number; count: number }[];
  jitter: Mean;
  rtt: Mean;
}

interface Mean {
  sum: number;
  count: number;
}

const freezeWindowMs = 60_000;
const maxRows = 200; // a frame stays far below the limit of 64 KiB
const sameIntervalMs = 100;

export function createMonitor(startMs: number): Monitor {
  let known = new Map<string, Known>();
  let pairs = new Map<string, Pair>();
  let lastMs = startMs;

  function adoptNew(snapshot: Snapshot, atMs: number): Stream[] {
    const added = [...snapshot.streams.values()].filter((stream) => !known.has(stream.key));
    for (const stream of added) {
      known.set(stream.key, { stream, atMs, freezes: [], jitter: { sum: 0, count: 0 }, rtt: { sum: 0, count: 0 } });
    }
    return added;
  }

  function notePairs(snapshot: Snapshot, keep: boolean): Pair[] {
    const changed = [...snapshot.pairs].filter(([transport, pair]) => {
      const before = pairs.get(transport);
      return before && before.id !== pair.id;
    });
    // Between intervals the counters of known pairs stay where the interval began.
    const next = keep ? [...snapshot.pairs].map(([t, p]) => [t, pairs.get(t)?.id === p.id ? (pairs.get(t) as Pair) : p] as const) : snapshot.pairs;
    if (snapshot.pairs.size) pairs = new Map(next);
    return changed.map(([, pair]) => pair);
  }

  function measure(reports: Iterable<Report>, atMs: number, areaOf: (ssrc: number) => number | null): Reading {
    const snapshot = normalise(reports);
    const frameMs = span(lastMs, atMs);
    const frame = new Groups(frameMs);
    let pairRttMs: number | null = null;
    for (const [transport, pair] of snapshot.pairs) {
      const measures = measurePair(pairs.get(transport), pair);
      pairRttMs ??= num(measures.rttMs);
      frame.add(frameMs, pairSet, measures);
    }
    const intervals: StreamInterval[] = [];
    const next = new Map<string, Known>();
    for (const stream of snapshot.streams.values()) {
      const before = known.get(stream.key);
      if (!before) continue;
      const interval = advance(before, stream, atMs, pairRttMs, areaOf);
      next.set(stream.key, before);
      if (isIdle(stream)) continue;
      intervals.push(interval);
      frame.add(interval.ms, streamSet(stream.statsType, stream.mediaType), interval.measures);
    }
    known = next;
    lastMs = atMs;
    const changedPairs = notePairs(snapshot, false);
    return { intervals, groups: frame.list, added: adoptNew(snapshot, atMs), changedPairs };
  }

  return {
    measure,
    adopt(reports, atMs) {
      const snapshot = normalise(reports);
      return { intervals: [], groups: [], added: adoptNew(snapshot, atMs), changedPairs: notePairs(snapshot, true) };
    },
    begin(atMs) {
      lastMs = atMs;
    },
    pair: () => pairs.values().next().value,
    has: (ssrc) => [...known.values()].some((k) => k.stream.ssrc === ssrc),
  };
}

function span(fromMs: number, toMs: number): number {
  return Math.min(600_000, Math.max(1, Math.round(toMs - fromMs)));
}

/** A stream on which no packet ever went, as most of a large conference's are. */
function isIdle({ rtp }: Stream): boolean {
  return !(num(rtp.packetsReceived) ?? num(rtp.packetsSent));
}

/** The interval of a stream since its last reading, which this one replaces. */
function advance(known: Known, stream: Stream, atMs: number, pairRttMs: number | null, areaOf: (ssrc: number) => number | null): StreamInterval {
  const ms = span(known.atMs, atMs);
  const measures: Record<string, Cell> = { ...measureStream(known.stream, stream, ms, pairRttMs) };
  if (num(measures.freezes) !== null) {
    known.freezes.push({ atMs, count: num(measures.freezes) ?? 0 });
    known.freezes = known.freezes.filter((f) => atMs - f.atMs < freezeWindowMs);
    measures.freezes60s = known.freezes.reduce((sum, f) => sum + f.count, 0);
  }
  measures.displayedPixels = stream.mediaType === 'video' ? areaOf(stream.ssrc) : null;
  const sender = measureRemoteSender(known.stream.remote, stream.remote);
  known.stream = stream;
  known.atMs = atMs;
  return {
    stream,
    ms,
    measures,
    sender,
    meanJitterMs: mean(known.jitter, num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
    meanRttMs: mean(known.rtt, num(measures.rttMs)),
  };
}

function mean(sum: Mean, value: number | null): number | null {
  if (value !== null) {
    sum.sum += value;
    sum.count++;
  }
  return sum.count ? sum.sum / sum.count : null;
}

/** Rows, gathered by interval and cut into frames; the first group always exists. */
class Groups {
  readonly list: RowGroup[];

  constructor(frameMs: number) {
    this.list = [{ intervalMs: frameMs, sets: [], rows: [] }];
  }

  add(ms: number, set: number, measures: Measures): void {
    let group = this.list.find((g) => Math.abs(g.intervalMs - ms) <= sameIntervalMs && g.rows.length < maxRows);
    if (!group) {
      group = { intervalMs: ms, sets: [], rows: [] };
      this.list.push(group);
    }
    if (!group.sets.includes(set)) group.sets.push(set);
    group.rows.push(row(set, measures));
  }
}
