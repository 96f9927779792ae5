// What the parts of a test share: its clock, its end, and its account of bytes.

import type { Limits } from './limits.ts';

/** A test that runs. */
export interface Run {
  limits: Limits;
  /** Aborted when the test must end: with a text as its reason if it is interrupted. */
  signal: AbortSignal;
  /** Rejects when signal is aborted, and never resolves. */
  aborted: Promise<never>;
  /** Monotonic clock, ms. */
  endsAt: number;
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
  return { limits, signal, aborted, endsAt: now() + limits.maxDurationMs, bytesSent: 0 };
}

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
