// The library's label beside the collector's: the same measurements go through both, here and
// in processors/qualityprocessor/labels_test.go, and where they differ data/labels.json says why.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Measures } from '../src/stats/measures.ts';
import { label } from '../src/stats/quality.ts';
import type { FabricStats } from '../src/types.ts';
import { connect, FakePeerConnection, sequence, startHarness, stopHarness } from './harness.ts';

interface Vector {
  name: string;
  mediaType: string;
  intervalMs: number;
  bounds: number[];
  measures: Measures;
  library: string | null;
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('data/labels.json', import.meta.url), 'utf8'));

describe('the label that the collector is held against (spec: QUAL-01, STAT-02)', () => {
  it.each(vectors)('$mediaType: $name', ({ mediaType, measures, intervalMs, bounds, library }) => {
    expect(label(mediaType, measures, intervalMs, bounds)).toBe(library);
  });
});

describe('the bounds of the labels', () => {
  afterEach(stopHarness);

  /** The labels of a call without a fault, under the bounds of that welcome. */
  async function labels(welcome: object): Promise<Set<string | null>> {
    const harness = startHarness();
    const { qos } = connect(harness, { disablePrecalltest: true });
    const seen = new Set<string | null>();
    qos.on('stats', ({ mediaStreamTracks }: FabricStats) => {
      for (const { statsType, quality } of mediaStreamTracks)
        if (/^(in|out)bound/.test(statsType) && quality) seen.add(quality);
    });
    await harness.run();
    harness.socket().welcome({ statsIntervalMs: 2000, ...welcome });
    harness.socket().acking = true;
    await harness.run();
    const pc = new FakePeerConnection();
    const { readings, ...sdp } = sequence('chromium');
    Object.assign(pc, { localDescription: { sdp: sdp.localSDP }, remoteDescription: { sdp: sdp.remoteSDP } });
    qos.addNewFabric(pc as never, 'bob', 'multiplex', 'c');
    for (const { reports } of readings) {
      // Without their own times, since here the page's clock goes another way.
      pc.reports = reports.map((report) => ({ ...report, timestamp: undefined }));
      if (pc.iceConnectionState === 'new') pc.connect();
      await harness.run(2000);
    }
    await stopHarness();
    return seen;
  }

  it('are those of the welcome message (spec: QUAL-01)', async () => {
    expect(await labels({})).toEqual(new Set(['excellent']));
    expect(await labels({ labels: { mos: [4.9, 4.8, 4.7, 4.6] } })).toEqual(new Set(['bad']));
    expect(await labels({ labels: { mos: [4.9, 4.8, 4.7, 2] } })).toEqual(new Set(['fair']));
    expect(await labels({ labels: { mos: [1, 2] } })).toEqual(new Set(['excellent'])); // not what the protocol says
  });
});
