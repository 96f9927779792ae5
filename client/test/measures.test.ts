// Each measure by value, and each change of the table that names them made on purpose: a
// measure that is read from another member, in another unit or not as an increase must not pass.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { bounded, columnsLine, rangeOf } from '../src/stats/measures.ts';
import { type Computes, computed, rows, senders } from './measures.ts';
import { createMonitor } from './monitor.ts';

const expected = {
  intervals: [2000],
  rows: rows.map((row) => ({ mediaType: undefined, outOfRange: null, ...row, more: [] })),
  senders,
};

/** The table of the Go code, by which the collector refuses rows. */
const reference = [
  ...readFileSync(new URL('../../protocol/measures.go', import.meta.url), 'utf8').matchAll(
    /^\t\w+: +\{"(\w+)", (Int|Float|Text), "[^"]*", ([^,]+), ([^,]+),/gm,
  ),
].map(([, name = '', type, least = '', most = '']) => {
  const number = (text: string) =>
    Number({ '-maxCount': -(2 ** 53), maxCount: 2 ** 53, maxMs: 3_600_000, '1<<32 - 1': 2 ** 32 - 1 }[text] ?? text);
  return { name, type, least: number(least), most: number(most) };
});

describe('the rows of two readings', () => {
  it('have each measure from its member, in its unit, of this interval (spec: STAT-04, STAT-08)', () => {
    expect(computed({ createMonitor, columnsLine })).toEqual(expected);
  });

  it('hold values that differ', () => {
    const seen = new Map<unknown, string>();
    for (const { statsType, mediaType = '', ...row } of expected.rows.map(({ more, ...row }) => row))
      for (const [name, value] of Object.entries(row)) {
        if (value === null) continue;
        const key = `${statsType} ${mediaType} ${value}`;
        expect(seen.get(key), `${key} is both`).toBeUndefined();
        seen.set(key, name);
      }
  });

  it('are those of the reference table (protocol section 7)', () => {
    const unsupplied = ['availableIncomingBps']; // no browser has it
    const covered = new Set(expected.rows.flatMap((row) => Object.keys(row)));
    expect(reference.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual(unsupplied);
  });
});

describe('bounded()', () => {
  const numbers = reference.filter(({ type }) => type !== 'Text');

  it.each(numbers)('gives of $name what the collector takes, from $least to $most', ({ name, type, least, most }) => {
    const range = rangeOf(name);
    const of = (value: unknown) => bounded(range, value) as number;
    // The SSRC is checked where it is read; of counts the greatest that is exact is the last.
    const last = name === 'ssrc' ? Number.MAX_SAFE_INTEGER : Math.min(most, Number.MAX_SAFE_INTEGER);
    const first = Math.max(least, -Number.MAX_SAFE_INTEGER);
    expect([of(first), of(last)]).toEqual([first, last]);
    expect([of(first - 1), of(last + 1)]).toEqual([first, last]);
    expect([of(-1e300), of(1e300)]).toEqual([first, last]);
    const step = 1 / range[0];
    expect([of(last - step), of(first + step)]).toEqual([last - step, first + step]);
    if (type === 'Int') expect([of(7.49), of(7.51)].map(Number.isInteger)).toEqual([true, true]);
    for (const unknown of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, undefined, true, {}])
      expect(bounded(range, unknown)).toBeNull();
  });

  it.each([
    ['jitterMs', 0.04, 0],
    ['jitterMs', 0.05, 0.1],
    ['fps', 29.974, 29.97],
    ['fps', 29.976, 29.98],
    ['harmonicFps', 23.7551, 23.76],
    ['audioLevel', 0.12344, 0.1234],
    ['audioLevel', 0.12346, 0.1235],
    ['remoteLossFraction', 0.00004, 0],
    ['remoteLossFraction', 1.00004, 1],
    ['qp', 22.04, 22],
    ['qp', 22.06, 22.1],
    ['packets', 10.5, 11],
    ['packetsLost', -3.6, -4],
    ['remotePacketsLost', -1, -1],
    ['width', 65_535.4, 65_535],
  ])('%s of %d is %d', (name, given, want) => {
    expect(bounded(rangeOf(name), given)).toBe(want);
  });

  it.each([
    ['x'.repeat(64), 64],
    ['x'.repeat(65), 64],
    ['ü'.repeat(32), 32],
    ['ü'.repeat(33), 32],
    ['xü'.repeat(30), 43],
    ['漢'.repeat(21), 21],
    ['漢'.repeat(22), 21],
    ['\u{1F600}'.repeat(17), 32],
    ['', 0],
  ])('of a text it keeps 64 bytes, in whole characters: %j', (text, length) => {
    expect(bounded([1, 0, 0], text)).toBe(text.slice(0, length));
  });
});

