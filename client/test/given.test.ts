// What an application says about the streams of a track, a sender or a receiver.

import { describe, expect, it, vi } from 'vitest';
import { conference, inCall, refused, taken, watchForThrows, welcome } from './callers/app.ts';

watchForThrows();

type End = 'sender' | 'receiver';

/** A transceiver and the reports of its streams: a sender of several layers, or a receiver. */
function transceive(mid: string, end: End, ...ssrcs: number[]) {
  const transceiver = { mid, sender: { track: {} }, receiver: { track: {} } };
  Object.assign(transceiver[end], { track: { kind: 'video', readyState: 'live' } });
  const type = end === 'sender' ? 'outbound-rtp' : 'inbound-rtp';
  const reports = ssrcs.map((ssrc) => ({ id: `${type}${ssrc}`, type, ssrc, kind: 'video', mid, packetsSent: 1 }));
  return { transceiver, reports, rtp: transceiver[end] };
}

/** A call with these transceivers, of which no packet was sent yet. */
async function callWith(...given: ReturnType<typeof transceive>[]) {
  const page = await inCall();
  const { pc } = page;
  Object.assign(pc, { getTransceivers: () => given.map(({ transceiver }) => transceiver) });
  const flow = async (ms = 10_000) => {
    pc.reports = given.flatMap(({ reports }) => reports);
    await page.harness.run(ms);
  };
  const events = (...names: string[]) =>
    page.of('event').flatMap(({ event, data }) => (names.includes(`${event}`) ? [data] : []));
  return { ...page, flow, events };
}

const owned = (ssrc: number, userID: string, usageLabel = 'camera') => ({
  ssrc,
  userID,
  usageLabel,
  associatedVideoTag: null,
});

describe.each<[string, End, number[]]>([
  ['a received stream', 'receiver', [7]],
  ['the layers that are sent', 'sender', [7, 8, 9]],
])('%s (spec: API-03)', (_, end, ssrcs) => {
  it.each([['track'], ['sender or receiver']])('has the owner and the pause of its %s', async (kind) => {
    const own = transceive('0', end, ...ssrcs);
    const page = await callWith(own, transceive('1', 'receiver', 20), transceive('2', 'sender', 21));
    const source = kind === 'track' ? own.rtp.track : own.rtp;
    taken(page.qos.associateMstWithUserID(page.pc, 'bob', conference, source, 'camera'));
    taken(page.qos.sendFabricEvent(page.pc, 'videoPause', conference, { ssrc: source, reason: 'muted' }));
    expect(page.events('associateMstWithUserID', 'videoPause')).toEqual([]);
    await page.flow();
    expect(page.events('associateMstWithUserID')).toEqual(ssrcs.map((ssrc) => owned(ssrc, 'bob')));
    expect(page.events('videoPause')).toEqual(ssrcs.map((ssrc) => ({ ssrc, reason: 'muted' })));
    taken(page.qos.sendFabricEvent(page.pc, 'videoResume', conference, { ssrc: source }));
    await page.flow();
    expect(page.events('videoResume')).toEqual(ssrcs.map((ssrc) => ({ ssrc, reason: 'muted' })));
  });

  it('is named again where the owner differs, and paused once', async () => {
    const own = transceive('0', end, ...ssrcs);
    const page = await callWith(own);
    await page.flow();
    for (const user of ['bob', 'bob', 'eve'])
      taken(page.qos.associateMstWithUserID(page.pc, user, conference, own.rtp, 'camera'));
    const all = (user: string) => ssrcs.map((ssrc) => owned(ssrc, user));
    expect(page.events('associateMstWithUserID')).toEqual([...all('bob'), ...all('eve')]);
    for (const event of ['videoResume', 'videoPause', 'videoPause', 'videoResume', 'videoResume'])
      taken(page.qos.sendFabricEvent(page.pc, event, conference, { ssrc: own.rtp }));
    expect(page.events('videoPause', 'videoResume')).toHaveLength(2 * ssrcs.length);
  });

  it('has them under an SSRC that comes later, but no pause that has ended', async () => {
    const own = transceive('0', end, ...ssrcs);
    const page = await callWith(own);
    await page.flow();
    taken(page.qos.associateMstWithUserID(page.pc, 'bob', conference, own.rtp, 'camera'));
    for (const event of ['videoPause', 'videoResume'])
      taken(page.qos.sendFabricEvent(page.pc, event, conference, { ssrc: own.rtp.track }));
    own.reports.push({ ...transceive('0', end, 99).reports[0] } as never);
    await page.flow();
    expect(page.events('associateMstWithUserID').at(-1)).toEqual(owned(99, 'bob'));
    expect(page.events('videoPause', 'videoResume')).not.toContainEqual(expect.objectContaining({ ssrc: 99 }));
  });
});

