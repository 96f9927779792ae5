// Readings of the statistics as tests want them: rows by name.

import { columnsLine } from '../src/stats/measures.ts';
import type { Reading } from '../src/stats/monitor.ts';

/** A row with its column names, and the length of its interval. */
export type NamedRow = Record<string, unknown> & { statsType: string; mediaType?: string; intervalMs: number };

/** The rows of a reading, as the announcements of their column sets read them. */
export function namedRows(reading: Reading): NamedRow[] {
  return reading.groups.flatMap(({ intervalMs, rows }) =>
    rows.map(([set, ...values]) => {
      const { names, statsType, mediaType } = JSON.parse(columnsLine(Number(set)));
      if (names.length !== values.length) throw new Error(`${values.length} values for ${names.length} columns`);
      return {
        statsType,
        mediaType,
        intervalMs,
        ...Object.fromEntries(names.map((n: string, i: number) => [n, values[i]])),
      };
    }),
  );
}
