// The statistics of real calls, held against a plain computation from the same reports and
// against what is known of the calls. tests/e2e makes the recordings (-record-stats).

import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../src/stats/monitor.ts';
import { createReader } from '../src/stats/read.ts';
import { view } from '../src/stats/view.ts';
import type { MediaStreamTrackStats } from '../src/types.ts';
import { createMonitor } from './monitor.ts';
import { type NamedRow, namedRows } from './stats-rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: reports as browsers give them
type Raw = Record<string, any>;

interface Recording {
  scenario: string;
  browser: string;
  begunMs: number;
  facts: Raw;
  relay?: { carried: number; dropped: number };
  near: { t: number; reports: Raw[] | null }[];
  far: Recording['near'];
}

const ends = ['near', 'far'] as const;
type End = (typeof ends)[number];

const folder = new URL('recordings/', import.meta.url);
const recordings: Recording[] = readdirSync(folder).map((name) =>
  JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString()),
);
const titled = recordings.map((recording) => [`${recording.scenario} in ${recording.browser}`, recording] as const);
const named = (scenario: string) => titled.filter(([, recording]) => recording.scenario === scenario);

/** One measurement: the raw reports at its two ends, and what the library makes of them. */
interface Step {
  second: number;
  ms: number;
  from: Recording['near'][number];
  before: Raw[];
  after: Raw[];
  reading: Reading;
  rows: NamedRow[];
  tracks: MediaStreamTrackStats[];
}

const identity = () => ({
  remoteUserID: 'r',
  userID: 'u',
  cname: null,
  msid: null,
  usageLabel: null,
  associatedVideoTag: null,
});

/** How long after another the counters of a reading were taken: the page may hear of them later. */
function between(before: Recording['near'][number], after: Recording['near'][number]): number {
  const [from, to] = [before, after].map(
    ({ reports }) => reports?.find((report) => /^(in|out)bound-rtp$/.test(report.type))?.timestamp,
  );
  return from && to ? to - from : after.t - before.t;
}

/** Measures a recording, every so many seconds. */
function play(recording: Recording, end: End, every = 1) {
  const readings = recording[end].filter((_, i) => i % every === 0);
  const [first, ...rest] = readings;
  const monitor = createMonitor(first?.t ?? 0);
  const added = monitor.adopt(first?.reports ?? [], first?.t ?? 0).added;
  let last = first;
  const steps = rest.map((now): Step => {
    const reading = monitor.measure(now.reports ?? [], now.t, () => null);
    const { mediaStreamTracks } = view(reading.intervals, identity, [4.2, 3.8, 3.2, 2.6]);
    const step = {
      second: Math.round((now.t - recording.begunMs) / 1000),
      ms: now.t - (last?.t ?? 0),
      from: last ?? now,
      before: last?.reports ?? [],
      after: now.reports ?? [],
      reading,
      rows: namedRows(reading),
      tracks: mediaStreamTracks,
    };
    // A reading too soon after another is none: the interval goes on.
    if (between(step.from, now) >= 500) last = now;
    return step;
  });
  return { added, steps, monitor };
}

const find = (reports: Raw[], type: string, ssrc: unknown) =>
  reports.find((report) => report.type === type && report.ssrc === ssrc);
const streamRows = (step: Step) => step.rows.filter((row) => row.ssrc !== undefined);
const sum = (values: (number | undefined)[]) => values.reduce((all: number, one) => all + (one ?? 0), 0);

/** What a counter rose by. */
function rose(step: Step, row: NamedRow, field: string, type = row.statsType): number | undefined {
  const now = find(step.after, type, row.ssrc)?.[field];
  return now === undefined ? undefined : now - (find(step.before, type, row.ssrc)?.[field] ?? 0);
}

