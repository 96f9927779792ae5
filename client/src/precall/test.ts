// What the parts of a test share: its clock, its end, and its account of bytes.

import { type Limits, maxRoundTripMs, nearMs, waitTrips } from './limits.ts';

/** A test that runs. */
export interface Run {
  limits: Limits;
  /** Aborted when the test must end: with a text as its reason if it is interrupted. */
  signal: AbortSignal;
  /** Rejects when signal is aborted, and never resolves. */
  aborted: Promise<never>;
  /** When it began, on the monotonic clock, ms. */
  startedAt: number;
  /** The round trip that the first relay showed, ms: an upper bound. Waits are counted in it. */
  roundTripMs?: number | undefined;
  /** Resolves when there is a round trip, or when none is waited for any more. */
  shown: Promise<void>;
  /** Sets the round trip, unless there is one. */
  show(ms?: number): void;
  /** Payload sent so far. */
  bytesSent: number;
}

/** The monotonic clock, ms. */
export const now = () => performance.now();

/** Begins a test. */
export function createRun(limits: Limits, signal: AbortSignal): Run {
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  aborted.catch(() => undefined);
  let resolve: () => void = () => undefined;
  const shown = new Promise<void>((shows) => {
    resolve = shows;
  });
  const run: Run = {
    limits,
    signal,
    aborted,
    startedAt: now(),
    shown,
    show(ms) {
      run.roundTripMs ??= ms;
      resolve();
    },
    bytesSent: 0,
  };
  return run;
}

/** So many round trips, ms; those of the longest while none is known. */
export const trips = (count: number, roundTripMs = maxRoundTripMs) => count * Math.min(roundTripMs, maxRoundTripMs);

/** How long a test may last, ms: by its round trips, within the limit of the collector. */
export const durationMs = ({ limits, roundTripMs }: Run) =>
  Math.min(limits.maxDurationMs, nearMs + trips(waitTrips.test, roundTripMs));

/** What is left of it, ms. */
export const leftMs = (run: Run) => run.startedAt + durationMs(run) - now();

/** Resolves after so many ms; rejects when the test ends before. */
export const wait = (run: Run, ms: number) =>
  Promise.race([new Promise<void>((resolve) => setTimeout(resolve, ms)), run.aborted]);

/** Between the limits. */
export const clamp = (value: number, { least, most }: { least: number; most: number }) =>
  Math.min(Math.max(value, least), most);

/** The middle value; null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half];
  if (upper === undefined) return null;
  return sorted.length % 2 ? upper : (upper + (sorted[half - 1] as number)) / 2;
}
