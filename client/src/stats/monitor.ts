// The streams of one fabric over time: readings in, rows and intervals out.

import { type Counts, measurePair, measureStream, type SenderInterval } from './interval.ts';
import { bounded, type Cell, type Measures, pairSet, rangeOf, row, streamSet } from './measures.ts';
import { normalise, num, type Pair, type Report, type Snapshot, type Stream } from './normalise.ts';

/** One stream in one interval. */
export interface StreamInterval {
  stream: Stream;
  ms: number;
  measures: Measures;
  farEnd: SenderInterval;
  meanJitterMs: number | null;
  meanRttMs: number | null;
}

/** Rows that share an interval: one frame. */
export interface RowGroup {
  intervalMs: number;
  sets: number[];
  rows: Cell[][];
}

/** The streams and pairs that are new in a reading. */
export interface News {
  added: Stream[];
  /** Pairs that took the place of others. */
  changedPairs: Pair[];
}

/** The result of one measurement. */
export interface Reading extends News {
  intervals: StreamInterval[];
  groups: RowGroup[];
}

/** The parts of a measurement that the page knows and the reports do not have. */
export interface Page {
  /** The area of the element that shows a video, null when unknown. */
  areaOf(ssrc: number): number | null;
  /** Whether a video is known to be a screen. */
  isScreen(stream: Stream): boolean;
}

const freezeWindowMs = 60_000;
const maxRows = 200; // a frame stays far below the limit of 64 KiB
const sameIntervalMs = 100;
const tooShortMs = 500; // rates over less mean nothing: the interval continues
const latestMs = 5000; // of an answer of getStats: see readStats
const forgottenMs = 30_000; // a stream may be missing for a while, as when getStats fails once

/** The streams and pairs of a fabric between its readings. Written by this file. */
export interface Monitor {
  /** By key, the streams of the readings so far. */
  knownStreams: Map<string, Known>;
  /** By transport, the selected pairs of the last reading that had any. */
  pairs: Map<string, Pair>;
  /** The reports that candidate pairs are counted from, by id: those of the last measurement. */
  base: Map<unknown, Report>;
  /** When the interval began, on the page's monotonic clock. fabric/setup.ts lets it begin with the call. */
  startMs: number;
  /** How far the page's clock is ahead of the reports' own: the least of all answers. */
  aheadMs: number;
  /** When the last reading was, on both clocks. */
  last: { atMs: number; takenMs: number };
}

/** A monitor whose first interval begins at startMs. */
export const createMonitor = (startMs: number): Monitor => ({
  knownStreams: new Map(),
  pairs: new Map(),
  base: new Map(),
  startMs,
  aheadMs: Number.POSITIVE_INFINITY,
  last: { atMs: startMs, takenMs: Number.NEGATIVE_INFINITY },
});

/** The selected pair of the last reading. */
export const selectedPair = (monitor: Monitor): Pair | undefined => monitor.pairs.values().next().value;

/** Whether that SSRC is in the last readings. */
export const hasStream = (monitor: Monitor, ssrc: unknown) =>
  [...monitor.knownStreams.values()].some((known) => known.ssrc === ssrc);

/** A reading between intervals: only what is new becomes a starting point. */
export function adopt(monitor: Monitor, reports: Iterable<Report>, atMs: number): News {
  const { pairs } = monitor;
  const snapshot = normalise(reports);
  const changedPairs = changed(pairs, snapshot);
  for (const [transport, pair] of snapshot.pairs) {
    if (pairs.get(transport)?.id === pair.id) continue;
    if (!pairs.has(transport)) monitor.base = new Map([...snapshot.byId, ...monitor.base]);
    pairs.set(transport, pair);
  }
  return { added: addNew(monitor.knownStreams, snapshot, takenAt(monitor, snapshot, atMs)), changedPairs };
}

