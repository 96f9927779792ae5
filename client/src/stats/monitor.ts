// The streams of one fabric over time: readings in, rows and intervals out.

import { type Counts, measurePair, measureStream, type SenderInterval } from './interval.ts';
import { bounded, type Cell, type Measures, pairSet, rangeOf, row, streamSet } from './measures.ts';
import { normalise, num, type Pair, type Report, type Snapshot, type Stream } from './normalise.ts';

/** One stream in one interval. */
export interface StreamInterval {
  stream: Stream;
  ms: number;
  measures: Measures;
  sender: SenderInterval;
  meanJitterMs: number | null;
  meanRttMs: number | null;
}

/** Rows that share an interval: one frame. */
export interface RowGroup {
  intervalMs: number;
  sets: number[];
  rows: Cell[][];
}

/** What is new in a reading. */
export interface News {
  added: Stream[];
  /** Pairs that took the place of others. */
  changedPairs: Pair[];
}

/** What one measurement brought. */
export interface Reading extends News {
  intervals: StreamInterval[];
  groups: RowGroup[];
}

/** The area of the element that shows a video, null when unknown. */
export type AreaOf = (ssrc: number) => number | null;

const freezeWindowMs = 60_000;
const maxRows = 200; // a frame stays far below the limit of 64 KiB
const sameIntervalMs = 100;
const tooShortMs = 500; // rates over less say nothing: the interval goes on
const latestMs = 5000; // of an answer of getStats: see readStats
const forgottenMs = 30_000; // a stream may be missing for a while, as when getStats fails once

/** The streams and pairs of a fabric between its readings. */
export function createMonitor(startMs: number) {
  const streams = new Map<string, Known>();
  let pairs = new Map<string, Pair>();
  /** Of the last measurement: what candidate pairs are counted from. */
  let base = new Map<unknown, Report>();
  let lastMs = startMs;
  let aheadMs = Number.POSITIVE_INFINITY;

  /**
   * When the counters were taken, on the page's clock: a busy page hears of them late. The
   * fastest answer so far tells how far the page's clock is ahead of the reports' own.
   */
  function takenAt({ takenMs }: Snapshot, atMs: number): number {
    if (takenMs === null) return atMs;
    aheadMs = Math.min(aheadMs, atMs - takenMs);
    if (atMs - takenMs - aheadMs > latestMs) aheadMs = atMs - takenMs; // their clock was set, or stands still
    return takenMs + aheadMs;
  }

  function adoptNew(snapshot: Snapshot, atMs: number): Stream[] {
    const added = [...snapshot.byKey.values()].filter(({ key }) => !streams.has(key));
    for (const stream of added) {
      const counts: Counts = {};
      measureStream(counts, stream, 1, null); // for what it is counted from
      streams.set(stream.key, { ssrc: stream.ssrc, counts, atMs, frozen: [], jitters: mean(), rtts: mean() });
    }
    return added;
  }

  const changed = (snapshot: Snapshot) =>
    [...snapshot.pairs.values()].filter(({ id, transport }) => (pairs.get(transport)?.id ?? id) !== id);

  return {
    /** An interval begins. */
    begin(atMs: number): void {
      lastMs = atMs;
    },

    /** The selected pair of the last reading. */
    pair: (): Pair | undefined => pairs.values().next().value,

    /** Whether that SSRC is in the last readings. */
    hasStream: (ssrc: number | undefined) => [...streams.values()].some((known) => known.ssrc === ssrc),

    /** A reading between intervals: only what is new becomes a starting point. */
    adopt(reports: Iterable<Report>, atMs: number): News {
      const snapshot = normalise(reports);
      const changedPairs = changed(snapshot);
      const taken = [...snapshot.pairs].filter(([transport, pair]) => pairs.get(transport)?.id !== pair.id);
      for (const [transport, pair] of taken) {
        if (!pairs.has(transport)) base = new Map([...snapshot.byId, ...base]);
        pairs.set(transport, pair);
      }
      return { added: adoptNew(snapshot, takenAt(snapshot, atMs)), changedPairs };
    },

    /** The end of an interval. */
    measure(reports: Iterable<Report>, atMs: number, areaOf: AreaOf): Reading {
      const snapshot = normalise(reports);
      const takenMs = takenAt(snapshot, atMs);
      const frameMs = span(lastMs, atMs);
      const groups: RowGroup[] = [{ intervalMs: frameMs, sets: [], rows: [] }];
      const intervals: StreamInterval[] = [];
      let pairRttMs: number | null = null;
      for (const pair of snapshot.pairs.values()) {
        const measures = measurePair(base.get(pair.id), pair);
        pairRttMs ??= num(measures.rttMs);
        addRow(groups, frameMs, pairSet, measures);
      }
      for (const [key, known] of streams) {
        const stream = snapshot.byKey.get(key);
        const ms = takenMs - known.atMs;
        if (!stream && ms > forgottenMs) streams.delete(key);
        if (!stream || ms < tooShortMs) continue;
        const interval = advance(known, stream, takenMs, pairRttMs, areaOf);
        if (isIdle(known)) continue;
        intervals.push(interval);
        addRow(groups, interval.ms, streamSet(stream.statsType, stream.mediaType), interval.measures);
      }
      lastMs = atMs;
      const changedPairs = changed(snapshot);
      if (snapshot.pairs.size) {
        pairs = snapshot.pairs;
        base = snapshot.byId;
      }
      return { intervals, groups, added: adoptNew(snapshot, takenMs), changedPairs };
    },
  };
}

/** What is kept of a stream between readings. */
interface Known {
  ssrc: number;
  counts: Counts;
  atMs: number;
  frozen: { atMs: number; grown: number }[];
  jitters: Mean;
  rtts: Mean;
}

/** The interval since the last reading, which this one replaces. */
function advance(known: Known, stream: Stream, atMs: number, pairRttMs: number | null, areaOf: AreaOf): StreamInterval {
  const ms = span(known.atMs, atMs);
  const { measures, sender } = measureStream(known.counts, stream, ms, pairRttMs);
  if (stream.mediaType === 'video') {
    measures.displayedPixels = bounded(rangeOf('displayedPixels'), areaOf(stream.ssrc));
    measures.freezes60s = recentFreezes(known, num(measures.freezes), atMs);
  }
  known.atMs = atMs;
  return {
    stream,
    ms,
    measures,
    sender,
    meanJitterMs: known.jitters(num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
    meanRttMs: known.rtts(num(measures.rttMs)),
  };
}

function recentFreezes(known: Known, count: number | null, atMs: number): number | null {
  if (count === null) return null;
  known.frozen = [...known.frozen, { atMs, grown: count }].filter((f) => f.grown && atMs - f.atMs < freezeWindowMs);
  return known.frozen.reduce((sum, f) => sum + f.grown, 0);
}

/** Takes one more value, and gives the mean of all so far. */
type Mean = (value: number | null) => number | null;

function mean(): Mean {
  let sum = 0;
  let count = 0;
  return (value) => {
    if (value !== null) {
      sum += value;
      count++;
    }
    return count ? sum / count : null;
  };
}

function span(fromMs: number, toMs: number): number {
  return Math.min(600_000, Math.max(1, Math.round(toMs - fromMs)));
}

/** A stream on which no packet ever went, as most of a large conference's are. */
function isIdle({ counts: { own } }: Known): boolean {
  return !(own?.packetsReceived ?? own?.packetsSent);
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
