// How each measure of two measurements is merged.

import { describe, expect, it } from 'vitest';
import { columnsOf, pairSet, row } from '../src/stats/measures.ts';
import { merge } from '../src/stats/merge.ts';

const words = (text: string) => text.trim().split(/\s+/);

const increases = words(`bytes packets packetsLost packetsDiscarded fecPackets samples concealedSamples
  silentConcealedSamples concealmentEvents frames framesDecoded framesEncoded framesDropped keyFrames freezes freezeMs
  pauses pauseMs decodeMs encodeMs plis firs nacks retransmittedPackets retransmittedBytes remotePacketsLost
  cpuLimitedMs bandwidthLimitedMs bytesSent bytesReceived`);
const means = words(`jitterMs jitterBufferDelayMs externalDelayMs rttMs audioLevel fps harmonicFps qp remoteLossFraction
  remoteJitterMs`);
const atTheEnd = words('width height freezes60s targetBitrateBps displayedPixels availableOutgoingBps');
const texts = words('codec rid contentType limitation outOfRange');
const sets = [1, 2, 3, 4, pairSet];

const share = (name: string) => /Level$|Fraction$/.test(name);
const measured = (set: number, value: number) =>
  Object.fromEntries(
    columnsOf(set).map(({ column }) => {
      if (column === 'ssrc') return [column, 7];
      if (texts.includes(column)) return [column, `text ${value}`];
      return [column, share(column) ? value / 10 : value];
    }),
  );
const of = (rows: ReturnType<typeof row>[], intervalMs: number) => ({ fabric: 1, intervalMs, rows });

describe('measurements that are merged', () => {
  it.each(sets)('have increases, means and last values of set %i', (set) => {
    const merged = merge(of([row(set, measured(set, 2))], 5000), of([row(set, measured(set, 6))], 15_000));
    expect(merged?.intervalMs).toBe(20_000);
    const cells = merged?.rows[0] ?? [];
    columnsOf(set).forEach(({ column }, i) => {
      const expected = new Map<string, unknown>([
        ...increases.map((name) => [name, 8] as const),
        ...means.map((name) => [name, share(name) ? 0.5 : 5] as const),
        ...atTheEnd.map((name) => [name, 6] as const),
        ...texts.map((name) => [name, 'text 6'] as const),
        ['ssrc', 7],
      ]);
      expect([column, cells[i + 1]]).toEqual([column, expected.get(column)]);
    });
    expect(cells).toHaveLength(columnsOf(set).length + 1);
  });

  it('have all measures of the protocol in one of these lists', () => {
    const known = new Set(sets.flatMap((set) => columnsOf(set).map(({ column }) => column)));
    expect([...known].sort()).toEqual([...increases, ...means, ...atTheEnd, ...texts, 'ssrc'].sort());
  });

  it('know no increase of which one part is unknown, and the last value that is known of all else', () => {
    const merged = merge(
      of([row(1, { ssrc: 7, packets: 5, jitterMs: 3, codec: 'opus' })], 1000),
      of([row(1, { ssrc: 7, samples: 9, rttMs: 4 })], 1000),
    );
    expect(merged?.rows[0]).toEqual(row(1, { ssrc: 7, codec: 'opus', jitterMs: 3, rttMs: 4 }));
  });
});
