// What holds of the statistics whatever a browser, or something that looks like one, says.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { columnsLine, pairSet } from '../src/stats/measures.ts';
import type { Report } from '../src/stats/normalise.ts';
import { view } from '../src/stats/view.ts';
import { createMonitor } from './monitor.ts';
import { type NamedRow, namedRows } from './stats-rows.ts';

vi.setConfig({ testTimeout: 60_000 });
// The same cases in each run; QOS_SEED takes others.
fc.configureGlobal({ seed: Number(process.env.QOS_SEED ?? 1) });

const noArea = () => null;
const identity = () => ({
  remoteUserID: 'r',
  userID: 'u',
  cname: null,
  msid: null,
  usageLabel: null,
  associatedVideoTag: null,
});

/** Measure and the counter that it is the increase of; packets are apart, for retransmissions are taken out. */
const counters: Record<string, Record<string, string>> = {
  'inbound-rtp': {
    bytes: 'bytesReceived',
    packetsLost: 'packetsLost',
    samples: 'totalSamplesReceived',
    concealedSamples: 'concealedSamples',
    frames: 'framesReceived',
    freezes: 'freezeCount',
    nacks: 'nackCount',
  },
  'outbound-rtp': { bytes: 'bytesSent', frames: 'framesSent', nacks: 'nackCount' },
};

interface Source {
  statsType: string;
  mediaType: string;
  ssrc: number;
}

const sources = fc.uniqueArray(
  fc.record({
    statsType: fc.constantFrom('inbound-rtp', 'outbound-rtp'),
    mediaType: fc.constantFrom('audio', 'video'),
    ssrc: fc.integer({ min: 1, max: 4 }),
  }),
  { selector: (s) => `${s.statsType} ${s.ssrc}`, minLength: 1, maxLength: 4 },
);

const packetsOf = (source: Source) => (source.statsType === 'inbound-rtp' ? 'packetsReceived' : 'packetsSent');
const fieldsOf = (source: Source) => [packetsOf(source), ...Object.values(counters[source.statsType] ?? {})];
const key = (source: { statsType: string; ssrc?: unknown }) => `${source.statsType} ${source.ssrc}`;

/** Sums up what the rows say about each stream. */
function addUp(sums: Map<string, number>, rows: NamedRow[]): void {
  for (const row of rows)
    for (const name of Object.keys(counters[row.statsType] ?? {})) {
      const at = `${key(row)} ${name}`;
      if (typeof row[name] === 'number') sums.set(at, (sums.get(at) ?? 0) + Number(row[name]));
    }
}

/** What may hide a counter for a moment. */
const hidden = fc.constantFrom<unknown>(undefined, null, Number.NaN, Number.POSITIVE_INFINITY, 'many', {});