/** The end of an interval, and the beginning of the next. */
export function endInterval(monitor: Monitor, reports: Iterable<Report>, atMs: number, page: Page): Reading {
  const { knownStreams, pairs, base } = monitor;
  const snapshot = normalise(reports);
  const takenMs = takenAt(monitor, snapshot, atMs);
  const frameMs = span(monitor.startMs, atMs);
  const groups: RowGroup[] = [{ intervalMs: frameMs, sets: [], rows: [] }];
  const intervals: StreamInterval[] = [];
  let pairRttMs: number | null = null;
  for (const pair of snapshot.pairs.values()) {
    const measures = measurePair(base.get(pair.id), pair);
    pairRttMs ??= num(measures.rttMs);
    addRow(groups, frameMs, pairSet, measures);
  }
  for (const [key, known] of knownStreams) {
    const stream = snapshot.byKey.get(key);
    const ms = takenMs - known.atMs;
    if (!stream && ms > forgottenMs) knownStreams.delete(key);
    if (!stream || ms < tooShortMs) continue;
    const interval = advance(known, stream, takenMs, pairRttMs, page);
    if (isIdle(known)) continue;
    intervals.push(interval);
    addRow(groups, interval.ms, streamSet(stream.statsType, stream.mediaType), interval.measures);
  }
  monitor.startMs = atMs;
  if (snapshot.pairs.size) {
    monitor.pairs = snapshot.pairs;
    monitor.base = snapshot.byId;
  }
  return { intervals, groups, added: addNew(knownStreams, snapshot, takenMs), changedPairs: changed(pairs, snapshot) };
}

/**
 * When the counters were read, on the page's clock: a busy page receives them late. The fastest
 * answer so far shows how far the page's clock is ahead of the reports' own.
 */
function takenAt(monitor: Monitor, { takenMs }: Snapshot, atMs: number): number {
  if (takenMs === null) return atMs;
  const aheadMs = atMs - takenMs;
  monitor.aheadMs = Math.min(monitor.aheadMs, aheadMs);
  // Their clock was set, has stopped, or counts seconds. Browsers give the same answer for some 50 ms.
  const { last } = monitor;
  const sinceMs = atMs - last.atMs;
  if (aheadMs - monitor.aheadMs > latestMs || (sinceMs > tooShortMs && 100 * (takenMs - last.takenMs) <= sinceMs))
    monitor.aheadMs = aheadMs;
  monitor.last = { atMs, takenMs };
  return takenMs + monitor.aheadMs;
}

function addNew(knownStreams: Monitor['knownStreams'], snapshot: Snapshot, atMs: number): Stream[] {
  const added = [...snapshot.byKey.values()].filter(({ key }) => !knownStreams.has(key));
  for (const stream of added) {
    const counts: Counts = {};
    measureStream(counts, stream, 1, null); // for what it is counted from
    counts.pace = 0;
    knownStreams.set(stream.key, { ssrc: stream.ssrc, counts, atMs, frozen: [], jitters: mean(), rtts: mean() });
  }
  return added;
}

/** The pairs that took the place of others. */
const changed = (pairs: Monitor['pairs'], snapshot: Snapshot) =>
  [...snapshot.pairs.values()].filter(({ id, transport }) => (pairs.get(transport)?.id ?? id) !== id);

/** The state of a stream between readings. */
interface Known {
  ssrc: number;
  counts: Counts;
  atMs: number;
  frozen: { atMs: number; grown: number }[];
  jitters: Mean;
  rtts: Mean;
}

/** The interval since the last reading, which this one replaces. */
function advance(known: Known, stream: Stream, atMs: number, pairRttMs: number | null, page: Page): StreamInterval {
  const ms = span(known.atMs, atMs);
  const { measures, farEnd } = measureStream(known.counts, stream, ms, pairRttMs);
  if (stream.mediaType === 'video') {
    measures.displayedPixels = bounded(rangeOf('displayedPixels'), page.areaOf(stream.ssrc));
    if (page.isScreen(stream)) measures.contentType = 'screenshare';
    measures.freezes60s = recentFreezes(known, num(measures.freezes), atMs);
  }
  known.atMs = atMs;
  return {
    stream,
    ms,
    measures,
    farEnd,
    meanJitterMs: known.jitters(num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
    meanRttMs: known.rtts(num(measures.rttMs)),
  };
}

function recentFreezes(known: Known, count: number | null, atMs: number): number | null {
  if (count === null) return null;
  known.frozen = [...known.frozen, { atMs, grown: count }].filter((f) => f.grown && atMs - f.atMs < freezeWindowMs);
  return known.frozen.reduce((sum, f) => sum + f.grown, 0);
}

/** Takes one more value, and returns the mean of all so far. */
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

/** A stream that never had a packet, as most of a large conference's. */
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
