// From where the bytes of a candidate pair are counted.

import { expect, it } from 'vitest';
import type { Report } from '../src/stats/normalise.ts';
import { createMonitor } from './monitor.ts';
import { namedRows } from './stats-rows.ts';

const reports = (selected: string, sent: Record<string, number>) => [
  { id: 't', type: 'transport', selectedCandidatePairId: selected },
  ...Object.entries(sent).map(([id, bytesSent]) => ({ id, type: 'candidate-pair', transportId: 't', bytesSent })),
];

it('names both of its candidates', () => {
  const monitor = createMonitor(0);
  const [transport, pair] = reports('a', { a: 1 });
  const ends = { localCandidateId: 'l', remoteCandidateId: 'r' };
  const candidates = ['l', 'r', 'other'].map((id) => ({ id, type: `${id === 'l' ? 'local' : 'remote'}-candidate` }));
  monitor.adopt([transport, { ...pair, ...ends }, ...candidates] as Report[], 0);
  expect(monitor.pair()).toMatchObject({ local: { id: 'l' }, remote: { id: 'r' } });
});

it('the first pair from the reading that has it, one that takes its place from the last measurement', () => {
  const monitor = createMonitor(0);
  const sent = (selected: string, bytes: Record<string, number>, atMs: number) =>
    namedRows(monitor.measure(reports(selected, bytes), atMs, () => null)).map((row) => row.bytesSent);
  monitor.adopt(reports('a', { a: 100 }), 1000);
  expect(sent('a', { a: 400, b: 7 }, 10_000)).toEqual([300]);
  // b is there between measurements, and is counted from what it had at the last one; c is new.
  expect(monitor.adopt(reports('b', { a: 500, b: 70, c: 9 }), 12_000).changedPairs.map(({ id }) => id)).toEqual(['b']);
  expect(sent('b', { a: 500, b: 207, c: 10 }, 20_000)).toEqual([200]);
  monitor.adopt(reports('d', { b: 210, d: 40 }), 22_000);
  expect(sent('d', { b: 210, d: 90 }, 30_000)).toEqual([90]);
});

// spec: CONF-06
it('that counts nothing as received has the bytes of its transport, if those are known', () => {
  const read = (ofPair: number, ofTransport: number | undefined) => {
    const monitor = createMonitor(0);
    const reading = (pair: number, transport: number | undefined) =>
      [
        { id: 't', type: 'transport', selectedCandidatePairId: 'a', bytesReceived: transport },
        { id: 'a', type: 'candidate-pair', transportId: 't', bytesReceived: pair },
      ] as Report[];
    monitor.adopt(reading(0, ofTransport && 1000), 0);
    return namedRows(monitor.measure(reading(ofPair, ofTransport), 10_000, () => null))[0]?.bytesReceived;
  };
  expect(read(0, 5000)).toBe(4000);
  expect(read(0, 0)).toBe(0);
  expect(read(0, undefined)).toBeNull();
});