describe('the sum of all increases is the true increase', () => {
  const step = fc.record({
    grows: fc.array(fc.nat(5000), { minLength: 8, maxLength: 8 }),
    hides: fc.array(fc.option(hidden, { freq: 3, nil: 'shown' }), { minLength: 8, maxLength: 8 }),
    missing: fc.constantFrom(false, false, false, true),
    fails: fc.constantFrom(false, false, false, false, true),
    ms: fc.integer({ min: 1000, max: 4000 }),
  });

  it('with counters, reports and whole readings that are missing for a while', () => {
    fc.assert(
      fc.property(sources, fc.array(step, { minLength: 1, maxLength: 12 }), (streams, steps) => {
        const monitor = createMonitor(0);
        const truth = new Map<string, number>();
        const seen = new Map<string, number>();
        const sums = new Map<string, number>();
        const whole = (source: Source): Report => ({
          id: key(source),
          type: source.statsType,
          kind: source.mediaType,
          ssrc: source.ssrc,
          ...Object.fromEntries(fieldsOf(source).map((f) => [f, truth.get(`${key(source)} ${f}`) ?? 1])),
        });
        monitor.adopt(streams.map(whole), 0);
        let atMs = 0;
        for (const { grows, hides, missing, fails, ms } of [...steps, { ...steps[0], missing: false, fails: false }]) {
          atMs += ms ?? 1000;
          const last = hides === steps[0]?.hides && atMs > (ms ?? 0);
          const reports = streams.flatMap((source, s) => {
            const report: Record<string, unknown> = { ...whole(source) };
            fieldsOf(source).forEach((field, i) => {
              // A loss beyond what went in the time would be untrue.
              const grow = (grows?.[i] ?? 0) / (field === 'packetsLost' ? 50 : 1);
              const now = Number(truth.get(`${key(source)} ${field}`) ?? 1) + Math.floor(grow);
              truth.set(`${key(source)} ${field}`, now);
              const how = last ? 'shown' : hides?.[i];
              report[field] = how === 'shown' ? now : how;
              if (how === 'shown' && !fails && !(missing && s === 0)) seen.set(`${key(source)} ${field}`, now);
            });
            return missing && s === 0 ? [] : [report];
          });
          addUp(sums, namedRows(monitor.measure(fails ? [] : reports, atMs, noArea)));
        }
        for (const source of streams)
          for (const [name, field] of Object.entries(counters[source.statsType] ?? {})) {
            if (!columnsOf(source).includes(name)) continue;
            const at = `${key(source)} ${field}`;
            expect(sums.get(`${key(source)} ${name}`) ?? 0, at).toBe((seen.get(at) ?? 1) - 1);
          }
      }),
      { numRuns: 200 },
    );
  });

  it('with streams that start again', () => {
    const reading = fc.record({
      again: fc.constantFrom(false, false, true),
      packets: fc.integer({ min: 1, max: 100 }),
      bytes: fc.nat(10_000),
      frames: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.array(reading, { minLength: 2, maxLength: 12 }), (readings) => {
        const monitor = createMonitor(0);
        const names = ['packets', 'bytes', 'frames'] as const;
        let now = { packets: 1000, bytes: 100_000, frames: 1000 };
        const report = (): Report => ({
          id: 'a',
          type: 'inbound-rtp',
          kind: 'video',
          ssrc: 7,
          packetsReceived: now.packets,
          bytesReceived: now.bytes,
          framesReceived: now.frames,
        });
        monitor.adopt([report()], 0);
        readings.forEach(({ again, ...more }, i) => {
          // One interval cannot make so many: a stream that starts again soon after the last time is not seen.
          const starts = again && now.packets > 200 && now.bytes > 10_000;
          const sum = (name: (typeof names)[number]) => (starts ? 0 : now[name]) + more[name];
          now = { packets: sum('packets'), bytes: sum('bytes'), frames: sum('frames') };
          const [row] = namedRows(monitor.measure([report()], (i + 1) * 2000, noArea));
          for (const name of names) expect(row?.[name]).toBe(more[name]);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('of a candidate pair that is left and taken again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(1000), fc.nat(1000), fc.nat(1000)), {
          minLength: 2,
          maxLength: 12,
        }),
        (steps) => {
          const monitor = createMonitor(0);
          const bytes: Record<string, number> = { a: 5000, b: 6000, c: 7000 };
          const reports = (selected: string): Report[] => [
            { id: 'T', type: 'transport', selectedCandidatePairId: selected },
            ...Object.entries(bytes).map(([id, bytesSent]) => ({
              id,
              type: 'candidate-pair',
              transportId: 'T',
              bytesSent,
            })),
          ];
          monitor.adopt(reports('a'), 0);
          steps.forEach(([selected, ...grows], i) => {
            const before = { ...bytes };
            ['a', 'b', 'c'].forEach((id, n) => {
              bytes[id] = (bytes[id] ?? 0) + (grows[n] ?? 0);
            });
            const [row] = namedRows(monitor.measure(reports(selected), (i + 1) * 2000, noArea));
            expect(row?.bytesSent).toBe((bytes[selected] ?? 0) - (before[selected] ?? 0));
          });
        },
      ),
      { numRuns: 200 },
    );
  });
});

function columnsOf(source: Source): string[] {
  for (let set = 1; set <= pairSet; set++) {
    const line = JSON.parse(columnsLine(set));
    if (line.statsType === source.statsType && line.mediaType === source.mediaType) return line.names;
  }
  return [];
}

/** The wire's own table of measures, read from the collector's source. */
const table = new Map(
  [
    ...readFileSync(new URL('../../protocol/measures.go', import.meta.url), 'utf8').matchAll(
      /\{"(\w+)", (\w+), "[^"]*", ([^,]+), ([^,]+),/g,
    ),
  ].map(([, name = '', kind = '', least = '', most = '']) => [name, { kind, least: bound(least), most: bound(most) }]),
);

function bound(text: string): number {
  const known: Record<string, number> = { maxCount: 2 ** 53 - 1, maxMs: 3_600_000, '1<<32  1': 2 ** 32 - 1 };
  const value = known[text.replace('-', '')] ?? Number(text.replace('-', ''));
  return text.startsWith('-') ? -value : value;
}

function expectOnTheWire(rows: NamedRow[]): void {
  for (const { statsType, mediaType, intervalMs, ...cells } of rows) {
    expect(intervalMs).toBeGreaterThanOrEqual(1);
    expect(intervalMs).toBeLessThanOrEqual(600_000);
    for (const [name, value] of Object.entries(cells)) {
      const measure = table.get(name);
      expect(measure, name).toBeDefined();
      if (value === null || !measure) continue;
      if (measure.kind === 'Text') {
        expect(typeof value, name).toBe('string');
        expect(Buffer.byteLength(String(value)), name).toBeLessThanOrEqual(64);
        continue;
      }
      expect(typeof value, name).toBe('number');
      if (Number.isFinite(measure.least)) expect(value, name).toBeGreaterThanOrEqual(measure.least);
      if (Number.isFinite(measure.most)) expect(value, name).toBeLessThanOrEqual(measure.most);
      if (measure.kind === 'Int') expect(Number.isSafeInteger(value), `${name} ${value}`).toBe(true);
    }
  }
}

describe('whatever the reports hold', () => {
  const strange = fc.oneof(
    fc.integer(),
    fc.nat(1000),
    fc.double(),
    fc.constantFrom<unknown>(
      2 ** 53,
      2 ** 60,
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.MAX_VALUE,
      Number.MIN_VALUE,
      -0,
      '12',
      'x'.repeat(300),
      '\ud800'.repeat(40),
      '💥'.repeat(40),
      null,
      undefined,
      {},
      [],
      true,
      10n,
    ),
    fc.string(),
  );
  const numbers =
    'bytesReceived packetsReceived packetsLost jitter audioLevel framesDecoded framesReceived totalInterFrameDelay totalSquaredInterFrameDelay freezeCount totalFreezesDuration totalDecodeTime qpSum jitterBufferDelay jitterBufferEmittedCount totalSamplesReceived retransmittedPacketsReceived frameWidth bytesSent packetsSent framesSent framesEncoded targetBitrate retransmittedPacketsSent totalEncodeTime fractionLost roundTripTime totalRoundTripTime roundTripTimeMeasurements responsesReceived currentRoundTripTime availableOutgoingBitrate remoteTimestamp timestamp'.split(
      ' ',
    );
  const links = fc.constantFrom<unknown>('a', 'b', 'c', 'd', undefined, 7, {});
  const report = fc
    .record({
      id: links,
      type: fc.constantFrom(
        'inbound-rtp',
        'outbound-rtp',
        'remote-inbound-rtp',
        'remote-outbound-rtp',
        'candidate-pair',
        'transport',
        'codec',
        'media-source',
        'nonsense',
      ),
      kind: fc.constantFrom<unknown>('audio', 'video', undefined, 5),
      ssrc: fc.constantFrom<unknown>(1, 2, 3, Number.NaN, '4', undefined, 2 ** 40, -1, 1.5),
      codecId: links,
      remoteId: links,
      mediaSourceId: links,
      selectedCandidatePairId: links,
      transportId: links,
      mimeType: strange,
      rid: strange,
      qualityLimitationReason: strange,
      contentType: strange,
      qualityLimitationDurations: fc.oneof(strange, fc.record({ cpu: strange, bandwidth: strange })),
      values: fc.dictionary(fc.constantFrom(...numbers), strange, { minKeys: 4 }),
    })
    .map(({ values, ...rest }) => ({ ...rest, ...values }) as Report);
  const run = fc.array(
    fc.record({ reports: fc.array(report, { maxLength: 8 }), ms: fc.constantFrom(0, 400, 2000, 20_000, -5000, 1e9) }),
    { minLength: 1, maxLength: 6 },
  );

  it('rows are what the wire takes, and the view has no number that is none (spec: STAT-08)', () => {
    expect(table.size).toBeGreaterThan(40);
    fc.assert(
      fc.property(run, (steps) => {
        const monitor = createMonitor(0);
        monitor.adopt(steps[0]?.reports ?? [], 0);
        let atMs = 0;
        for (const { reports, ms } of steps) {
          atMs += ms;
          const reading = monitor.measure(reports, atMs, noArea);
          const rows = namedRows(reading);
          expectOnTheWire(rows);
          const streams = rows.filter((row) => row.ssrc !== undefined).map(key);
          expect(new Set(streams).size).toBe(streams.length);
          for (const track of view(reading.intervals, identity, [4.2, 3.8, 3.2, 2.6]).mediaStreamTracks) {
            for (const [name, value] of Object.entries(track)) {
              expect(value, name).not.toBeUndefined();
              if (typeof value === 'number') expect(Number.isFinite(value), `${name} ${value}`).toBe(true);
            }
            const { fractionLoss, audioInputLevel, audioOutputLevel, bitrate, packetRate, jitter, rtt } = track;
            for (const part of [fractionLoss, audioInputLevel, audioOutputLevel])
              if (part !== null) expect(part >= 0 && part <= 1, String(part)).toBe(true);
            for (const value of [bitrate, packetRate, jitter, rtt])
              if (value !== null) expect(value).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('averages lie between the least and the most', () => {
    const values = fc.array(fc.record({ jitter: fc.double({ min: 0, max: 5, noNaN: true }), rtt: fc.nat(5000) }), {
      minLength: 2,
      maxLength: 20,
    });
    fc.assert(
      fc.property(values, (list) => {
        const monitor = createMonitor(0);
        const jitters: number[] = [];
        const rtts: number[] = [];
        list.forEach(({ jitter, rtt }, i) => {
          const reports = [
            { id: 'a', type: 'inbound-rtp', kind: 'audio', ssrc: 1, packetsReceived: 1 + i, jitter },
            { id: 'T', type: 'transport', selectedCandidatePairId: 'P' },
            { id: 'P', type: 'candidate-pair', transportId: 'T', currentRoundTripTime: rtt / 1000 },
          ];
          if (i === 0) {
            monitor.adopt(reports, 0);
            return;
          }
          const { intervals } = monitor.measure(reports, i * 2000, noArea);
          const track = view(intervals, identity, []).mediaStreamTracks[0];
          jitters.push(Number(track?.jitter));
          rtts.push(Number(track?.rtt));
          const mean = (all: number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
          expect(track?.averageJitter).toBeCloseTo(mean(jitters), 0);
          expect(track?.averageJitter).toBeGreaterThanOrEqual(Math.min(...jitters) - 0.051);
          expect(track?.averageJitter).toBeLessThanOrEqual(Math.max(...jitters) + 0.051);
          expect(track?.averageRTT).toBeGreaterThanOrEqual(Math.min(...rtts) - 0.051);
          expect(track?.averageRTT).toBeLessThanOrEqual(Math.max(...rtts) + 0.051);
        });
      }),
    );
  });

  it('forgets streams that are gone', () => {
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 500 })), { maxLength: 20 }), (steps) => {
        const monitor = createMonitor(0);
        const reports = (ssrcs: number[]) =>
          ssrcs.map((ssrc) => ({ id: `a${ssrc}`, type: 'inbound-rtp', kind: 'audio', ssrc, packetsReceived: 5 }));
        let atMs = 0;
        for (const ssrcs of [...steps, [501], [501], [501], [501]]) {
          atMs += 10_000;
          monitor.measure(reports(ssrcs), atMs, noArea);
        }
        for (let ssrc = 1; ssrc <= 500; ssrc++) expect(monitor.hasStream(ssrc)).toBe(false);
        expect(monitor.hasStream(501)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
