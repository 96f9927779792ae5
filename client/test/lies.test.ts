// Whatever a browser's reports say that cannot be true, the rows have the truth, or nothing.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { calls, type Kept, type Lie, lies } from './lying.ts';
import { createMonitor } from './monitor.ts';
import { type NamedRow, namedRows } from './stats-rows.ts';

vi.setConfig({ testTimeout: 120_000 });
const numRuns = process.env.QOS_LONG === '1' ? 1000 : 40;
fc.configureGlobal({ seed: Number(process.env.QOS_SEED ?? 1) });

const intervals = 40;
const intervalMs = 2000;

interface Limit {
  perSecond: number;
  within?: { of: string; each: number; perSecond: number };
}

/** What the collector takes of a counter (PerSecond and Within in its table). */
const limits = new Map<string, Limit>();
{
  const text = readFileSync(new URL('../../protocol/measures.go', import.meta.url), 'utf8');
  const pattern = /^\t(max\w+) += ([\d_e.]+)/gm;
  const constants = new Map(
    [...text.matchAll(pattern)].map(([, name, value]) => [name, Number(value?.replace('_', ''))]),
  );
  const row = /\{"(\w+)", \w+, "[^"]*", [^,]+, [^,]+, (max\w+), 0, (nil|&Neighbour\{(\w)(\w+), (\S+), (\S+)\}),/g;
  for (const [, name = '', limit, , first = '', rest, each, perSecond] of text.matchAll(row))
    limits.set(name, {
      perSecond: constants.get(limit) ?? Number.POSITIVE_INFINITY,
      ...(rest && { within: { of: first.toLowerCase() + rest, each: Number(each), perSecond: Number(perSecond) } }),
    });
}

/** A lie, the interval in which it begins and for how many it lasts. */
const lie = fc.record({
  name: fc.constantFrom(...Object.keys(lies)),
  at: fc.integer({ min: 1, max: intervals - 1 }),
  lasts: fc.integer({ min: 1, max: 8 }),
  seed: fc.nat(),
});

/** Lies of one reading, which may last. */
const once = /^falls by a lot|^jump/;

type Drawn = { name: string; at: number; lasts: number; seed: number };

/** The rows of a call by interval, with lies. */
function measured(browser: string, drawn: readonly Drawn[]): NamedRow[][] {
  const monitor = createMonitor(0);
  const call = calls[browser] as (typeof calls)[string];
  const kept: Kept = new Map();
  monitor.adopt(call(0), 0);
  return Array.from({ length: intervals }, (_, i) => {
    const atMs = (i + 1) * intervalMs;
    let reports = call(atMs / 1000).map((report) => {
      const ahead = Object.keys(report).filter((name) => kept.has(`${report.id} ${name}`));
      return {
        ...report,
        ...Object.fromEntries(
          ahead.map((name) => [name, Number(report[name]) + (kept.get(`${report.id} ${name}`) ?? 0)]),
        ),
      };
    });
    for (const { name, at, lasts, seed } of drawn) {
      if (i < at || i >= at + (once.test(name) ? 1 : lasts)) continue;
      let state = seed;
      const pick = (below: number) => {
        state = (state * 48_271 + 11) % 2_147_483_647;
        return state % below;
      };
      reports = (lies[name] as Lie)(reports, pick, kept);
    }
    return namedRows(monitor.measure(reports, atMs, () => null)).map(accepted);
  });
}

/** The row as the collector reads it. */
function accepted(row: NamedRow): NamedRow {
  const seconds = Math.max(1, row.intervalMs / 1000);
  const most = (name: string) => {
    const { perSecond, within } = limits.get(name) ?? { perSecond: Number.POSITIVE_INFINITY };
    const neighbour = within && typeof row[within.of] === 'number' ? within : undefined;
    const beside = neighbour
      ? neighbour.each * Number(row[neighbour.of]) + neighbour.perSecond * seconds
      : perSecond * seconds;
    return Math.min(perSecond * seconds, beside);
  };
  const cells = Object.entries(row).map(([name, value]) => [name, Math.abs(Number(value)) > most(name) ? null : value]);
  return Object.fromEntries(cells) as NamedRow;
}

