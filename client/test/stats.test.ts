import { describe, expect, it } from 'vitest';
import { type Counts, measureStream as measureOn, measurePair } from '../src/stats/interval.ts';
import { fromLegacy } from '../src/stats/legacy.ts';
import { bounded, columnsLine, type Measures, pairSet, rangeOf, row, streamSet } from '../src/stats/measures.ts';
import type { Reading } from '../src/stats/monitor.ts';
import { normalise, type Report, type Stream } from '../src/stats/normalise.ts';
import { audioMos, label, videoMos } from '../src/stats/quality.ts';
import { createReader } from '../src/stats/read.ts';
import { view } from '../src/stats/view.ts';
import { sequence } from './harness.ts';
import { createMonitor } from './monitor.ts';

const browsers = ['chromium', 'firefox'] as const;
const noArea = () => null;

/** The rows of a reading as objects, by kind. */
function named(reading: Reading): Record<string, unknown>[] {
  return reading.groups
    .flatMap((group) => group.rows)
    .map(([set, ...values]) => {
      const { names, statsType, mediaType } = JSON.parse(columnsLine(Number(set)));
      return { statsType, mediaType, ...Object.fromEntries(names.map((n: string, i: number) => [n, values[i]])) };
    });
}

function replay(browser: (typeof browsers)[number]) {
  const { readings } = sequence(browser);
  const monitor = createMonitor(readings[0]?.atMs ?? 0);
  const [first, ...rest] = readings;
  monitor.adopt(first?.reports ?? [], first?.atMs ?? 0);
  return rest.map(({ reports, atMs }) => monitor.measure(reports, atMs, noArea));
}

describe.each(browsers)('a call in %s (spec: STAT-04)', (browser) => {
  it('has intervals of the length between the answers, also after one that came twice and one that came late', () => {
    const [first, second] = sequence(browser).readings;
    if (!first || !second) throw new Error('no recording');
    const length = (twice: boolean, lateMs: number) => {
      const monitor = createMonitor(first.atMs);
      monitor.adopt(first.reports, first.atMs);
      if (twice) monitor.adopt(first.reports, first.atMs + 40);
      return monitor.measure(second.reports, second.atMs + lateMs, noArea).intervals.map(({ ms }) => ms);
    };
    expect(length(true, 25)).toEqual(length(false, 25));
  });

  it('gives the rows of an interval', () => {
    for (const reading of replay(browser)) {
      expect(reading.groups).toHaveLength(1);
      expect(reading.groups[0]?.intervalMs).toBeGreaterThan(1900);
      const rows = named(reading);
      expect(rows.map((r) => `${r.statsType} ${r.mediaType}`).sort()).toEqual([
        'candidate-pair undefined',
        'inbound-rtp audio',
        'inbound-rtp video',
        'outbound-rtp audio',
        'outbound-rtp video',
      ]);
      const find = (statsType: string, mediaType?: string) =>
        rows.find((r) => r.statsType === statsType && r.mediaType === mediaType) as Record<string, number> | undefined;
      expect(find('inbound-rtp', 'audio')).toMatchObject({ codec: 'opus', packetsLost: 0, concealedSamples: 0 });
      expect(find('inbound-rtp', 'audio')?.packets).toBeGreaterThan(90);
      expect(find('inbound-rtp', 'audio')?.packets).toBeLessThan(110);
      expect(find('inbound-rtp', 'audio')?.samples).toBeGreaterThan(90_000);
      expect(find('inbound-rtp', 'audio')?.jitterBufferDelayMs).toBeGreaterThan(5);
      expect(find('inbound-rtp', 'audio')?.jitterBufferDelayMs).toBeLessThan(200);
      const video = find('inbound-rtp', 'video');
      expect(video).toMatchObject({ codec: 'VP8', freezes: 0, freezes60s: 0, displayedPixels: null });
      expect(video?.fps).toBeGreaterThan(15);
      expect(video?.fps).toBeLessThan(35);
      expect(Math.abs(Number(video?.harmonicFps) - Number(video?.fps))).toBeLessThan(6);
      expect(find('outbound-rtp', 'video')?.bytes).toBeGreaterThan(10_000);
      expect(find('outbound-rtp', 'audio')?.rttMs).toBeLessThan(100);
      expect(find('outbound-rtp', 'audio')?.remoteLossFraction).toBe(0);
      expect(find('candidate-pair')?.bytesSent).toBeGreaterThan(10_000);
    }
  });

  it('sends at most 700 bytes for two streams out and two in', () => {
    for (const reading of replay(browser)) {
      const { intervalMs, rows } = reading.groups[0] ?? {};
      const frame = JSON.stringify({ type: 'stats', seq: 1000, at: 1_763_702_170_123, fabric: 1, intervalMs, rows });
      expect(frame.length).toBeLessThan(700);
    }
  });

  it('shows the application every field, null where unknown (spec: STAT-02, STAT-03, STAT-08)', () => {
    const [reading] = replay(browser);
    const identity = {
      remoteUserID: 'bob',
      userID: 'bob',
      cname: null,
      msid: null,
      usageLabel: null,
      associatedVideoTag: null,
    };
    const { mediaStreamTracks, streams } = view(reading?.intervals ?? [], () => identity, [4.2, 3.8, 3.2, 2.6]);
    expect(new Set(mediaStreamTracks.map((t) => t.statsType))).toEqual(
      new Set(['inbound-rtp', 'outbound-rtp', 'remote-inbound-rtp', 'remote-outbound-rtp']),
    );
    const fields =
      'remoteUserID statsType cname msid mediaType usageLabel associatedVideoTag bitrate packetRate fractionLoss packetLossPercentage jitter averageJitter rtt averageRTT quality audioInputLevel audioOutputLevel';
    for (const track of mediaStreamTracks) {
      for (const field of fields.split(' ')) expect(track).toHaveProperty(field);
      expect(Object.values(track)).not.toContain(undefined);
      expect(track.quality).toBe('excellent');
    }
    expect(Object.keys(streams)).toHaveLength(4);
    for (const [ssrc, stream] of Object.entries(streams)) {
      expect(ssrc).toMatch(/^\d+$/);
      expect(stream).toHaveProperty(stream.reportType === 'outbound-rtp' ? 'rtt' : 'fractionLoss');
      expect(stream.bitrate).toBeGreaterThan(5);
    }
  });
});