/** What a row must say, worked out from the two reports alone. */
function expectRow(step: Step, row: NamedRow): void {
  const now = find(step.after, row.statsType, row.ssrc) ?? {};
  const up = (field: string) => rose(step, row, field);
  const inbound = row.statsType === 'inbound-rtp';
  const way = inbound ? 'Received' : 'Sent';
  expect(row.bytes).toBe(up(`bytes${way}`));
  expect(row.packets).toBe((up(`packets${way}`) ?? 0) - (up(`retransmittedPackets${way}`) ?? 0));
  expect(row.codec).toBe(now.kind === 'audio' ? 'opus' : 'VP8');
  const exactly: Record<string, string> = inbound
    ? { packetsLost: 'packetsLost', samples: 'totalSamplesReceived', concealedSamples: 'concealedSamples' }
    : { nacks: 'nackCount', retransmittedPackets: 'retransmittedPacketsSent' };
  if (now.kind === 'video') {
    Object.assign(
      exactly,
      inbound
        ? { frames: 'framesReceived', framesDecoded: 'framesDecoded', freezes: 'freezeCount', plis: 'pliCount' }
        : { frames: 'framesSent', framesEncoded: 'framesEncoded', firs: 'firCount' },
    );
    expect(row.width).toBe(now.frameWidth ?? null);
    const fps = ((up(inbound ? 'framesDecoded' : 'framesSent') ?? 0) * 1000) / (up('timestamp') ?? 0);
    expect(Math.abs(Number(row.fps) - fps)).toBeLessThanOrEqual(0.05 * fps);
  }
  for (const [name, field] of Object.entries(exactly)) if (name in row) expect(row[name], name).toBe(up(field) ?? null);
  expect(row.contentType ?? null).toBe(now.contentType ?? null);
  if (inbound) {
    expect(row.jitterMs).toBeCloseTo(now.jitter * 1000, 0);
    const emitted = up('jitterBufferEmittedCount');
    if (emitted) expect(row.jitterBufferDelayMs).toBeCloseTo(((up('jitterBufferDelay') ?? 0) / emitted) * 1000, 0);
    if (row.freezeMs !== undefined) expect(row.freezeMs).toBeCloseTo((up('totalFreezesDuration') ?? 0) * 1000, 0);
    return;
  }
  const remote = find(step.after, 'remote-inbound-rtp', row.ssrc);
  expect(row.remotePacketsLost).toBe(
    remote ? remote.packetsLost - (find(step.before, 'remote-inbound-rtp', row.ssrc)?.packetsLost ?? 0) : null,
  );
  expect(row.limitation ?? null).toBe(now.kind === 'video' ? (now.qualityLimitationReason ?? null) : null);
  const level = step.after.find((report) => report.id === now.mediaSourceId)?.audioLevel;
  if (now.kind === 'audio') expect(row.audioLevel).toBe(level === undefined ? null : Math.round(level * 1e4) / 1e4);
}

describe.each(titled)('%s', (_, recording) => {
  const played = ends.map((end) => play(recording, end));

  it('gives the same where the reports that change are asked for alone', async () => {
    for (const end of ends) {
      const readings = recording[end].filter(({ reports }) => reports);
      const [first] = readings;
      let reports: Raw[] = [];
      const read = createReader({ getStats: async () => new Map(reports.map((report) => [report.id, report])) });
      const [asked, whole] = [createMonitor(first?.t ?? 0), createMonitor(first?.t ?? 0)];
      for (const reading of readings) {
        reports = reading.reports ?? [];
        expect(asked.measure((await read(false)) ?? [], reading.t, () => null).groups).toEqual(
          whole.measure(reports, reading.t, () => null).groups,
        );
      }
    }
  });

  it('gives each row as a plain computation does (spec: STAT-04)', () => {
    let rows = 0;
    for (const { steps } of played)
      for (const step of steps)
        for (const row of streamRows(step)) {
          if (!find(step.before, row.statsType, row.ssrc)) continue; // an interval of its own
          expectRow(step, row);
          rows++;
        }
    const silent = !recording.facts.audio && !recording.facts.video;
    expect(rows > 0).toBe(!silent);
  });

  it('adds up to the last counters, measured every second or every four', () => {
    for (const end of ends) {
      const { reports: first } = recording[end][0] ?? {};
      for (const every of [1, 2, 4]) {
        const { steps } = play(recording, end, every);
        const sums = new Map<unknown, { bytes: number; lost: number; last: Raw; first: Raw | undefined }>();
        for (const step of steps)
          for (const row of streamRows(step)) {
            const one = sums.get(`${row.statsType} ${row.ssrc}`) ?? {
              bytes: 0,
              lost: 0,
              last: {},
              // A stream that came later is counted from where it was first seen.
              first:
                find(first ?? [], row.statsType, row.ssrc) ??
                steps.map((s) => find(s.before, row.statsType, row.ssrc)).find((report) => report),
            };
            one.bytes += Number(row.bytes);
            one.lost += Number(row.packetsLost ?? 0);
            one.last = find(step.after, row.statsType, row.ssrc) ?? one.last;
            sums.set(`${row.statsType} ${row.ssrc}`, one);
          }
        for (const { bytes, lost, last, first: from } of sums.values()) {
          const field = last.type === 'inbound-rtp' ? 'bytesReceived' : 'bytesSent';
          expect(bytes).toBe(last[field] - (from?.[field] ?? 0));
          if (last.packetsLost !== undefined) expect(lost).toBe(last.packetsLost - (from?.packetsLost ?? 0));
        }
      }
    }
  });

  it('never says what cannot be (spec: STAT-02, STAT-08)', () => {
    for (const { steps } of played)
      for (const { rows, tracks, before, after } of steps) {
        for (const row of rows) {
          // The page was held up for seconds while one call was recorded: the reports’ own time counts.
          const from = row.ssrc === undefined ? undefined : find(before, row.statsType, row.ssrc)?.timestamp;
          const taken = from && find(after, row.statsType, row.ssrc)?.timestamp - from;
          if (taken) expect(Math.abs(row.intervalMs - taken)).toBeLessThan(130);
          for (const [name, value] of Object.entries(row)) {
            expect(value, name).not.toBeNaN();
            if (typeof value === 'number' && !/Lost$/.test(name)) expect(value, name).toBeGreaterThanOrEqual(0);
          }
          expect(Number(row.fps ?? 0)).toBeLessThan(45);
          if (row.statsType === 'inbound-rtp')
            expect(Number(row.packetsLost)).toBeLessThanOrEqual(Number(row.packets) + Number(row.packetsLost));
        }
        for (const track of tracks) {
          const { fractionLoss, packetLossPercentage, audioInputLevel, audioOutputLevel, bitrate } = track;
          for (const part of [fractionLoss, audioInputLevel, audioOutputLevel])
            if (part !== null) expect(part >= 0 && part <= 1).toBe(true);
          if (fractionLoss !== null) expect(packetLossPercentage).toBeCloseTo(fractionLoss * 100, 1);
          if (bitrate !== null) expect(bitrate).toBeLessThan(3000);
        }
      }
  });
});

