import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FabricStats } from '../src/types.ts';
import {
  backendUrl,
  connect,
  FakePeerConnection,
  type Message,
  sequence,
  startHarness,
  stopHarness,
} from './harness.ts';

afterEach(stopHarness);

async function call(config: object = {}) {
  const harness = startHarness();
  const { qos } = connect(harness, { backendUrl, ...config });
  const stats: FabricStats[] = [];
  qos.on('stats', (s: FabricStats) => stats.push(s));
  await harness.run();
  harness.socket().welcome({ conferenceURL: 'https://d.example/c?app={appID}&id={conferenceID}&at={at}' });
  harness.socket().acking = true;
  await harness.run();
  const pc = new FakePeerConnection();
  const add = (more: unknown[] = []) => qos.addNewFabric(pc, 'bob', 'multiplex', 'a b', ...(more as []));
  const events = () => harness.socket().of('event');
  const names = () => events().map((m) => m.event);
  const find = (name: string): Message | undefined => events().find((m) => m.event === name);
  return { harness, qos, pc, add, names, find, stats, socket: harness.socket() };
}

describe('the life of a fabric', () => {
  it('goes from added to set up, with its delays (spec: FAB-05, FAB-06)', async () => {
    const { harness, pc, add, names, find, socket } = await call();
    const added = Date.now();
    add();
    await harness.run(100);
    pc.set({
      localDescription: { sdp: 'a=ice-ufrag:one\r\n' },
      signalingState: 'have-local-offer',
      iceGatheringState: 'gathering',
    });
    await harness.run(200);
    pc.set({
      remoteDescription: { sdp: '' },
      signalingState: 'stable',
      iceConnectionState: 'checking',
      connectionState: 'connecting',
    });
    await harness.run(50);
    pc.set({ iceGatheringState: 'complete', iceConnectionState: 'connected' });
    expect(names()).toEqual(['fabricAdded', 'remoteDescriptionSet']); // DTLS is not yet there
    await harness.run(30);
    pc.set({ connectionState: 'connected' });
    await harness.run();
    expect(names()).toEqual(['fabricAdded', 'remoteDescriptionSet', 'fabricSetup']);
    expect(find('fabricSetup')).toMatchObject({
      at: added + 380,
      data: { setupMs: 380, gatheringMs: 250, connectivityMs: 80 },
    });
    expect(socket.of('fabric')).toMatchObject([{ addedAt: added }]);
  });

  it('takes ICE alone where the object has no DTLS state', async () => {
    const { harness, pc, add, find } = await call();
    Object.assign(pc, { connectionState: undefined });
    add();
    pc.set({ iceConnectionState: 'completed' });
    await harness.run();
    expect(find('fabricSetup')).toBeDefined();
  });

  it('has no delays when it was connected before', async () => {
    const { harness, pc, add, find } = await call();
    pc.connect();
    add();
    await harness.run();
    expect(find('fabricAdded')?.data).toEqual({ alreadyConnected: true });
    expect(find('fabricSetup')?.data).toMatchObject({ setupMs: null, gatheringMs: null, connectivityMs: null });
  });

  it('tells a failed set-up once, with its stage', async () => {
    const { harness, qos, pc, add, names, find } = await call();
    add();
    await harness.run(400);
    pc.set({ remoteDescription: { sdp: '' }, iceConnectionState: 'checking' });
    await harness.run(600);
    pc.set({ iceConnectionState: 'failed', connectionState: 'failed' });
    await harness.run();
    expect(find('fabricSetupFailed')?.data).toEqual({
      stage: 'connectivity',
      failureMs: 1000,
      reason: 'failed',
      localCandidates: null,
    });
    expect(harness.inits.at(-1)?.[0]).toBe('appConnectivityError');
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    await harness.run(2000);
    expect(names().filter((n) => n === 'fabricSetupFailed')).toHaveLength(1);
    expect(names().at(-1)).toBe('fabricTerminated');
  });

  it.each([
    ['noRemoteDescription', {}],
    ['gathering', { remoteDescription: { sdp: '' }, iceGatheringState: 'gathering' }],
    ['connectivity', { remoteDescription: { sdp: '' }, iceConnectionState: 'checking' }],
    ['dtls', { remoteDescription: { sdp: '' }, iceConnectionState: 'connected', connectionState: 'connecting' }],
  ])('names the stage %s of a fabric that ends before', async (stage, states) => {
    const { harness, qos, pc, add, find } = await call();
    add();
    pc.set(states as Partial<FakePeerConnection>);
    expect(qos.sendFabricEvent(pc, 'fabricTerminated', 'a b').status).toBe('success');
    await harness.run(2000);
    expect(find('fabricSetupFailed')?.data).toMatchObject({ stage, reason: 'terminated' });
    expect(find('fabricTerminated')?.data).toEqual({ reason: 'application' });
  });

  it('is disrupted and recovers; the application hears of each disruption once (spec: FAB-07, FAB-14, AUTH-07)', async () => {
    const { harness, pc, add, names, find, stats } = await call();
    add();
    pc.connect();
    await harness.run();
    pc.set({ iceConnectionState: 'disconnected', connectionState: 'disconnected' });
    pc.set({ iceConnectionState: 'failed', connectionState: 'failed' });
    await harness.run(10_500);
    expect(stats.at(-1)?.fabricState).toBe('disrupted');
    pc.set({ iceConnectionState: 'connected', connectionState: 'connected' });
    expect(find('iceDisruptionStart')?.data).toEqual({ iceConnectionState: 'disconnected' });
    expect(find('iceDisruptionEnd')?.data).toEqual({ durationMs: 10_500 });
    expect(harness.inits.filter(([e]) => e === 'appConnectivityError')).toHaveLength(1);
    await harness.run(10_000);
    expect(stats.at(-1)?.fabricState).toBe('established');
    expect(names().filter((n) => n === 'iceDisruptionStart')).toHaveLength(1);
  });

  it('sees an ICE restart', async () => {
    const { pc, add, names } = await call();
    add();
    pc.set({ localDescription: { sdp: 'a=ice-ufrag:one\r\n' } });
    pc.set({ localDescription: { sdp: 'a=ice-ufrag:one\r\na=more\r\n' } });
    expect(names()).not.toContain('iceRestart');
    pc.set({ localDescription: { sdp: 'a=ice-ufrag:two\r\n' }, signalingState: 'have-local-offer' });
    expect(names()).not.toContain('iceRestart');
    pc.set({ signalingState: 'stable' });
    expect(names().filter((n) => n === 'iceRestart')).toHaveLength(1);
  });

  it('ends when the PeerConnection is closed, though that makes no event (spec: FAB-08)', async () => {
    const { harness, pc, add, find } = await call();
    add();
    pc.connect();
    await harness.run();
    Object.assign(pc, { signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    await harness.run(5100);
    expect(find('fabricTerminated')?.data).toEqual({ reason: 'closed' });
    expect(find('fabricSetupFailed')).toBeUndefined();
  });

  it('says at once that it was hung up; the last reading follows with the same time (spec: FAB-08)', async () => {
    const { harness, qos, pc, add, find, socket } = await call();
    const [first, second] = sequence('chromium').readings;
    pc.reports = first?.reports ?? [];
    add();
    pc.connect();
    await harness.run(3000);
    pc.reports = second?.reports ?? [];
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    const at = Date.now();
    expect(socket.messages.at(-1)).toMatchObject({
      at,
      event: 'fabricTerminated',
      data: { reason: 'application', measurementFollows: true },
    });
    await harness.run();
    const last = socket.messages.at(-1) as Message & { rows: unknown[] };
    expect(last).toMatchObject({ type: 'stats', at });
    expect(last.seq).toBeGreaterThan(find('fabricTerminated')?.seq as number);
    expect(last.rows.length).toBeGreaterThan(1);
    const sent = socket.texts.length;
    await harness.run(30_000);
    expect(socket.texts).toHaveLength(sent);
  });

  it('does not wait for a getStats that never settles (spec: FAB-08, FAB-11)', async () => {
    const { harness, qos, pc, add, names, stats } = await call();
    add();
    pc.connect();
    await harness.run(3000);
    pc.getStats = () => new Promise(() => undefined);
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    expect(names().filter((n) => n === 'fabricTerminated')).toHaveLength(1);
    expect(stats.filter((s) => s.fabricState === 'terminated')).toEqual([]);
    await harness.run(1000);
    expect(stats.filter((s) => s.fabricState === 'terminated')).toHaveLength(1);
    expect(names().at(-1)).toBe('fabricTerminated');
  });

  it('streams that only the last reading shows have the time of the end (spec: FAB-08)', async () => {
    const { harness, qos, pc, add, socket } = await call();
    const [first, second] = sequence('firefox').readings;
    pc.reports = (first?.reports ?? []).filter(({ type }) => type !== 'inbound-rtp');
    add();
    pc.connect();
    await harness.run(2000);
    let answer: (reports: Map<unknown, Record<string, unknown>>) => void = () => undefined;
    pc.getStats = () => new Promise((resolve) => (answer = resolve));
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    const at = Date.now();
    await harness.run(500);
    answer(new Map((second?.reports ?? []).map((report) => [report.id, report])));
    await harness.run();
    const sent = socket.messages;
    const after = sent.slice(sent.findIndex((m) => m.event === 'fabricTerminated')).filter((m) => m.seq);
    expect(after.map((m) => m.event ?? m.type)).toContain('streamAdded');
    expect(after.at(-1)?.type).toBe('stats');
    expect(new Set(after.map((m) => m.at))).toEqual(new Set([at]));
  });

  it('leaves nothing behind: no listener, no timer (spec: FAB-08)', async () => {
    const { harness, qos, pc, add } = await call();
    const before = vi.getTimerCount();
    add();
    pc.connect();
    await harness.run(5000);
    expect(pc.listenerCount).toBe(4);
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    await harness.run(15_000);
    expect(pc.listenerCount).toBe(0);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(before);
  });

  it('reads terminated in exactly one last stats callback (spec: FAB-11)', async () => {
    const { harness, qos, pc, add, stats, socket } = await call();
    add();
    pc.connect();
    await harness.run(12_000);
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    qos.sendFabricEvent(pc, 'fabricTerminated', 'a b');
    await harness.run(30_000);
    expect(stats.map((s) => s.fabricState).filter((s) => s === 'terminated')).toHaveLength(1);
    expect(stats.at(-1)?.fabricState).toBe('terminated');
    expect(qos.reportError(pc, 'a b', 'applicationLog', 'later').status).toBe('success');
    expect(socket.of('log')).toMatchObject([
      { conferenceID: 'a b', text: 'later', conferenceAt: socket.of('fabric')[0]?.addedAt },
    ]);
  });

  it('is one for the same PeerConnection and conference, and another for another (spec: FAB-09, FAB-10)', async () => {
    const { harness, qos, pc, add, socket } = await call();
    const reported: string[] = [];
    add([(err: string) => reported.push(err)]);
    expect(add([undefined, (err: string) => reported.push(err)])).toMatchObject({ status: 'success' });
    expect(qos.addNewFabric(pc, 'carol', 'audio', 'other').status).toBe('success');
    socket.say({ type: 'ack', seq: 2 });
    await harness.run();
    expect(reported).toEqual(['success', 'success']);
    expect(socket.of('fabric').map((f) => [f.fabric, f.conferenceID, f.remoteUserID])).toEqual([
      [1, 'a b', 'bob'],
      [2, 'other', 'carol'],
    ]);
  });
});

/** The reports of a real call; without their own times, since here the page's clock goes another way. */
function timeless(browser: Parameters<typeof sequence>[0]) {
  const { readings, ...rest } = sequence(browser);
  const reports = readings.map((reading) => reading.reports.map((report) => ({ ...report, timestamp: undefined })));
  return { reports, ...rest };
}

describe('a screen', () => {
  /** The contentType of sent, or of received, video after 10 s with senders of these tracks. */
  async function contentOf(tracks: object[], direction = 'outbound', before?: (c: Call) => void): Promise<unknown> {
    const c = await call();
    c.pc.reports = timeless('chromium').reports[0] ?? [];
    const sent = c.pc.reports.find((r) => r.type === 'outbound-rtp' && r.kind === 'video');
    const transceivers = tracks.map((track, i) => ({
      mid: i ? `other ${i}` : sent?.mid,
      sender: { track: { kind: 'video', contentHint: '', getSettings: () => track, ...track } },
    }));
    const audio = { mid: 'audio', sender: { track: { kind: 'audio', contentHint: 'text' } } };
    Object.assign(c.pc, { getTransceivers: () => [audio, ...transceivers, { mid: 'none', sender: { track: null } }] });
    c.add();
    c.pc.connect();
    before?.(c);
    await c.harness.run(1500);
    c.pc.reports = timeless('chromium').reports[1] ?? [];
    await c.harness.run(10_000);
    const number = direction === 'outbound' ? 4 : 2;
    const names = (c.socket.of('columns').find(({ set }) => set === number)?.names ?? []) as string[];
    const rows = c.socket.of('stats').flatMap((frame) => frame.rows as unknown[][]);
    return rows.find((row) => row[0] === number)?.[1 + names.indexOf('contentType')];
  }
  type Call = Awaited<ReturnType<typeof call>>;
  const event = (name: string) => (c: Call) => c.qos.sendFabricEvent(c.pc, name as never, 'a b');
  const camera = { deviceId: 'a', mediaSource: 'camera' };

  it.each<[string, object[], boolean]>([
    ['a camera', [camera], false],
    ['a camera with a hint of motion', [{ contentHint: 'motion' }], false],
    ['a track of a display', [{ displaySurface: 'window' }], true],
    ['film on a display', [{ displaySurface: 'browser', contentHint: 'motion' }], false],
    ['a drawing with a hint of detail', [{ contentHint: 'detail' }], true],
    ['a drawing with a hint of text', [{ contentHint: 'text' }], true],
    ['the screen of Firefox', [{ mediaSource: 'screen' }], true],
    ['the window of Firefox', [{ mediaSource: 'window' }], true],
    ['a camera beside a display', [camera, { displaySurface: 'monitor' }], false],
    ['no track', [], false],
    ['a track that refuses', [{ getSettings: 5 }], false],
  ])('is recognised by its track: %s', async (_, tracks, screen) => {
    expect(await contentOf(tracks)).toBe(screen ? 'screenshare' : null);
  });

  it('is the newest video that is sent after screenShareStart', async () => {
    expect(await contentOf([camera], 'outbound', event('screenShareStart'))).toBe('screenshare');
    expect(await contentOf([camera, camera], 'outbound', event('screenShareStart'))).toBe(null);
    expect(await contentOf([camera, { displaySurface: 'window' }], 'outbound', event('screenShareStart'))).toBe(null);
    const over = (c: Call) => {
      for (const name of ['screenShareStart', 'screenShareStop']) event(name)(c);
    };
    expect(await contentOf([camera], 'outbound', over)).toBe(null);
  });

  it('is what the application labels so, also of received video', async () => {
    const labelled = (label: string) => (c: Call) => {
      const received = c.pc.reports.find((r) => r.type === 'inbound-rtp' && r.kind === 'video');
      c.qos.associateMstWithUserID(c.pc as never, 'bob', 'a b', String(received?.ssrc), label);
    };
    expect(await contentOf([camera], 'inbound', labelled('Screen of Bob'))).toBe('screenshare');
    expect(await contentOf([camera], 'inbound', labelled('camera'))).toBe(null);
    expect(await contentOf([{ displaySurface: 'window' }], 'inbound')).toBe(null);
  });
});

describe('local addresses', () => {
  const reports = (address: string) => [
    { id: 'T', type: 'transport', selectedCandidatePairId: 'P' + address },
    { id: 'P' + address, type: 'candidate-pair', transportId: 'T', localCandidateId: 'A', remoteCandidateId: 'R' },
    {
      id: 'A',
      type: 'local-candidate',
      candidateType: 'srflx',
      networkType: 'wifi',
      address,
      relatedAddress: '192.168.7.8',
    },
    { id: 'B', type: 'local-candidate', candidateType: 'host', address: '2001:db8::7' },
    { id: 'C', type: 'local-candidate', candidateType: 'host', address: '2001:db8::7', relatedAddress: '' },
    { id: 'D', type: 'local-candidate', candidateType: 'host', address: null },
    { id: 'R', type: 'remote-candidate', candidateType: 'host', address: '203.0.113.9', relatedAddress: '10.9.9.9' },
    ...Array.from({ length: 20 }, (_, i) => ({
      id: i,
      type: 'local-candidate',
      address: `10.0.0.${i}${'0'.repeat(80)}`,
    })),
  ];

  it('are reported of the selected pair and of all candidates, each once (spec: INIT-04, FAB-14)', async () => {
    const { harness, pc, add, find } = await call();
    pc.reports = reports('198.51.100.7');
    add();
    pc.connect();
    await harness.run(2000);
    const data = find('fabricSetup')?.data as { localAddress: string; localAddresses: string[] };
    expect(data).toMatchObject({ localAddress: '198.51.100.7', networkType: 'wifi' });
    expect(data.localAddresses.slice(0, 3)).toEqual(['198.51.100.7', '192.168.7.8', '2001:db8::7']);
    expect(data.localAddresses).toHaveLength(16);
    expect(data.localAddresses[3]).toBe(`10.0.0.0${'0'.repeat(56)}`);
    pc.reports = reports('198.51.100.8');
    await harness.run(20_000);
    expect(find('selectedCandidatePairChange')?.data).toMatchObject({ localAddress: '198.51.100.8' });
    expect(JSON.stringify(harness.socket().messages)).not.toContain('203.0.113.9');
    expect(JSON.stringify(harness.socket().messages)).not.toContain('10.9.9.9');
  });

  it('stay in the browser without collectIP (spec: STAT-05)', async () => {
    const { harness, pc, add, find } = await call({ collectIP: false });
    pc.reports = reports('198.51.100.7');
    add();
    pc.connect();
    await harness.run(2000);
    pc.reports = reports('198.51.100.8');
    await harness.run(20_000);
    expect(find('fabricSetup')?.data).toMatchObject({
      localCandidateType: 'srflx',
      localAddress: null,
      localAddresses: [],
    });
    expect(find('selectedCandidatePairChange')?.data).toMatchObject({ localAddress: null, localAddresses: [] });
    expect(JSON.stringify(harness.socket().messages)).not.toMatch(/198\.51|192\.168|2001:db8|10\.0\.0/);
  });
});

describe('measuring', () => {
  it.each(['chromium', 'firefox'] as const)(
    'tells rows of a real call in %s (spec: STAT-01, STAT-02)',
    async (browser) => {
      const { harness, pc, add, socket, stats } = await call();
      const { reports, localSDP, remoteSDP } = timeless(browser);
      pc.set({ localDescription: { sdp: localSDP }, remoteDescription: { sdp: remoteSDP } });
      pc.reports = reports[0] ?? [];
      add();
      pc.connect();
      await harness.run(1500);
      pc.reports = reports[1] ?? [];
      await harness.run(10_000);
      const added = socket.of('event').filter((m) => m.event === 'streamAdded');
      expect(added).toHaveLength(4);
      expect(added[0]?.data).toMatchObject({ cname: expect.any(String), msid: expect.stringMatching(/^\S+ \S+$/) });
      const [first] = socket.of('stats');
      expect(first?.rows).toHaveLength(5);
      expect(first?.intervalMs).toBeGreaterThan(4900);
      expect(first?.intervalMs).toBeLessThan(10_100);
      const columns = socket.messages.findIndex((m) => m.type === 'columns');
      expect(columns).toBeLessThan(socket.messages.findIndex((m) => m.type === 'stats'));
      expect(socket.of('columns')).toHaveLength(5);
      const url = new URL(stats[0]?.conferenceURL ?? '');
      expect(Object.fromEntries(url.searchParams)).toEqual({
        app: 'demo',
        id: 'a b',
        at: String(socket.of('fabric')[0]?.addedAt),
      });
      expect(stats[0]).toMatchObject({ connectionState: 'online', fabricState: 'established' });
      const setup = socket.of('event').find((m) => m.event === 'fabricSetup');
      expect(setup?.data).toMatchObject({ localCandidateType: 'host', relayProtocol: null });
    },
  );

  it.each([
    ['relay', { url: 'turns:turn.example.org:443?transport=tcp' }, 'tls'],
    ['relay', { url: 'turn:[::1]?transport=tcp' }, 'tcp'],
    ['relay', { url: 'turn:turn.example.org:3478' }, 'udp'],
    ['relay', { url: 'turn:turn.example.org', relayProtocol: 'tcp' }, 'tcp'],
    ['relay', { url: 'https://turn.example.org' }, null],
    ['relay', { url: 7 }, null],
    ['relay', {}, null],
    ['srflx', { url: 'turn:turn.example.org' }, null],
  ])('says of a %s candidate with %o how it reaches its server: %s', async (candidateType, more, relayProtocol) => {
    const { harness, pc, add, socket } = await call();
    pc.reports = [
      { id: 'T', type: 'transport', selectedCandidatePairId: 'P' },
      { id: 'P', type: 'candidate-pair', transportId: 'T', localCandidateId: 'L' },
      { id: 'L', type: 'local-candidate', candidateType, ...more },
    ];
    add();
    pc.connect();
    await harness.run(2000);
    const setup = socket.of('event').find((m) => m.event === 'fabricSetup');
    expect(setup?.data).toMatchObject({ localCandidateType: candidateType, relayProtocol });
  });

  it('says that a fabric is alive though it has nothing to measure', async () => {
    const { harness, pc, add, socket } = await call();
    pc.failing = true;
    add();
    await harness.run(25_000);
    expect(socket.of('stats').length).toBeGreaterThanOrEqual(2);
    expect(socket.of('stats')[0]).toMatchObject({ fabric: 1, rows: [] });
  });

  it('says that a fabric is alive whose getStats never answers, and asks again', async () => {
    const { harness, pc, add, socket } = await call();
    let asked = 0;
    pc.getStats = () => {
      asked++;
      return new Promise(() => {});
    };
    add();
    await harness.run(45_000);
    expect(asked).toBeGreaterThanOrEqual(4);
    expect(socket.of('stats').length).toBeGreaterThanOrEqual(3);
    expect(socket.of('stats')[0]).toMatchObject({ fabric: 1, rows: [] });
  });

  const inbound = (id: string) => ({ id, type: 'inbound-rtp', ssrc: id.length, kind: 'audio', timestamp: Date.now() });
  const streams = (socket: { of(type: string): Message[] }) =>
    socket.of('event').filter((m) => m.event === 'streamAdded');

  it('finds the streams of a negotiation a second after it, before it measures', async () => {
    const { harness, pc, add, socket } = await call();
    add();
    pc.connect();
    await harness.run(2000);
    pc.reports = [inbound('i')];
    pc.set({ localDescription: { sdp: 'a=ice-ufrag:two\r\n' }, signalingState: 'stable' });
    await harness.run(900);
    expect(streams(socket)).toEqual([]);
    await harness.run(100);
    expect(streams(socket)).toMatchObject([{ fabric: 1, data: { ssrc: 1 } }]);
    expect(socket.of('stats')).toEqual([]);
  });

  it('says nothing of a fabric that ended while it was read', async () => {
    const { harness, pc, add, socket } = await call();
    add();
    pc.connect();
    await harness.run(2000);
    let answer: ((reports: Map<unknown, object>) => void) | undefined;
    pc.getStats = () => new Promise((resolve) => (answer = resolve as never));
    pc.set({ localDescription: { sdp: 'a=ice-ufrag:two\r\n' }, signalingState: 'stable' });
    await harness.run(1000);
    pc.set({ signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    await harness.run();
    expect(socket.messages.at(-1)).toMatchObject({ event: 'fabricTerminated', data: { reason: 'closed' } });
    const said = socket.texts.length;
    answer?.(new Map([['i', inbound('i')]]));
    await harness.run(100);
    expect(socket.texts).toHaveLength(said);
  });

  it('sends what was measured though another never answers', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5); // of the first measurement
    const { harness, qos, add, pc, socket } = await call();
    add();
    pc.connect();
    const other = new FakePeerConnection();
    other.getStats = () => new Promise(() => {});
    qos.addNewFabric(other, 'carol', 'multiplex', 'other');
    await harness.run(45_000);
    const of = (fabric: number) => socket.of('stats').filter((m) => m.fabric === fabric).length;
    expect([of(1), of(2)]).toEqual([3, 3]);
  });

  it('tells of its setup though getStats never answers (spec: FAB-06)', async () => {
    const { harness, pc, add, find } = await call();
    pc.getStats = () => new Promise(() => {});
    add();
    pc.connect();
    await harness.run(25_000);
    expect(find('fabricSetup')?.data).toMatchObject({ localCandidateType: null });
  });

  it('does not start all clients together', async () => {
    const delays = new Set<number>();
    for (const random of [0, 0.5, 0.99]) {
      const { harness, add, socket } = await call();
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const start = Date.now();
      add();
      await harness.run(10_100);
      delays.add(Number(socket.of('stats')[0]?.at) - start);
      vi.restoreAllMocks();
      await stopHarness();
    }
    expect([...delays]).toEqual([5000, 7500, 9950]);
  });

  it('measures all fabrics in one beat and sends them together (spec: STAT-01)', async () => {
    const { harness, qos, add, pc, socket } = await call();
    add();
    pc.connect();
    await harness.run(3000);
    const other = new FakePeerConnection();
    qos.addNewFabric(other, 'carol', 'multiplex', 'other');
    other.connect();
    const sentAt = new Map<number, number[]>();
    const { send } = socket;
    socket.send = (text) => {
      const { type, fabric } = JSON.parse(text);
      if (type === 'stats') sentAt.set(fabric, [...(sentAt.get(fabric) ?? []), Date.now()]);
      send.call(socket, text);
    };
    await harness.run(40_000);
    expect(sentAt.get(1)?.length).toBeGreaterThanOrEqual(4);
    expect(sentAt.get(2)).toEqual(sentAt.get(1));
    pc.set({ signalingState: 'closed' });
    other.set({ signalingState: 'closed' });
    await harness.run();
    const sent = socket.messages.length;
    await harness.run(60_000);
    expect(socket.messages.length).toBe(sent);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(2); // of the connection: its watch, and the token's renewal
  });

  it('tells the loss at the other end as a fraction (spec: STAT-02)', async () => {
    const { harness, pc, add, stats } = await call();
    pc.reports = timeless('chromium').reports[0] ?? [];
    add();
    pc.connect();
    await harness.run(1500);
    pc.reports = timeless('chromium').reports[1] ?? [];
    for (const report of pc.reports) if (report.type === 'remote-inbound-rtp') report.fractionLost = 0.125;
    await harness.run(10_000);
    const reported = stats[0]?.mediaStreamTracks.filter((t) => t.statsType === 'remote-inbound-rtp');
    expect(reported?.map((t) => [t.fractionLoss, t.packetLossPercentage])).toEqual([
      [0.125, 12.5],
      [0.125, 12.5],
    ]);
  });

  it('knows whose a stream is (spec: API-03, API-06)', async () => {
    const { harness, qos, pc, add, stats, socket } = await call();
    pc.reports = timeless('chromium').reports[0] ?? [];
    add();
    pc.connect();
    const inbound = pc.reports.find((r) => r.type === 'inbound-rtp' && r.kind === 'video');
    expect(
      qos.associateMstWithUserID({} as never, 'carol', 'a b', String(inbound?.ssrc), 'cam', {
        clientWidth: 320,
        clientHeight: 240,
      }).status,
    ).toBe('success');
    await harness.run(1500);
    pc.reports = timeless('chromium').reports[1] ?? [];
    qos.reportUserIDChange(pc, 'a b', 'robert', 'remote');
    qos.reportUserIDChange(pc, 'a b', 'alicia', 'local');
    await harness.run(10_000);
    const of = (statsType: string, mediaType: string) =>
      stats[0]?.mediaStreamTracks.find((t) => t.statsType === statsType && t.mediaType === mediaType);
    expect(of('inbound-rtp', 'video')).toMatchObject({ remoteUserID: 'carol', userID: 'carol', usageLabel: 'cam' });
    expect(of('inbound-rtp', 'audio')).toMatchObject({ remoteUserID: 'robert', userID: 'robert', usageLabel: null });
    expect(of('outbound-rtp', 'audio')).toMatchObject({ remoteUserID: 'robert', userID: 'alicia' });
    expect(
      socket
        .of('event')
        .filter((m) => m.event === 'userIDChange')
        .map((m) => m.data),
    ).toEqual([
      { userIDType: 'remote', newUserID: 'robert' },
      { userIDType: 'local', newUserID: 'alicia' },
    ]);
    const set = socket.of('columns').find((c) => c.set === 2);
    const rows = (socket.of('stats')[0]?.rows ?? []) as unknown[][];
    const row = rows.find((r) => r[0] === 2);
    expect(row?.[1 + ((set?.names ?? []) as string[]).indexOf('displayedPixels')]).toBe(320 * 240);
  });
});