const stream = (rtp: Report, more: Partial<Stream> = {}): Stream => ({
  key: 'k',
  statsType: 'inbound-rtp',
  mediaType: 'audio',
  ssrc: 1,
  codec: 'opus',
  rtp,
  remote: {},
  source: {},
  ...more,
});

/** The measures from one reading of a stream to the next. */
function measureStream(before: Stream, after: Stream, ms: number, pairRttMs: number | null) {
  const counts: Counts = {};
  measureOn(counts, before, ms, null);
  return measureOn(counts, after, ms, pairRttMs).measures;
}

describe('intervals', () => {
  it('does not count a packet twice that came again (spec: STAT-08)', () => {
    // 10 of 100 packets are lost and repaired: the loss is a tenth, not 10 of 110.
    const video = { mediaType: 'video' } as const;
    const before = stream({ packetsReceived: 100, packetsLost: 0, retransmittedPacketsReceived: 5 }, video);
    const after = stream({ packetsReceived: 200, packetsLost: 10, retransmittedPacketsReceived: 15 }, video);
    expect(measureStream(before, after, 1000, null)).toMatchObject({
      packets: 90,
      packetsLost: 10,
      retransmittedPackets: 10,
    });
  });

  it('are increases, and a loss may be negative', () => {
    const before = stream({ packetsReceived: 100, packetsLost: 5, bytesReceived: 1000 });
    const after = stream({ packetsReceived: 150, packetsLost: 3, bytesReceived: 6000 });
    expect(measureStream(before, after, 1000, null)).toMatchObject({ packets: 50, packetsLost: -2, bytes: 5000 });
  });

  it('count from 0 when a stream was started again', () => {
    const before = stream({ packetsReceived: 1000, packetsLost: 50, bytesReceived: 90_000, totalSamplesReceived: 5 });
    const after = stream({ packetsReceived: 20, packetsLost: 1, bytesReceived: 2000, totalSamplesReceived: 900 });
    expect(measureStream(before, after, 1000, null)).toMatchObject({
      packets: 20,
      packetsLost: 1,
      bytes: 2000,
      samples: 900,
    });
  });

  it('never give a negative counter, whatever falls', () => {
    const before = stream(
      { packetsReceived: 10, totalDecodeTime: 9, freezeCount: 4, totalFreezesDuration: 3 },
      { mediaType: 'video' },
    );
    const after = stream(
      { packetsReceived: 11, totalDecodeTime: 1, freezeCount: 1, totalFreezesDuration: 0.5 },
      { mediaType: 'video' },
    );
    expect(measureStream(before, after, 1000, null)).toMatchObject({
      packets: 1,
      decodeMs: null,
      freezes: null,
      freezeMs: null,
      outOfRange: 'freezes,freezeMs,decodeMs',
    });
  });

  it('count from the lower value while a counter goes on from there, and nothing twice when it is back', () => {
    const counts: Counts = {};
    const read = (packetsReceived: number) =>
      measureOn(counts, stream({ packetsReceived, bytesReceived: 9_000_000 }), 1000, null).measures.packets;
    read(9000);
    expect([100, 150, 200, 9200, 9250].map(read)).toEqual([null, 50, 50, 100, 50]);
    expect([100, 90, 9300].map(read)).toEqual([null, null, 50]);
  });

  it('have no more packets than bytes, but for some without payload', () => {
    const read = (packetsReceived: number, bytesReceived: number) =>
      measureOn({}, stream({ packetsReceived, bytesReceived }), 1000, null).measures;
    expect(read(1500, 600)).toMatchObject({ packets: 1500, outOfRange: null });
    expect(read(131_072, 6000)).toMatchObject({ packets: null, bytes: 6000, outOfRange: 'packets' });
  });

  it('take a loss back, and do not count it again', () => {
    const counts: Counts = {};
    const read = (packetsLost: number, packetsReceived: number) =>
      measureOn(counts, stream({ packetsLost, packetsReceived }), 1000, null).measures.packetsLost;
    read(50, 1000);
    expect([read(47, 1050), read(48, 1100), read(51, 1150)]).toEqual([-3, 1, 0]);
  });

  it('know no increase of a counter that fell by little, and count from there on', () => {
    const video = { mediaType: 'video' } as const;
    const counts: Counts = {};
    const read = (framesDropped: number, concealedSamples: number, packetsReceived: number) =>
      measureOn(counts, stream({ framesDropped, concealedSamples, packetsReceived }, video), 1000, null).measures;
    read(500, 95_000, 9000);
    expect(read(499, 95_000, 9100)).toMatchObject({ framesDropped: null, packets: 100, outOfRange: 'framesDropped' });
    expect(read(502, 94_999, 9099)).toMatchObject({ framesDropped: 2, packets: null, outOfRange: 'packets' });
    expect(read(502, 94_999, 9200)).toMatchObject({ framesDropped: 0, packets: 100, outOfRange: null });
    expect(row(2, read(501, 0, 9100)).at(-1)).toBe('packets,framesDropped');
  });

  it.each([-1, 2 ** 24 - 1, 2 ** 32 - 1])('know no increase where a counter is %i', (minusOne) => {
    const counts: Counts = {};
    const read = (bytesReceived: number) =>
      measureOn(counts, stream({ bytesReceived, packetsReceived: 100 }), 1000, null).measures;
    expect(read(500)).toMatchObject({ bytes: 500, outOfRange: null });
    expect(read(minusOne)).toMatchObject({ bytes: null, outOfRange: 'bytes' });
    expect(read(700)).toMatchObject({ bytes: 200, outOfRange: null });
  });

  it('do not take a jump of sequence numbers for a loss', () => {
    const lossOf = ({ packetsLost, outOfRange }: Measures) => outOfRange ?? packetsLost;
    const jump = 'packetsLost';
    const read = (counts: Counts, packetsReceived: number, packetsLost: number, ms = 1000) =>
      lossOf(measureOn(counts, stream({ packetsReceived, packetsLost }), ms, null).measures);
    const counts: Counts = {};
    read(counts, 100, 0);
    expect(read(counts, 150, 32_000)).toBe(jump);
    expect(read(counts, 200, 32_001)).toBe(1);
    expect(read(counts, 205, 32_046)).toBe(45); // nine of ten
    // After half a minute without a packet all that was sent meanwhile is lost.
    expect([read(counts, 205, 32_046, 30_000), read(counts, 255, 33_546)]).toEqual([0, 1500]);
    expect(read(counts, 305, 35_046)).toBe(jump); // and no more after it
    const sent = (packetsSent: number, packetsLost: number, timestamp: number) =>
      measureOn(
        counts,
        stream({ packetsSent }, { statsType: 'outbound-rtp', remote: { packetsLost, timestamp, fractionLost: 0.98 } }),
        1000,
        null,
      ).measures;
    for (const key of Object.keys(counts)) delete counts[key as keyof Counts];
    sent(50, 0, 1000);
    expect(sent(100, 32_000, 2000)).toMatchObject({
      remotePacketsLost: null,
      remoteLossFraction: null,
      outOfRange: 'remotePacketsLost',
    });
    expect(sent(150, 32_005, 3000)).toMatchObject({ remotePacketsLost: 5, remoteLossFraction: 0.1 });
  });

  it('hold one correction of the other end against one packet', () => {
    const counts: Counts = {};
    const read = (packetsReceived: number, packetsLost: number) =>
      measureOn(
        counts,
        stream(
          { packetsSent: 500 + packetsReceived },
          { statsType: 'outbound-rtp', remote: { packetsReceived, packetsLost } },
        ),
        1000,
        null,
      ).measures.remotePacketsLost;
    read(500, 62);
    expect([read(499, 63), read(550, 63)]).toEqual([1, 0]);
  });

  it('know no round trip of more than a minute', () => {
    const far = (roundTripTime: number) =>
      measureStream(stream({}), stream({}, { remote: { roundTripTime } }), 1000, 40);
    expect([far(60).rttMs, far(60.1).outOfRange, far(65_536).outOfRange]).toEqual([60_000, 'rttMs', 'rttMs']);
    const pair = (currentRoundTripTime: number) =>
      measurePair({}, { id: 'a', transport: 't', pair: { currentRoundTripTime }, local: {}, remote: {}, locals: [] });
    expect([pair(2).rttMs, pair(65_536).rttMs, pair(65_536).outOfRange]).toEqual([2000, null, 'rttMs']);
    const jitter = measureStream(stream({}), stream({ jitter: 1e306 }), 1000, null);
    expect(jitter.outOfRange).toBe('jitterMs');
  });

  it("take what an old Firefox marks as the other end's for that", () => {
    const { byKey } = normalise([
      { id: 'i', type: 'inbound-rtp', kind: 'audio', ssrc: 1, remoteId: 'o', packetsReceived: 5 },
      { id: 'o', type: 'outbound-rtp', kind: 'audio', ssrc: 1, isRemote: true, packetsSent: 7 },
      { id: 's', type: 'outbound-rtp', kind: 'audio', ssrc: 2, isRemote: false, packetsSent: 9 },
      { id: 'r', type: 'inbound-rtp', kind: 'audio', ssrc: 2, isRemote: true, packetsLost: 3 },
    ]);
    expect([...byKey.values()].map(({ key, remote }) => [key, remote.id])).toEqual([
      ['inbound-rtp 1', 'o'],
      ['outbound-rtp 2', 'r'],
    ]);
  });

  it('leave unknown what a browser does not supply', () => {
    const measures = measureStream(stream({}), stream({ packetsReceived: 'many', jitter: Number.NaN }), 1000, null);
    expect(measures).toMatchObject({
      packets: null,
      jitterMs: null,
      packetsLost: null,
      jitterBufferDelayMs: null,
      rttMs: null,
    });
  });

  it('take the round trip of the pair where a stream has none', () => {
    expect(measureStream(stream({}), stream({}), 1000, 40).rttMs).toBe(40);
    const remote = { roundTripTime: 0.1, totalRoundTripTime: 0.3, roundTripTimeMeasurements: 3 };
    expect(measureStream(stream({}), stream({}, { remote }), 1000, 40).rttMs).toBe(100);
    expect(measureStream(stream({}, { remote }), stream({}, { remote }), 1000, 40).rttMs).toBe(100);
  });

  it('hold what the other end lost against the time between its reports', () => {
    const sent = (packetsSent: number, timestamp: number, packetsLost: number) =>
      stream({ packetsSent }, { statsType: 'outbound-rtp', remote: { packetsLost, timestamp, fractionLost: 0.5 } });
    const loss = (from: number, to: number) =>
      measureStream(sent(0, from, 0), sent(100, to, 5), 1000, null).remoteLossFraction;
    expect(loss(0, 1000)).toBe(0.05);
    expect(loss(0, 5000)).toBe(0.01);
    expect(loss(5000, 5000)).toBe(0.5); // no new report: what the last one said
  });

  it('say that an encoding that is switched off is to have no bit rate', () => {
    const video = { statsType: 'outbound-rtp', mediaType: 'video' } as const;
    const target = (active: unknown) =>
      measureStream(stream({}, video), stream({ targetBitrate: 5000, active }, video), 1000, null).targetBitrateBps;
    expect([target(false), target(true), target(undefined)]).toEqual([0, 5000, 5000]);
  });

  it('have the target of the frames that were encoded, as Firefox reports it', () => {
    const video = { statsType: 'outbound-rtp', mediaType: 'video' } as const;
    const target = (totalEncodedBytesTarget: number) =>
      measureStream(stream({}, video), stream({ totalEncodedBytesTarget }, video), 2000, null).targetBitrateBps;
    expect([target(75_000), target(0)]).toEqual([300_000, null]); // none was encoded: 0 would mean that none is wanted
  });

  it('leave out what the other end reported long ago', () => {
    const remoteAt = (timestamp: number) => {
      const [known] = normalise([
        { id: 'r', type: 'remote-inbound-rtp', ssrc: 1, timestamp, fractionLost: 0 },
        { id: 'o', type: 'outbound-rtp', kind: 'audio', ssrc: 1, timestamp: 100_000, remoteId: 'r' },
      ]).byKey.values();
      return known?.remote.fractionLost;
    };
    expect([remoteAt(86_000), remoteAt(84_000), remoteAt(Number.NaN)]).toEqual([0, undefined, 0]);
  });

  it('count a new pair from its beginning', () => {
    const pair = { id: 'a', transport: 't', pair: { bytesSent: 800 }, local: {}, remote: {}, locals: [] };
    expect(measurePair({ bytesSent: 500 }, pair).bytesSent).toBe(300);
    expect(measurePair(undefined, pair).bytesSent).toBe(800);
  });
});