/** Over the whole call, of the streams that a test picks. */
function total(steps: Step[], pick: (row: NamedRow) => boolean, name: string): number {
  return sum(steps.flatMap((step) => streamRows(step).filter(pick)).map((row) => Number(row[name] ?? 0)));
}

const isVideo = (way: string) => (row: NamedRow) => row.mediaType === 'video' && row.statsType === `${way}-rtp`;
const isAudio = (way: string) => (row: NamedRow) => row.mediaType === 'audio' && row.statsType === `${way}-rtp`;

describe.each(named('call'))('%s', (_, recording) => {
  it('has the source’s pictures and size, the codecs and the packets of 20 ms of sound', () => {
    const { steps } = play(recording, 'near');
    const [from, to] = [recording.near[0], recording.near.at(-1)].map(
      (reading) =>
        reading?.reports?.find((report) => report.type === 'media-source' && report.kind === 'video')?.frames,
    );
    const seconds = sum(steps.map((step) => step.ms)) / 1000;
    const perSecond = (pick: (row: NamedRow) => boolean, name: string) => total(steps, pick, name) / seconds;
    expect(perSecond(isVideo('outbound'), 'frames')).toBeCloseTo((to - from) / seconds, 0);
    if (recording.browser === 'chromium') {
      for (const way of ['inbound', 'outbound']) {
        const fps = steps.slice(1).map((step) => Number(step.rows.find(isVideo(way))?.fps));
        expect(sum(fps) / fps.length).toBeGreaterThan(recording.facts.fps - 2);
        expect(sum(fps) / fps.length).toBeLessThan(recording.facts.fps + 2);
      }
      const harmonic = steps.slice(1).map((step) => Number(step.rows.find(isVideo('inbound'))?.harmonicFps));
      expect(Math.abs(sum(harmonic) / harmonic.length - recording.facts.fps)).toBeLessThan(6);
    }
    expect(perSecond(isAudio('outbound'), 'packets')).toBeGreaterThan(48);
    expect(perSecond(isAudio('outbound'), 'packets')).toBeLessThan(52);
    const last = steps.at(-1)?.rows.find(isVideo('inbound'));
    expect(last).toMatchObject({ width: recording.facts.width, height: recording.facts.height, packetsLost: 0 });
    expect(total(steps, (row) => row.statsType === 'inbound-rtp', 'packetsLost')).toBe(0);
  });

  it('shows what the sender says it sent, over the time between its reports', () => {
    const { steps } = play(recording, 'near', 6);
    const shown = steps.flatMap((step) => step.tracks).filter((t) => t.statsType === 'remote-outbound-rtp');
    const own = (ssrc: number) =>
      steps.flatMap((step) => step.tracks).filter((t) => t.statsType === 'inbound-rtp' && t.ssrc === ssrc);
    const known = shown.filter((track) => track.bitrate !== null);
    expect(known.length).toBeGreaterThan(0);
    for (const { ssrc, mediaType, packetRate } of known) {
      const rates = own(ssrc).map((track) => Number(track.packetRate));
      if (mediaType === 'audio') expect(packetRate).toBeGreaterThan(45);
      if (mediaType === 'audio') expect(packetRate).toBeLessThan(55);
      expect(packetRate).toBeGreaterThan(Math.min(...rates) * 0.6);
      expect(packetRate).toBeLessThan(Math.max(...rates) * 1.6);
    }
  });
});

