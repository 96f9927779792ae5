// Whole applications in miniature: what a contact centre, a telephone, a plug-in and a meeting
// do with the library from the beginning of a call to its end, in their own order.

import { describe, expect, it, vi } from 'vitest';
import { FakePeerConnection, token } from '../harness.ts';
import { conference, load, open, refused, stillWorks, taken, tokens, watchForThrows, welcome } from './app.ts';

watchForThrows();

describe('a contact centre (spec: LIB-08, LIB-09)', () => {
  it('keeps one object of details and one list of events, and goes on to change both', async () => {
    const page = await open();
    const { qos } = page;
    const details: Record<string, unknown> = { role: 'agent', callType: 'outbound' };
    const events: object[] = [];
    const pc = new FakePeerConnection();
    // It knows the contact before the PeerConnection, and adds it out of its own constructor.
    taken(qos.sendCallDetails(null, conference, details));
    try {
      taken(qos.addNewFabric(pc, '+4712345678', 'multiplex', conference, { remoteEndpointType: 'server' }));
    } catch {
      expect.unreachable();
    }
    details.connectedTimestamp = 1234.5678;
    details.queue = 'support';
    taken(qos.sendCallDetails(pc, conference, details));
    events.push({ type: 'agentSpeakingStart', timestamp: 1.5, source: 'algorithm' }, { type: 'crossTalkStart' });
    taken(qos.sendCustomEvent(null, conference, events));
    events.length = 0;
    details.queue = 'changed';
    await page.harness.run();
    const of = (name: string) => page.events().filter(([event]) => event === name);
    expect(of('callDetails')).toEqual([
      ['callDetails', { role: 'agent', callType: 'outbound' }],
      ['callDetails', { role: 'agent', callType: 'outbound', connectedTimestamp: 1234.5678, queue: 'support' }],
    ]);
    expect(of('customEvent').map(([, data]) => data)).toEqual([
      { type: 'agentSpeakingStart', timestamp: 1.5, source: 'algorithm' },
      { type: 'crossTalkStart' },
    ]);
    await stillWorks(page);
  });

  it('changes what it handed over before the login is through', async () => {
    const { startHarness } = await import('../harness.ts');
    const harness = startHarness();
    const qos = new (load())();
    const user = { userName: 'Ada Lovelace', aliasName: 'ada-1' };
    const config = { siteID: 'HQ', additionalIDs: { tenantID: 't1' } };
    const attributes = { remoteEndpointType: 'server' };
    const data = { by: 'user' };
    taken(qos.initialize('demo', tokens, user, null, null, config));
    const pc = new FakePeerConnection();
    taken(qos.addNewFabric(pc, user, 'multiplex', conference, attributes));
    taken(qos.sendFabricEvent(pc, 'audioMute', conference, data));
    Object.assign(user, { userName: 'x', aliasName: 'x' });
    Object.assign(config, { siteID: 'x' });
    config.additionalIDs.tenantID = 'x';
    attributes.remoteEndpointType = 'peer';
    data.by = 'x';
    await welcome(harness);
    expect(harness.socket().of('hello')[0]).toMatchObject({ siteID: 'HQ', additionalIDs: { tenantID: 't1' } });
    expect(harness.socket().of('fabric')[0]).toMatchObject({
      remoteUserID: { userName: 'Ada Lovelace', aliasName: 'ada-1' },
      remoteEndpointType: 'server',
    });
    expect(harness.socket().of('event').at(-1)).toMatchObject({ event: 'audioMute', data: { by: 'user' } });
  });

  it('reads the first and the last track of each measurement, whether there are any or not', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const page = await open();
    const seen: unknown[] = [];
    page.qos.on('stats', ({ fabricState, mediaStreamTracks }: { fabricState: string; mediaStreamTracks: never[] }) => {
      if (fabricState === 'terminated') return;
      const [first] = mediaStreamTracks as { bitrate: number }[];
      seen.push((first as { bitrate: number }).bitrate); // of nothing, while there is no track
    });
    const pc = new FakePeerConnection();
    taken(page.qos.addNewFabric(pc, 'bob', 'audio', conference));
    await page.harness.run(25_000);
    expect(error).toHaveBeenCalled(); // theirs, in the console and nowhere else
    await stillWorks(page);
  });

  it('writes feedback with JSON for a comment, and a callback that takes but one word', async () => {
    const page = await open();
    const heard: unknown[] = [];
    const comment = JSON.stringify({ stars: 1, issues: ['echo "loud"'], note: 'a\nb' });
    taken(
      page.qos.sendUserFeedback(conference, { userId: 'agent', overall: 1, comment }, (m: string) => heard.push(m)),
    );
    await page.harness.run();
    expect(page.of('feedback')[0]).toMatchObject({ comment });
    expect(heard).toEqual(['success']);
  });

  it('has Wi-Fi statistics of another make: the sample is left out, and nothing else', async () => {
    const page = await open();
    let asked = 0;
    const handler = () => Promise.resolve(JSON.stringify({ quality: 80, signal: 20 + asked++ }));
    taken(page.qos.attachWifiStatsHandler(handler));
    await handler(); // it asks itself as well
    taken(page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'audio', conference));
    await page.harness.run(40_000);
    expect(asked).toBeGreaterThan(2);
    expect(page.events().map(([event]) => event)).not.toContain('wifiStats');
    await stillWorks(page);
  });
});