describe('rows', () => {
  it('hold only what the wire takes', () => {
    const given: Record<string, unknown> = {
      ssrc: 1,
      packets: 10.4,
      packetsLost: -3,
      bytes: -5,
      jitterMs: 1e9,
      fps: 29.97,
      harmonicFps: Number.POSITIVE_INFINITY,
      qp: 300,
      width: 70_000,
      codec: 'x'.repeat(100),
    };
    const fitted = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, bounded(rangeOf(name), value)]),
    );
    const values = row(streamSet('inbound-rtp', 'video'), fitted);
    const { names } = JSON.parse(columnsLine(2));
    const cell = (name: string) => values[1 + names.indexOf(name)];
    expect(values).toHaveLength(names.length + 1);
    expect([cell('packets'), cell('packetsLost'), cell('bytes')]).toEqual([10, -3, 0]);
    expect([cell('jitterMs'), cell('fps'), cell('harmonicFps'), cell('qp'), cell('width')]).toEqual([
      3_600_000,
      29.97,
      null,
      255,
      65_535,
    ]);
    expect(cell('codec')).toHaveLength(64);
    expect(cell('freezes')).toBeNull();
  });
});

describe('the monitor', () => {
  const audio = (ssrc: number, packets: number): Report => ({
    id: `a${ssrc}`,
    type: 'inbound-rtp',
    kind: 'audio',
    ssrc,
    packetsReceived: packets,
  });

  it('gives a stream that came later an interval of its own', () => {
    const monitor = createMonitor(0);
    monitor.adopt([audio(1, 100)], 0);
    expect(monitor.adopt([audio(1, 150), audio(2, 10)], 4000).added.map((s) => s.ssrc)).toEqual([2]);
    const { groups } = monitor.measure([audio(1, 600), audio(2, 310)], 10_000, noArea);
    expect(groups.map((g) => [g.intervalMs, g.rows.map((r) => [r[1], r[4]])])).toEqual([
      [10_000, [[1, 500]]],
      [6000, [[2, 300]]],
    ]);
  });

  it('starts with what is first seen at a measurement, and says no rate over a moment', () => {
    const monitor = createMonitor(0);
    expect(monitor.measure([audio(1, 100)], 10_000, noArea).groups).toEqual([
      { intervalMs: 10_000, sets: [], rows: [] },
    ]);
    expect(monitor.measure([audio(1, 110)], 10_300, noArea).intervals).toEqual([]);
    expect(monitor.measure([audio(1, 600)], 20_000, noArea).intervals[0]?.measures.packets).toBe(500);
  });

  it('leaves out streams without a packet', () => {
    const monitor = createMonitor(0);
    monitor.adopt([audio(1, 0)], 0);
    expect(monitor.measure([audio(1, 0)], 10_000, noArea).groups[0]?.rows).toEqual([]);
  });

  it('counts the freezes of the last minute', () => {
    const monitor = createMonitor(0);
    const video = (freezeCount: number): Report => ({
      id: 'v',
      type: 'inbound-rtp',
      kind: 'video',
      ssrc: 5,
      packetsReceived: 1 + freezeCount,
      freezeCount,
    });
    monitor.adopt([video(0)], 0);
    const at = (freezes: number, ms: number) =>
      monitor.measure([video(freezes)], ms, noArea).intervals[0]?.measures.freezes60s;
    expect([at(2, 10_000), at(3, 40_000), at(3, 69_000), at(3, 71_000), at(3, 101_000)]).toEqual([2, 3, 3, 1, 0]);
  });

  it('cuts very many rows into several frames', () => {
    const monitor = createMonitor(0);
    const all = (packets: number) => Array.from({ length: 450 }, (_, i) => audio(i, packets));
    monitor.adopt(all(1), 0);
    const { groups } = monitor.measure(all(501), 10_000, noArea);
    expect(groups.map((g) => g.rows.length)).toEqual([200, 200, 50]);
  });

  it('tells of a pair that took the place of another (spec: FAB-14)', () => {
    const monitor = createMonitor(0);
    const path = (id: string): Report[] => [
      { id: 'T', type: 'transport', selectedCandidatePairId: id },
      { id, type: 'candidate-pair', transportId: 'T', localCandidateId: 'L' },
      { id: 'L', type: 'local-candidate', candidateType: 'relay', relayProtocol: 'tls' },
    ];
    expect(monitor.adopt(path('P1'), 0).changedPairs).toEqual([]);
    const [changed] = monitor.measure(path('P2'), 10_000, noArea).changedPairs;
    expect(changed?.local).toMatchObject({ candidateType: 'relay', relayProtocol: 'tls' });
    expect(monitor.measure(path('P2'), 20_000, noArea).changedPairs).toEqual([]);
    expect(monitor.pair()?.id).toBe('P2');
  });
});