describe.each(named('loss'))('%s', (_, { relay, ...recording }) => {
  const lost = (relay?.dropped ?? 0) / (relay?.carried ?? 1);

  it('has the loss of the relay, at either end (spec: STAT-08)', () => {
    const inbound = ends.map((end) => play(recording, end).steps);
    const all = (name: string) => sum(inbound.map((s) => total(s, (row) => row.statsType === 'inbound-rtp', name)));
    expect(Math.abs(all('packetsLost') / (all('packetsLost') + all('packets')) - lost)).toBeLessThan(0.025);
    const reported = ends.map((end) => play(recording, end, 6).steps.at(-1)?.tracks ?? []);
    const fractions = reported
      .flat()
      .filter((track) => track.statsType === 'remote-inbound-rtp' && track.mediaType === 'audio')
      .map((track) => Number(track.fractionLoss));
    expect(fractions).toHaveLength(2);
    for (const fraction of fractions) expect(Math.abs(fraction - lost)).toBeLessThan(0.06);
    expect(all('concealedSamples')).toBeGreaterThan(0.02 * all('samples'));
    expect(all('nacks')).toBeGreaterThan(0);
  });

  it('goes by a relay over UDP', () => {
    for (const end of ends)
      expect(play(recording, end).monitor.pair()?.local).toMatchObject({
        candidateType: 'relay',
        relayProtocol: 'udp',
      });
  });
});

it.each(titled.filter(([, { facts }]) => !facts.relay && !facts.closed))('%s goes by no relay', (_, recording) => {
  for (const end of ends) expect(play(recording, end).monitor.pair()?.local.candidateType).not.toBe('relay');
});

it.each(named('simulcast'))('%s has its layers apart', (_, recording) => {
  const { steps } = play(recording, 'near');
  const layers = new Map<unknown, NamedRow[]>();
  for (const row of steps.flatMap(streamRows)) layers.set(row.rid, [...(layers.get(row.rid) ?? []), row]);
  // Firefox as receiver takes no layer, and as sender then sends but the lowest.
  const sent = recording.browser === 'chromium' ? ['h', 'l'] : ['l'];
  expect([...layers.keys()].sort()).toEqual(sent);
  for (const [rid, rows] of layers) {
    expect(new Set(rows.map((row) => row.ssrc)).size).toBe(1);
    expect(rows.at(-1)?.width).toBe(recording.facts.layers[String(rid)]);
    expect(rows.length).toBeGreaterThan(8);
  }
  if (sent.length > 1)
    expect(sum(layers.get('h')?.map((row) => Number(row.bytes)) ?? [])).toBeGreaterThan(
      2 * sum(layers.get('l')?.map((row) => Number(row.bytes)) ?? []),
    );
});

it.each(named('replaceTrack'))('%s keeps its stream while tracks take turns', (_, recording) => {
  const { steps } = play(recording, 'near');
  const video = (second: number) => steps.find((step) => step.second === second)?.rows.find(isVideo('outbound'));
  const { changed, silent } = recording.facts;
  expect(video(changed)?.width).toBe(320);
  expect(video(changed + 2)?.width).toBe(160);
  expect(Number(video(silent[0] + 2)?.fps)).toBeLessThan(2); // Firefox sends a black picture a second
  expect(video(silent[1] + 3)?.width).toBe(320);
  expect(
    new Set(
      steps
        .flatMap(streamRows)
        .filter(isVideo('outbound'))
        .map((row) => row.ssrc),
    ).size,
  ).toBe(1);
});