describe('a telephone (spec: LIB-08, FAB-11)', () => {
  it('says goodbye for each of its events, and why afterwards, with what is left of the descriptions', async () => {
    const page = await open();
    const { qos } = page;
    const other = new FakePeerConnection();
    taken(qos.addNewFabric(other, 'carol', 'multiplex', conference)); // a second line
    const pc = new FakePeerConnection();
    const remote = { userName: null, aliasName: 'sip:bob@example.org;transport=ws' };
    taken(
      qos.addNewFabric(pc, remote, 'multiplex', conference, () => undefined),
      'userName',
    );
    pc.connect();
    taken(qos.sendFabricEvent(pc, 'fabricHold', conference));
    taken(qos.sendFabricEvent(pc, 'fabricResume', conference));
    taken(qos.sendFabricEvent(pc, 'fabricTerminated', conference)); // failed
    pc.set({ signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    taken(qos.sendFabricEvent(pc, 'fabricTerminated', conference), 'already'); // terminated
    const sdp = (pc.localDescription as { sdp: string } | null)?.sdp ?? null;
    taken(qos.reportError(pc, conference, qos.webRTCFunctions.signalingError, new Error('call ended: 488'), sdp, null));
    taken(qos.reportError(pc, conference, qos.webRTCFunctions.applicationLog, 'call ended: Busy', sdp, null));
    await page.harness.run(3000);
    const ended = page.of('event').filter(({ event }) => event === 'fabricTerminated');
    expect(ended.map(({ fabric }) => fabric)).toEqual([2]);
    expect(page.of('error')).toHaveLength(1);
    expect(page.of('log')).toHaveLength(1);
    taken(qos.sendFabricEvent(other, 'audioMute', conference));
    await stillWorks(page);
  });

  it('is loaded as a module whose value it takes for the instance, with the call as the conference', async () => {
    const value = load(); // never constructed
    const page = await open(value);
    const session = { connection: { pc: new FakePeerConnection() }, request: { call_id: 'a84b4c76e66710@host' } };
    taken(
      value.addNewFabric(session.connection.pc, '4712345678', value.fabricUsage.audio, session.request.call_id, null),
    );
    taken(value.sendFabricEvent(session.connection.pc, value.fabricEvent.audioMute, session.request.call_id));
    await stillWorks(page);
  });
});

describe('a plug-in (spec: LIB-08, INIT-05, FAB-10)', () => {
  it('asks of each event and error whether the library knows its name', async () => {
    const page = await open();
    const { qos } = page;
    const pc = new FakePeerConnection();
    taken(qos.addNewFabric(pc, 'bob', 'unbundled', conference));
    for (const name of ['audioMute', 'presentationStarted', 'videoPause', 'layoutChanged'])
      if (name in qos.fabricEvent) taken(qos.sendFabricEvent(pc, qos.fabricEvent[name], conference));
    for (const name of ['createOffer', 'replaceTrack', 'addIceCandidate'])
      if (name in qos.wrtcFuncNames) taken(qos.reportError(pc, conference, qos.wrtcFuncNames[name], 'no', 'v=0'));
    expect(page.events().map(([event]) => event)).toEqual(expect.arrayContaining(['audioMute', 'videoPause']));
    expect(page.of('error').map((error) => error.function)).toEqual(['createOffer', 'addIceCandidate']);
  });

  it('makes an instance for each PeerConnection, and adds it whenever a state changes', async () => {
    const { startHarness } = await import('../harness.ts');
    const harness = startHarness();
    const pc = new FakePeerConnection();
    const qos = new (load())({}, {}, {});
    const reported: string[] = [];
    qos.initialize('demo', tokens, 'a-uuid', (err: string) => {
      reported.push(err);
      qos.addNewFabric(pc, 'a-uuid', qos.fabricUsage.screen, conference, () => undefined);
    });
    await welcome(harness);
    for (let i = 0; i < 3; i++) {
      harness.socket().drop(); // an outage, and success when it is over
      await harness.run(4000);
    }
    harness.socket().acking = true;
    harness.socket().welcome();
    await harness.run(100);
    expect(reported.length).toBeGreaterThan(1);
    expect(harness.socket().of('fabric').length).toBeLessThanOrEqual(1);
    expect(qos.sendFabricEvent(pc, 'audioMute', conference).status).toBe('success');
    expect(harness.socket().of('event').at(-1)).toMatchObject({ event: 'audioMute', fabric: 1 });
  });

  it('has put a getStats of its own over that of the PeerConnection, which wants callbacks', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    const original = pc.getStats.bind(pc) as (...args: unknown[]) => Promise<unknown>;
    let asked = 0;
    Object.assign(pc, {
      getStats: (success?: (result: unknown) => void, failure?: () => void) => {
        asked++;
        const wrapped = (result: unknown) => success?.(result);
        // Browsers of today know no such form: they refuse what is no track.
        return original().then(() => Promise.reject(new TypeError(`${typeof wrapped} ${typeof failure}`)));
      },
    });
    taken(page.qos.addNewFabric(pc, 'a-uuid', 'multiplex', conference, (err: string, msg: string) => `${err}${msg}`));
    await page.harness.run(25_000);
    expect(asked).toBeGreaterThan(2);
    expect(page.of('stats').length).toBeGreaterThanOrEqual(2); // it is alive, without a figure
    await stillWorks(page);
  });
});

describe('a meeting (spec: LIB-08, INIT-07, API-12)', () => {
  it('queues what it would say until the login is through, and says it of the first PeerConnection', async () => {
    const { startHarness } = await import('../harness.ts');
    const harness = startHarness();
    const qos = new (load())();
    const pc = new FakePeerConnection();
    const wrapper = { peerconnection: pc, getStats: () => pc.getStats() };
    const queue: (() => { status: string; msg: string })[] = [
      () => qos.reportError(null, conference, 'getUserMedia', new DOMException('no', 'NotAllowedError')),
      () => qos.sendFabricEvent(pc || wrapper, 'audioMute', conference, undefined),
      () => qos.associateMstWithUserID(pc, 'jitsi', conference, '77', 'camera', 'largeVideoContainer'),
      () => qos.sendFabricEvent(undefined, 'activeDeviceList', conference, { deviceList: { audioInput: {} } }),
    ];
    const added: string[] = [];
    taken(
      qos.initialize(
        'demo',
        tokens,
        { aliasName: 'a', userName: undefined },
        (err: string) => {
          if (err !== 'success') return;
          const answer = qos.addNewFabric(pc, 'jitsi', 'multiplex', conference, (status: string, msg: string) =>
            added.push(status === 'success' ? status : msg),
          );
          expect(answer.status === 'success' || answer.message).toBe(true);
          for (const say of queue.splice(0)) expect(say().status).toBe('success');
        },
        undefined,
        { applicationVersion: 'Meet (chrome)', siteID: '/' },
      ),
      'userName',
    );
    await welcome(harness);
    await harness.run(100);
    expect(added).toEqual(['success']);
    const said = harness.socket().messages.map((message) => message.event ?? message.function);
    expect(said).toEqual(
      expect.arrayContaining(['getUserMedia', 'audioMute', 'associateMstWithUserID', 'activeDeviceList']),
    );
  });

  it('asks for the outcome of its feedback as a promise', async () => {
    const page = await open();
    const outcome = (overall: unknown) =>
      new Promise((resolve, reject) => {
        page.qos.sendUserFeedback(
          conference,
          { userID: { aliasName: 'a' }, overall, comment: '' },
          (s: string, m: string) => (s === 'success' ? resolve(s) : reject(m)),
        );
      });
    const [good, bad] = [outcome(5), outcome(-1)];
    bad.catch(() => undefined);
    await page.harness.run(10);
    await expect(good).resolves.toBe('success');
    await expect(bad).rejects.toContain('feedback.overall');
  });

  it('has a token generator that tries again by itself, with a timer, and answers what that returns', async () => {
    const { startHarness } = await import('../harness.ts');
    const harness = startHarness(() => token());
    const qos = new (load())();
    const reported: string[] = [];
    let tries = 0;
    const generate = (forcenew: boolean, callback: (error: unknown, token?: string) => void): unknown => {
      if (++tries < 3) return setTimeout(() => generate(forcenew, callback), 100);
      return callback(null, 'jwt');
    };
    taken(qos.initialize('demo', generate, 'alice', (err: string) => reported.push(err)));
    await harness.run(1000);
    expect([tries, reported]).toEqual([3, ['success']]);
  });

  it('has a token generator that returns the request, a promise of the answer as text', async () => {
    const { startHarness } = await import('../harness.ts');
    const jwts: unknown[] = [];
    const harness = startHarness((_url, body) => {
      jwts.push(JSON.parse(body).jwt);
      return token();
    });
    const qos = new (load())();
    // The callback of the request runs before the code that waits for the request.
    const request = (callback: (error: unknown, token?: string) => void) =>
      Promise.resolve('{"token":"jwt"}').then((text) => {
        callback(null, JSON.parse(text).token);
        return text;
      });
    taken(qos.initialize('demo', (_: boolean, callback: () => void) => request(callback), 'alice'));
    await harness.run(100);
    expect(jwts).toEqual(['jwt']);
  });

  it('gets an error for an event that does not exist any more, and goes on', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    taken(page.qos.addNewFabric(pc, 'bob', 'multiplex', conference));
    refused(page.qos.sendFabricEvent(pc, page.qos.fabricEvent.screenSharingStart, conference), 'fabricEvent');
    refused(
      page.qos.on('mediaDisruption', () => undefined),
      'eventName',
    );
    await stillWorks(page);
  });
});