describe('normalising', () => {
  it('finds the selected pair without a transport report', () => {
    const pairs = [
      { id: 'a', type: 'candidate-pair', nominated: true, state: 'failed' },
      { id: 'b', type: 'candidate-pair', nominated: true, state: 'succeeded' },
    ];
    expect(normalise(pairs).pairs.get('')?.id).toBe('b');
    expect(normalise([...pairs, { id: 'c', type: 'candidate-pair', selected: true }]).pairs.get('')?.id).toBe('c');
    const two = [5000, 90_000].map((bytesReceived) => ({
      id: bytesReceived,
      type: 'candidate-pair',
      selected: true,
      bytesReceived,
    }));
    expect(normalise(two).pairs.get('')?.id).toBe('90000'); // the busiest
  });

  it('survives nonsense', () => {
    expect(normalise([{}, { type: 'inbound-rtp' }, { type: 'inbound-rtp', kind: 'smell', ssrc: 1 }]).byKey.size).toBe(
      0,
    );
  });
});

const readStats = (pc: object, legacy: boolean) => createReader(pc)(legacy);

describe('asking for reports', () => {
  it('takes a map, an array or an object, and null for anything else', async () => {
    const report = { id: 'a', type: 'x' };
    const ask = (answer: unknown) => readStats({ getStats: async () => answer }, true);
    expect(await ask(new Map([['a', report]]))).toEqual([report]);
    expect(await ask([report])).toEqual([report]);
    expect(await ask({ a: report })).toEqual([report]);
    expect(await ask(undefined)).toBeNull();
    expect(await readStats({ getStats: () => Promise.reject(new Error('x')) }, true)).toBeNull();
    expect(
      await readStats(
        {
          getStats: () => {
            throw new Error('x');
          },
        },
        false,
      ),
    ).toBeNull();
  });

  /** A PeerConnection whose answers count how they are read. */
  function counting(reports: Record<string, unknown>[]) {
    const pc = {
      reports,
      iterated: 0,
      asked: [] as unknown[],
      async getStats() {
        const all = new Map(pc.reports.map((report) => [report.id, report]));
        return {
          size: all.size,
          get: (id: unknown) => {
            pc.asked.push(id);
            return all.get(id);
          },
          forEach: (each: (report: object) => void) => {
            pc.iterated++;
            all.forEach(each);
          },
        };
      },
    };
    return pc;
  }

  const transport = { id: 'T', type: 'transport', selectedCandidatePairId: 'P1' };
  const pair = (id: string, bytesSent: number) => ({ id, type: 'candidate-pair', bytesSent });
  const call = [
    { id: 'C', type: 'codec' },
    { id: 'I', type: 'inbound-rtp', packetsReceived: 1 },
    { id: 'A', type: 'media-source', kind: 'audio' },
    { id: 'V', type: 'media-source', kind: 'video' },
    transport,
    pair('P1', 1),
    pair('P2', 1),
  ];

  it('asks again for the reports that change alone', async () => {
    const pc = counting(call);
    const read = createReader(pc);
    expect(await read(true)).toEqual(call);
    expect(pc.asked).toEqual([]);
    pc.reports = call.map((report) => ({ ...report, now: 2 }));
    const again = (await read(true)) ?? [];
    expect([pc.iterated, pc.asked]).toEqual([1, ['I', 'A', 'T', 'P1']]);
    expect(again.map(({ id, now }) => [id, now])).toEqual([
      ['C', undefined],
      ['I', 2],
      ['A', 2],
      ['V', undefined],
      ['T', 2],
      ['P1', 2],
      ['P2', undefined],
    ]);
    await read(true, true);
    expect(pc.iterated).toBe(2);
    for (let n = 0; n < 24; n++) await read(true);
    expect(pc.iterated).toBe(4);
  });

  it.each([
    ['another one', [...call, { id: 'I2', type: 'inbound-rtp' }]],
    ['another one in the place of one', call.map((report) => (report.id === 'I' ? { ...report, id: 'I2' } : report))],
    [
      'another pair',
      call.map((report) => (report.id === 'T' ? { ...transport, selectedCandidatePairId: 'P2' } : report)),
    ],
  ])('reads all of them where there is %s', async (_, reports) => {
    const pc = counting(call);
    const read = createReader(pc);
    await read(true);
    pc.reports = reports.map((report) => ({ ...report, now: 2 }));
    expect(await read(true)).toEqual(pc.reports);
    expect(pc.iterated).toBe(2);
  });

  it('reads all of them where a report cannot be asked for', async () => {
    const reports = Object.assign([{ id: 'I', type: 'inbound-rtp' }], { size: 1 });
    const read = createReader({ getStats: async () => reports });
    expect([await read(true), await read(true)]).toEqual([[reports[0]], [reports[0]]]);
    Object.assign(reports, {
      get() {
        throw new Error('no');
      },
    });
    expect(await read(true)).toEqual([reports[0]]);
  });

  it('takes goog reports of a callback form, and never asks so when configured not to (spec: STAT-05)', async () => {
    const legacy = (type: string, id: string, values: Record<string, string>) => ({
      id,
      type,
      names: () => Object.keys(values),
      stat: (n: string) => values[n],
    });
    const response = {
      result: () => [
        legacy('ssrc', 's1', {
          ssrc: '11',
          mediaType: 'audio',
          packetsReceived: '50',
          packetsLost: '1',
          bytesReceived: '900',
          googJitterReceived: '7',
          audioOutputLevel: '32767',
          googCodecName: 'opus',
        }),
        legacy('ssrc', 's2', {
          ssrc: '12',
          mediaType: 'video',
          packetsSent: '70',
          bytesSent: '5000',
          googRtt: '80',
          packetsLost: '2',
          googFrameWidthSent: '640',
          googCodecName: 'VP8',
        }),
        legacy('googCandidatePair', 'p', { googActiveConnection: 'true', bytesSent: '7000', googRtt: '80' }),
        legacy('googComponent', 'c', {}),
      ],
    };
    const calls: number[] = [];
    const pc = {
      getStats(...args: ((r: unknown) => void)[]) {
        calls.push(args.length);
        args[0]?.(response);
      },
    };
    const { byKey: streams, pairs } = normalise((await readStats(pc, true)) ?? []);
    expect(measureStream(stream({}), streams.get('inbound-rtp 11') ?? stream({}), 1000, null)).toMatchObject({
      packets: 50,
      bytes: 900,
      jitterMs: 7,
      audioLevel: 1,
      codec: 'opus',
    });
    expect(
      measureStream(
        stream({}, { statsType: 'outbound-rtp' }),
        streams.get('outbound-rtp 12') ?? stream({}),
        1000,
        null,
      ),
    ).toMatchObject({ packets: 70, rttMs: 80, width: 640, remotePacketsLost: 2 });
    expect(
      measurePair(undefined, pairs.get('') ?? { id: '', transport: '', pair: {}, local: {}, remote: {}, locals: [] })
        .rttMs,
    ).toBe(80);
    expect(calls).toEqual([0, 1]);
    expect(await readStats(pc, false)).toBeNull();
    expect(calls).toEqual([0, 1, 0]);
    expect(() => fromLegacy(null)).toThrow();
  });
});