it.each(named('mute'))('%s is silent while muted', (_, recording) => {
  const { steps } = play(recording, 'near');
  const [from, to] = recording.facts.muted;
  const level = (second: number) =>
    steps.find((step) => step.second === second)?.rows.find(isAudio('outbound'))?.audioLevel;
  const bytes = (pick: typeof isAudio, a: number, b: number) =>
    total(
      steps.filter(({ second }) => second > a && second <= b),
      pick('outbound'),
      'bytes',
    ) /
    (b - a);
  if (recording.browser === 'chromium') {
    for (let second = from + 1; second <= to; second++) expect(level(second)).toBe(0);
  } else expect(level(from + 1)).toBeNull(); // Firefox has no level of what it sends
  for (const pick of [isAudio, isVideo]) expect(bytes(pick, from + 1, to)).toBeLessThan(bytes(pick, 0, from) / 2);
});

it.each(named('renegotiate'))('%s has a stream come and go', (_, recording) => {
  for (const end of ends) {
    const { steps } = play(recording, end);
    const way = end === 'near' ? 'outbound' : 'inbound';
    const came = steps.filter((step) => step.second >= recording.facts.added && step.reading.added.length);
    expect(came.map((step) => step.second - recording.facts.added)).toEqual([came[0]?.second === 5 ? 1 : 0]);
    const ssrc = came[0]?.reading.added[0]?.ssrc;
    expect(came[0]?.reading.added[0]).toMatchObject({ statsType: `${way}-rtp`, mediaType: 'video' });
    const own = steps
      .filter((s) => s.second <= recording.facts.removed)
      .flatMap(streamRows)
      .filter((r) => r.ssrc === ssrc);
    expect(own.at(-1)).toMatchObject({ width: 160 });
    const later = steps.filter((s) => s.second > recording.facts.removed + 1).flatMap(streamRows);
    expect(sum(later.filter((r) => r.ssrc === ssrc).map((r) => Number(r.bytes)))).toBe(0);
  }
});

it.each(named('iceRestart'))('%s takes another pair and goes on', (_, recording) => {
  for (const end of ends) {
    const { steps } = play(recording, end);
    const changes = steps.filter((step) => step.reading.changedPairs.length);
    expect(changes.length).toBeGreaterThan(0);
    for (const { second } of changes) expect(second).toBeGreaterThanOrEqual(recording.facts.restarted);
    const pairs = steps.flatMap((step) => step.rows).filter((row) => row.statsType === 'candidate-pair');
    const perSecond = sum(pairs.map((row) => Number(row.bytesSent))) / steps.length;
    for (const row of pairs) expect(Number(row.bytesSent)).toBeLessThan(3 * perSecond);
    expect(new Set(steps.flatMap(streamRows).map((row) => row.ssrc)).size).toBe(4);
  }
});

it.each(named('data'))('%s has the pair alone', (_, recording) => {
  const { steps } = play(recording, 'near');
  expect(steps.flatMap(streamRows)).toEqual([]);
  for (const { rows } of steps) expect(rows).toHaveLength(1);
  const bytes = sum(steps.map(({ rows }) => Number(rows[0]?.bytesSent)));
  expect(bytes / sum(steps.map(({ ms }) => ms))).toBeGreaterThan(6); // ten messages of 1 kB a second
});

it.each(named('oneWay'))('%s goes out here and in there', (_, recording) => {
  for (const [end, way] of [
    ['near', 'outbound-rtp'],
    ['far', 'inbound-rtp'],
  ] as const) {
    const rows = play(recording, end).steps.flatMap(streamRows);
    expect(new Set(rows.map((row) => row.statsType))).toEqual(new Set([way]));
  }
});

it.each(named('ended'))('%s stops at its end', (_, recording) => {
  const late = play(recording, 'near').steps.filter((step) => step.second > recording.facts.ended + 1);
  expect(total(late, isVideo('outbound'), 'frames')).toBeLessThan(10);
  expect(total(late, isVideo('inbound'), 'frames')).toBeGreaterThan(30);
});

it.each(named('close'))('%s has nothing more after it', (_, recording) => {
  const { steps, monitor } = play(recording, 'near');
  const late = steps.filter((step) => step.second > recording.facts.closed + 1);
  expect(late.length).toBeGreaterThan(3);
  expect(total(late, () => true, 'bytes')).toBe(0);
  for (let i = 1; i <= 4; i++) monitor.measure([], 60_000 + i * 10_000, () => null);
  for (const row of steps.flatMap(streamRows)) expect(monitor.hasStream(Number(row.ssrc))).toBe(false);
});
