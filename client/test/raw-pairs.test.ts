// Pairs of intervals as the library reads them from raw reports: the second differs from the first by one
// kind of damage, or by retransmissions. internal/call/quality scores both: see TestRawPairs there.

import { expect, it } from 'vitest';
import type { Report } from '../src/stats/normalise.ts';
import { createMonitor } from './monitor.ts';
import { namedRows } from './stats-rows.ts';

const intervalMs = 5000;
const file = '../../internal/call/quality/testdata/raw_pairs.json';

/** The same numbers in each run: a linear congruential generator. */
let state = 1;
function between(least: number, most: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return least + (state % (most - least + 1));
}

type Counters = Record<string, number>;

/** What the library sends for a stream whose counters rose so much between two readings. */
function rowOf(kind: string, codec: string, growth: Counters, gauges: Counters) {
  const reading = (factor: number): Report[] => [
    { id: 'codec', type: 'codec', mimeType: codec },
    {
      id: 'stream',
      type: 'inbound-rtp',
      kind,
      ssrc: 7,
      codecId: 'codec',
      ...gauges,
      ...Object.fromEntries(Object.entries(growth).map(([name, by]) => [name, 1000 + factor * by])),
    },
  ];
  const monitor = createMonitor(0);
  monitor.adopt(reading(0), 0);
  const [row = {}] = namedRows(monitor.measure(reading(1), intervalMs, () => null));
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

function with_(counters: Counters, more: Counters): Counters {
  const all = { ...counters };
  for (const [name, by] of Object.entries(more)) all[name] = (all[name] ?? 0) + by;
  return all;
}

function again(counters: Counters): Counters {
  const packets = between(1, 500);
  const bytes = packets * between(60, 1200);
  return with_(counters, {
    packetsReceived: packets,
    bytesReceived: bytes,
    retransmittedPacketsReceived: packets,
    retransmittedBytesReceived: bytes,
  });
}

/** The frames of an interval: fps of them, and freezes in which there was none, all of one length. */
function frames(fps: number, freezes: number, freezeMs: number): Counters {
  const usualMs = 1000 / fps;
  const usual = Math.floor((intervalMs - freezes * freezeMs) / usualMs);
  const decoded = usual + freezes;
  return {
    framesReceived: decoded,
    framesDecoded: decoded,
    totalInterFrameDelay: (usual * usualMs + freezes * freezeMs) / 1000,
    totalSquaredInterFrameDelay: (usual * usualMs ** 2 + freezes * freezeMs ** 2) / 1e6,
    freezeCount: freezes,
    totalFreezesDuration: (freezes * freezeMs) / 1000,
    pauseCount: 0,
    totalPausesDuration: 0,
  };
}

function videoPairs() {
  const size = [320, 640, 1280][between(0, 2)] ?? 640;
  const gauges = { frameWidth: size, frameHeight: (size * 9) / 16 };
  const codec = ['video/VP8', 'video/H264', 'video/AV1', 'video/unheard-of'][between(0, 3)] ?? '';
  const fps = between(8, 30);
  const packets = between(50, 1500);
  const base = {
    packetsReceived: packets,
    bytesReceived: packets * between(400, 1150),
    packetsLost: between(0, 20),
    retransmittedPacketsReceived: 0,
    retransmittedBytesReceived: 0,
  };
  // Firefox has no quantiser.
  const coded = (counters: Counters, quantiser: number): Counters =>
    quantiser > 0 ? { ...counters, qpSum: quantiser * (counters.framesDecoded ?? 0) } : counters;
  const quantiser = between(0, 1) * between(2, 50);
  const pieces = between(2, 4);
  const frozenMs = pieces * between(450, 900);
  const whole = coded(with_(base, frames(fps, 0, 0)), quantiser);
  const once = coded(with_(base, frames(fps, 1, frozenMs)), quantiser);
  const split = coded(with_(base, frames(fps, pieces, frozenMs / pieces)), quantiser);
  const row = (growth: Counters) => rowOf('video', codec, growth, gauges);
  return [
    { kind: 'retransmissions', same: true, better: row(whole), worse: row(again(whole)) },
    { kind: 'a freeze', better: row(whole), worse: row(once) },
    { kind: 'a freeze in pieces', better: row(once), worse: row(split) },
  ];
}

function audioPairs() {
  const codec = ['audio/opus', 'audio/PCMU', 'audio/G722'][between(0, 2)] ?? '';
  const bytesEach = between(20, 100);
  const lost = between(0, 30);
  const base = {
    packetsReceived: 250 - lost,
    bytesReceived: (250 - lost) * bytesEach,
    packetsLost: lost,
    packetsDiscarded: 0,
    fecPacketsReceived: 0,
    retransmittedPacketsReceived: 0,
    retransmittedBytesReceived: 0,
    totalSamplesReceived: 240_000,
    concealedSamples: lost * 960,
    silentConcealedSamples: 0,
    concealmentEvents: lost,
  };
  const more = between(1, 60);
  const concealed = { concealedSamples: more * 960, concealmentEvents: more };
  const row = (growth: Counters) => rowOf('audio', codec, growth, { audioLevel: 0.1 });
  return [
    { kind: 'retransmissions', same: true, better: row(base), worse: row(again(base)) },
    {
      kind: 'lost packets',
      better: row(base),
      worse: row(
        with_(base, { packetsReceived: -more, bytesReceived: -more * bytesEach, packetsLost: more, ...concealed }),
      ),
    },
    {
      kind: 'late packets',
      better: row(base),
      worse: row(with_(base, { packetsDiscarded: more, ...concealed })),
    },
  ];
}

it('reads the pairs that the collector scores (vitest -u writes them)', async () => {
  const pairs = Array.from({ length: 20 }, () => [...videoPairs(), ...audioPairs()]).flat();
  await expect(`[\n${pairs.map((pair) => JSON.stringify(pair)).join(',\n')}\n]\n`).toMatchFileSnapshot(file);
});