it('refuses what is neither a track, a sender nor a receiver (spec: FAB-02)', async () => {
  const { qos, pc } = await callWith();
  const wanted = 'ssrc must be an SSRC, a track, a sender or a receiver, got an object';
  refused(qos.associateMstWithUserID(pc, 'bob', conference, {}, 'camera'), wanted);
  refused(qos.sendFabricEvent(pc, 'audioMute', conference, { ssrc: {} }), wanted);
});

it('keeps them where the page returns from the cache (spec: API-03)', async () => {
  const listeners = new Map<string, (event: unknown) => void>();
  vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
    listeners.set(type, listener),
  );
  vi.stubGlobal('removeEventListener', () => undefined);
  const own = transceive('0', 'receiver', 7);
  const page = await callWith(own);
  taken(page.qos.associateMstWithUserID(page.pc, 'bob', conference, own.rtp, 'camera'));
  listeners.get('pagehide')?.({ type: 'pagehide', persisted: true });
  listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
  await welcome(page.harness);
  await page.flow();
  expect(page.events('associateMstWithUserID')).toEqual([owned(7, 'bob')]);
});

class Track extends EventTarget {
  kind = 'video';
  readyState = 'live';
  enabled = true;
  muted = false;
}

/** A stream that is sent, whose page's objects are whole. */
function sentStream(rid?: string) {
  const own = transceive('0', 'sender', 7);
  const [track, encodings] = [new Track(), [{ rid: 'q' }, { rid: 'h' }] as { rid: string; active?: boolean }[]];
  Object.assign(own.reports[0] as object, { rid });
  Object.assign(own.rtp, { track, getParameters: () => ({ encodings }) });
  Object.assign(own.transceiver, { direction: 'sendrecv', currentDirection: 'sendrecv' });
  return { ...own, track, encodings };
}