const key = (row: NamedRow) => `${row.statsType} ${row.mediaType} ${row.ssrc}`;
const num = (row: NamedRow, name: string) => (typeof row[name] === 'number' ? (row[name] as number) : Number.NaN);

/** What is wrong with a row that should be as truth is, empty for nothing. */
function wrong(row: NamedRow, truth: NamedRow, unknown: Map<string, number>): string[] {
  const found: string[] = [];
  // What was not known before is counted when it is known again.
  const of = (name: string) => (row.intervalMs / truth.intervalMs) * (1 + (unknown.get(`${key(row)} ${name}`) ?? 0));
  const most = (name: string, limit: number) => {
    if (num(row, name) > limit) found.push(`${name} ${row[name]} > ${limit}`);
  };
  for (const name of ['packetsLost', 'remotePacketsLost', 'packetsDiscarded', 'concealmentEvents'])
    most(name, 2 + (of(name) * num(truth, 'packets')) / 20);
  most('remoteLossFraction', 0.1);
  most('concealedSamples', 1000 + (of('concealedSamples') * num(truth, 'samples')) / 20);
  for (const name of ['rttMs', 'jitterMs', 'remoteJitterMs', 'jitterBufferDelayMs'])
    most(name, 3 * num(truth, name) + 30);
  for (const name of ['bytes', 'packets', 'samples', 'frames', 'framesDecoded', 'framesEncoded'])
    most(name, 1.5 * (2 + of(name)) * num(truth, name) + 20); // a correction is counted when it is taken back
  for (const name of ['framesDropped', 'freezes', 'plis', 'firs', 'nacks', 'retransmittedPackets'])
    most(name, num(truth, name) * of(name) + 5);
  for (const name of ['freezeMs', 'pauseMs']) most(name, 300);
  for (const name of Object.keys(truth)) {
    const at = `${key(row)} ${name}`;
    unknown.set(at, row[name] === null ? (unknown.get(at) ?? 0) + 1 : 0);
  }
  if (num(row, 'fps') < num(truth, 'fps') / 2) found.push(`fps ${row.fps} < ${truth.fps}`);
  return found;
}

it('the table of limits is read', () => {
  expect(limits.get('bytes')).toEqual({ perSecond: 1.25e9, within: { of: 'packets', each: 3000, perSecond: 150_000 } });
  expect(limits.get('plis')).toEqual({ perSecond: 1000 });
});

describe.each(Object.keys(calls))('a healthy call in the shape of %s', (browser) => {
  const truth = measured(browser, []);

  it.each(Object.keys(lies))('is healthy when a report lies: %s (spec: STAT-04)', (name) => {
    const bad: string[] = [];
    for (let seed = 1; seed <= 30; seed++) {
      const unknown = new Map<string, number>();
      const rows = measured(browser, [{ name, at: 5 + (seed % 20), lasts: 1 + (seed % 8), seed }]);
      rows.forEach((row, i) => {
        for (const one of row) {
          const right = truth[i]?.find((other) => key(other) === key(one));
          const found = right ? wrong(one, right, unknown) : ['no such stream'];
          if (found.length) bad.push(`${seed} ${i} ${key(one)}: ${found}`);
        }
      });
    }
    expect(bad).toEqual([]);
  });

  it('is healthy whatever lies there are, at once and one after the other (spec: STAT-04)', () => {
    fc.assert(
      fc.property(fc.array(lie, { minLength: 1, maxLength: 8 }), (drawn) => {
        const rows = measured(browser, drawn);
        const unknown = new Map<string, number>();
        const found = rows.flatMap((row, i) =>
          row.flatMap((one) => {
            const right = truth[i]?.find((other) => key(other) === key(one));
            return right
              ? wrong(one, right, unknown).map((text) => `${i} ${key(one)}: ${text}`)
              : [`${i} ${key(one)} is new`];
          }),
        );
        expect(found).toEqual([]);
      }),
      { numRuns },
    );
  });
});
