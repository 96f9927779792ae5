// Two measurements of a fabric as one, for a queue that has no room for both.

import { json } from '../result.ts';
import { bounded, type Cell, columnsOf, known, pairSet } from './measures.ts';

/** The members of a stats frame after its number and time. */
export interface Measurement {
  fabric: number;
  intervalMs: number;
  rows: readonly Cell[][];
}

/** The longest measurement: 20 s, and a late timer. Silence of 30 s ends a conference. */
const longestMs = 21_000;

/** The streams of a measurement, in order. */
const streamsOf = ({ rows }: Measurement) => json(rows.map(([set, ssrc]) => [set, set !== pairSet && ssrc]));

/**
 * The measurement of both intervals: increases are added, means weighted by the intervals, all else is as it was at the
 * end. Undefined where it would be too long, or where the streams are not the same.
 */
export function merge(then: Measurement, now: Measurement): Measurement | undefined {
  const intervalMs = then.intervalMs + now.intervalMs;
  if (!(intervalMs <= longestMs && streamsOf(then) === streamsOf(now))) return undefined;
  const share = now.intervalMs / intervalMs;
  const rows = now.rows.map((row, i) => [
    row[0] as Cell,
    ...columnsOf(row[0] as number).map(({ how, range }, column) => {
      const value = row[column + 1] ?? null;
      const before = then.rows[i]?.[column + 1] ?? null;
      if (/[+*]/.test(how)) return bounded(range, known(before) + known(value));
      // Means are those that may have a fraction.
      const mean = range[0] > 1 && known(before) + (known(value) - known(before)) * share;
      return bounded(range, mean) ?? value ?? before;
    }),
  ]);
  return { ...now, intervalMs, rows };
}