describe('what the page has chosen', () => {
  const back: Record<string, (sent: ReturnType<typeof sentStream>, on: boolean) => void> = {
    disabled: ({ track }, on) => Object.assign(track, { enabled: on }),
    system: ({ track }, on) => Object.assign(track, { muted: !on }),
    noTrack: ({ rtp, track }, on) => Object.assign(rtp, { track: on ? track : null }),
    stopped: ({ rtp }, on) =>
      on ? Object.assign(rtp, { track: new Track() }) : Object.assign(rtp.track, { readyState: 'ended' }),
    direction: ({ transceiver }, on) => Object.assign(transceiver, { direction: on ? 'sendonly' : 'recvonly' }),
    inactive: ({ encodings }, on) => Object.assign(encodings[1] as object, { active: on }),
  };

  it.each(Object.entries(back))('pauses a stream: %s', async (reason, set) => {
    const own = sentStream('h');
    const page = await callWith(own);
    await page.flow();
    expect(page.events('videoPause')).toEqual([]);
    for (const on of [false, true, false]) {
      set(own, on);
      await page.flow(20_000);
    }
    const data = { reason, ssrc: 7 };
    expect(page.events('videoPause', 'videoResume')).toEqual([data, data, data]);
  });

  it('is the direction of the other end, too', async () => {
    const [own, received] = [sentStream(), transceive('1', 'receiver', 8)];
    Object.assign(received.transceiver, { direction: 'recvonly', currentDirection: 'recvonly' });
    const page = await callWith(own, received);
    await page.flow();
    for (const { transceiver } of [own, received]) Object.assign(transceiver, { currentDirection: 'inactive' });
    await page.flow();
    expect(page.events('videoPause')).toEqual([8, 7].map((ssrc) => ({ ssrc, reason: 'direction' })));
  });

  it('is neither a device that ends, nor a track that ended before, nor another layer', async () => {
    const [vanishing, dead, layer] = [sentStream('h'), sentStream('h'), sentStream('h')];
    [dead, layer].forEach(({ transceiver, reports }, i) => {
      Object.assign(transceiver, { mid: `${i + 1}` });
      Object.assign(reports[0] as object, { mid: `${i + 1}`, ssrc: 8 + i, id: `${i}` });
    });
    dead.track.readyState = 'ended';
    Object.assign(layer.encodings[0] as object, { active: false });
    const page = await callWith(vanishing, dead, layer);
    await page.flow();
    vanishing.track.readyState = 'ended';
    vanishing.track.dispatchEvent(new Event('ended'));
    await page.flow();
    expect(page.events('videoPause')).toEqual([]);
  });

  it('is a limit of an encoding, reported when it changes', async () => {
    const own = sentStream('h');
    const page = await callWith(own, transceive('1', 'receiver', 8));
    await page.flow(20_000);
    expect(page.events('limitsChange')).toEqual([]);
    const limits = { maxFramerate: 4, maxBitrate: 50_000 };
    for (const change of [limits, limits, { maxFramerate: undefined, maxBitrate: undefined }]) {
      Object.assign(own.encodings[1] as object, change);
      await page.flow();
    }
    expect(page.events('limitsChange')).toEqual([{ ssrc: 7, ...limits }, { ssrc: 7 }]);
  });

  it.each([
    [4, 4],
    [12, 12],
    [15, undefined],
    [24, undefined],
  ])('is a camera of %s frames a second, a limit of %s', async (frameRate, maxFramerate) => {
    const own = sentStream();
    Object.assign(own.track, { getSettings: () => ({ frameRate }) });
    const page = await callWith(own);
    await page.flow();
    expect(page.events('limitsChange')).toEqual(maxFramerate ? [{ ssrc: 7, maxFramerate }] : []);
  });

  it.each([
    ['videoPause', 'videoResume'],
    ['fabricHold', 'fabricResume'],
  ])('is not repeated where the application has said %s', async (begins, ends) => {
    const own = sentStream();
    const page = await callWith(own);
    await page.flow();
    taken(page.qos.sendFabricEvent(page.pc, begins, conference));
    own.track.enabled = false;
    await page.flow();
    expect(page.events('videoPause', 'fabricHold')).toEqual([{}]);
    taken(page.qos.sendFabricEvent(page.pc, ends, conference));
    await page.flow();
    expect(page.events('videoPause').at(-1)).toEqual({ ssrc: 7, reason: 'disabled' });
  });

  it('ends no pause that the application reported', async () => {
    const own = sentStream();
    const page = await callWith(own);
    await page.flow();
    const report = (event: string) =>
      taken(page.qos.sendFabricEvent(page.pc, event, conference, { ssrc: own.track, reason: 'muted' }));
    own.track.enabled = false;
    await page.flow();
    report('videoPause');
    own.track.enabled = true;
    await page.flow();
    expect(page.events('videoPause', 'videoResume')).toEqual([{ ssrc: 7, reason: 'disabled' }]);
    report('videoResume');
    expect(page.events('videoResume')).toEqual([{ ssrc: 7, reason: 'disabled' }]);
  });
});

it('is not read of a stream that has ended, but for the end of its pause (spec: FAB-08)', async () => {
  const [gone, away] = [sentStream(), sentStream()];
  Object.assign(away.transceiver, { mid: '1' });
  Object.assign(away.reports[0] as object, { mid: '1', ssrc: 8, id: 'away' });
  const page = await callWith(gone, away);
  await page.flow();
  away.track.enabled = false;
  await page.flow();
  for (const { reports } of [gone, away]) reports.splice(0);
  await page.flow(60_000);
  gone.track.enabled = false;
  away.track.enabled = true;
  await page.flow();
  const data = { ssrc: 8, reason: 'disabled' };
  expect([page.events('videoPause'), page.events('videoResume')]).toEqual([[data], [data]]);
});