/** The statistics as one script, in which a test can change a line. */
let script = '';

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { createMonitor } from '../../test/monitor.ts'; export { columnsLine } from './measures.ts';`,
      resolveDir: fileURLToPath(new URL('../src/stats/', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'library',
    target: 'esnext',
  });
  script = outputFiles[0]?.text ?? '';
});

interface Line {
  name: string;
  sets: string;
  how: string;
  members: string[];
}

const [, table = ''] =
  /const table = `([^`]*)`/.exec(readFileSync(new URL('../src/stats/measures.ts', import.meta.url), 'utf8')) ?? [];
const lines = table.split('\n').map((text): Line => {
  const [name = '', sets = '', mark = '', ...members] = text.split(' ');
  const how = mark === '*' ? '' : mark; // for merging alone: merge.test.ts
  return { name, sets, how, members: how && !members.length ? [name] : members };
});
const members = [...new Set(lines.flatMap((line) => line.members))];

/**
 * The measures of which no row shows that their lines were changed so. All lines are changed
 * at once: each has a column of its own.
 */
function unnoticed(change: (line: Line) => Line): string[] {
  const changed = lines.map((line) => ({ line, now: change(line) })).filter(({ line, now }) => line !== now);
  const text = lines.map(change).map(({ name, sets, how, members }) => [name, sets, how, ...members].join(' ').trim());
  const parts = script.split(table);
  if (parts.length !== 2) throw new Error('the table is not in the script');
  const library: Computes = new Function(`${parts.join(text.join('\n'))}; return library`)();
  const got = computed(library).rows as Record<string, unknown>[];
  const shows = ({ name }: Line) => expected.rows.some((row, i) => (row as (typeof got)[0])[name] !== got[i]?.[name]);
  return changed.filter(({ line }) => !shows(line)).map(({ now }) => `${now.name} ${now.how} ${now.members.join(' ')}`);
}

describe('a table that is wrong in one line is noticed', () => {
  it('the table itself is right', () => {
    expect(lines.length).toBeGreaterThan(40);
    expect(unnoticed((line) => line)).toEqual([]);
    expect(unnoticed((line) => ({ ...line }))).toHaveLength(lines.length);
  });

  it.each([0, 1, 2])('member %i is another', (at) => {
    for (let by = 1; by < members.length; by++) {
      const other = (member = '') => members[(members.indexOf(member) + by) % members.length] ?? '';
      const change = (line: Line): Line =>
        at < line.members.length
          ? { ...line, members: line.members.map((member, i) => (i === at ? other(member) : member)) }
          : line;
      expect(unnoticed(change)).toEqual([]);
    }
  });

  it('a member is missing', () => {
    for (const at of [0, 1, 2]) {
      const without = (line: Line) => ({
        ...line,
        members: line.members.map((member, i) => (i === at ? 'none' : member)),
      });
      expect(unnoticed((line) => (at < line.members.length ? without(line) : line))).toEqual([]);
    }
  });

  it.each(['+', '/', '=', '$', '-'])('each is read as by %s', (how) => {
    expect(unnoticed((line) => (line.how && line.how !== how ? { ...line, how } : line))).toEqual([]);
  });
});
