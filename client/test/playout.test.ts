// Whether the page plays the audio that it receives.

import { describe, expect, it, vi } from 'vitest';
import { inCall, watchForThrows } from './callers/app.ts';

watchForThrows();

const track = { kind: 'audio' };

/** An element of the document. */
const element = (change: object) => ({
  paused: false,
  muted: false,
  srcObject: { getTracks: () => [track] },
  ...change,
});

/** A call that receives a stream of audio, in a page with these elements. */
async function callWith(...elements: object[]) {
  const page = await inCall();
  const { pc } = page;
  Object.assign(pc, { getTransceivers: () => [{ mid: '0', sender: {}, receiver: { track } }] });
  const audio = {
    id: 'A',
    type: 'inbound-rtp',
    ssrc: 7,
    kind: 'audio',
    mid: '0',
    packetsReceived: 1,
    totalSamplesReceived: 0,
  };
  const visible = (visibilityState: string) =>
    vi.stubGlobal('document', { visibilityState, querySelectorAll: () => elements });
  visible('visible');
  /** One interval with so many packets, of which so many samples are played; undefined: not known. */
  const flow = async (packets: number, samples?: number) => {
    audio.packetsReceived += packets;
    if (samples === undefined) Object.assign(audio, { totalSamplesReceived: undefined });
    else audio.totalSamplesReceived = (audio.totalSamplesReceived ?? 0) + samples;
    pc.reports = [{ ...audio }];
    await page.harness.run(10_000);
  };
  await flow(0, 0);
  const playouts = () => page.events().flatMap(([event, data]) => (event === 'playoutChange' ? [data] : []));
  return { flow, visible, playouts };
}

describe('received audio (spec: CONF-06)', () => {
  it.each<[string, string, object[]]>([
    ['has no element', 'none', []],
    [
      'has an element with other media',
      'none',
      [element({ paused: true, srcObject: null }), element({ paused: true, srcObject: {} })],
    ],
    ['has a muted element', 'none', [element({ paused: true, muted: true })]],
    [
      'has an element that may not begin',
      'refused',
      [element({ paused: true, srcObject: null }), element({ paused: true })],
    ],
  ])('that %s is reported as %s, once, until it is played', async (_, playout, elements) => {
    const { flow, playouts } = await callWith(...elements);
    await flow(500, 0);
    await flow(500, 0);
    expect(playouts()).toEqual([{ ssrc: 7, playout }]);
    for (const one of elements) Object.assign(one, { paused: false });
    await flow(500, 48_000);
    await flow(500, 480_000);
    expect(playouts()).toEqual([
      { ssrc: 7, playout },
      { ssrc: 7, playout: 'playing' },
    ]);
  });

  it('is refused although samples are taken, as in Chromium, unless another element plays it', async () => {
    const paused = element({ paused: true });
    const call = await callWith(paused);
    await call.flow(500, 480_000);
    expect(call.playouts()).toEqual([{ ssrc: 7, playout: 'refused' }]);
    const other = await callWith(paused, element({}));
    await other.flow(500, 480_000);
    expect(other.playouts()).toEqual([]);
  });

  it('is not reported while it is played', async () => {
    const { flow, playouts } = await callWith(element({}));
    await flow(500, 480_000);
    await flow(0, 480_000);
    expect(playouts()).toEqual([]);
  });

  it('is not reported where nothing is known: without packets, without a count of samples, in a hidden page', async () => {
    const { flow, visible, playouts } = await callWith();
    await flow(0, 0);
    visible('hidden');
    await flow(500, 0);
    visible('visible');
    await flow(500);
    expect(playouts()).toEqual([]);
  });
});