describe('the quality label', () => {
  const bounds = [4.2, 3.8, 3.2, 2.6];
  const audio = (loss: number, rttMs = 40) => ({ packets: 1000 * (1 - loss), packetsLost: 1000 * loss, rttMs });

  it('falls with loss and delay, stays in its range, and is null without evidence', () => {
    const scores = [0, 0.01, 0.05, 0.1, 0.3, 0.9].map((loss) => audioMos(audio(loss)) ?? 0);
    expect(scores[0]).toBeGreaterThan(4.1);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.at(-1)).toBeGreaterThanOrEqual(1);
    expect(audioMos(audio(0, 900)) ?? 5).toBeLessThan(audioMos(audio(0, 300)) ?? 0);
    expect(audioMos({ packets: 0, packetsLost: 0 })).toBeNull();
    expect(label('audio', audio(0), 1000, bounds)).toBe('excellent');
    expect(label('audio', audio(0.05), 1000, bounds)).toBe('fair');
    expect(label('audio', audio(0.3), 1000, bounds)).toBe('bad');
  });

  it('does not judge sound that is held, though the other end goes on to report', () => {
    expect(label('audio', { packets: 0, remoteLossFraction: 0 }, 10_000, bounds)).toBeNull();
    expect(label('audio', { packets: 10, remoteLossFraction: 0 }, 10_000, bounds)).toBe('excellent');
    expect(label('audio', { packets: 0, packetsLost: 500 }, 10_000, bounds)).toBe('bad');
  });

  it('judges video by freezes, motion and reported loss', () => {
    expect(label('video', { packets: 500, fps: 30, freezes60s: 0, freezeMs: 0 }, 10_000, bounds)).toBe('excellent');
    expect(label('video', { packets: 500, fps: 30, freezes60s: 4, freezeMs: 500 }, 10_000, bounds)).toBe('fair');
    expect(label('video', { packets: 500, fps: 30, freezes60s: 9, freezeMs: 5000 }, 10_000, bounds)).toBe('bad');
    expect(videoMos({ packets: 500, fps: 0, packetsLost: 9 }, 10_000)).toBe(1);
    expect(videoMos({ packets: 500, fps: 0, packetsLost: 0 }, 10_000)).toBeNull(); // no key
    expect(videoMos({ packets: 0 }, 10_000)).toBeNull();
    expect(videoMos({ packets: 500 }, 10_000)).toBeCloseTo(4.4); // without a frame rate
    expect(label('video', { packets: 500, fps: 30, remoteLossFraction: 0.1 }, 10_000, bounds)).toBe('bad');
  });
});

it("measures as long as the page's clock says where that of the reports was set", () => {
  const monitor = createMonitor(0);
  const inbound = (timestamp: number, framesDecoded: number) => [
    { id: 'i', type: 'inbound-rtp', ssrc: 1, kind: 'video', timestamp, packetsReceived: framesDecoded, framesDecoded },
  ];
  monitor.adopt(inbound(1_000_000, 0), 0);
  const ms = [10_000, 20_000, 30_000].map((atMs) => {
    const timestamp = 1_000_000 + atMs - (atMs >= 20_000 ? 3_600_000 : 0);
    return monitor.measure(inbound(timestamp, atMs), atMs, noArea).intervals[0]?.ms;
  });
  expect(ms).toEqual([10_000, 10_000, 10_000]);
});

it('announces sets that the wire takes', () => {
  for (let set = 1; set <= pairSet; set++) {
    const { names, statsType, mediaType } = JSON.parse(columnsLine(set));
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeLessThanOrEqual(64);
    expect(mediaType === undefined).toBe(statsType === 'candidate-pair');
  }
});
