import { webcrypto } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TokenGenerator } from '../src/types.ts';
import { backendUrl, connect, FakePeerConnection, makeQos, startHarness, stopHarness, token } from './harness.ts';

afterEach(stopHarness);

const conference = 'standup';

async function online(config: object = {}) {
  const harness = startHarness();
  const { qos } = connect(harness, { backendUrl, ...config });
  await harness.run();
  const socket = harness.socket();
  socket.welcome();
  const pc = new FakePeerConnection();
  qos.addNewFabric(pc, 'bob', qos.fabricUsage.multiplex, conference);
  await harness.run();
  return { harness, qos, pc, socket };
}

describe('the shape of the export', () => {
  it('makes instances with and without new, and is one itself (spec: LIB-01, LIB-08)', () => {
    const qos = makeQos();
    const [a, b] = [new qos('ignored'), qos(1, 2)];
    expect(a).not.toBe(b);
    for (const object of [qos, a, b] as const) {
      expect(object.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(object.fabricUsage.multiplex).toBe('multiplex');
      expect(object.wrtcFuncNames).toBe(object.webRTCFunctions);
      expect(object.callStatsAPIReturnStatus).toBe(object.qosAPIReturnStatus);
      expect(typeof object.addNewFabric).toBe('function');
      expect(Object.isFrozen(object)).toBe(false);
    }
  });

  it('has enumerations whose values equal their names (spec: LIB-06, LIB-09)', () => {
    const qos = makeQos();
    const all = {
      fabricUsage: 6,
      fabricEvent: 17,
      webRTCFunctions: 10,
      userIDType: 2,
      endpointType: 2,
      transmissionDirection: 4,
      qosAPIReturnStatus: 2,
      callType: 4,
      roles: 3,
    };
    for (const [name, size] of Object.entries(all)) {
      const members = qos[name as 'fabricUsage'];
      expect(Object.keys(members)).toHaveLength(size);
      for (const [key, value] of Object.entries(members)) expect(value).toBe(key);
    }
  });

  it('works detached and wrapped (spec: LIB-08)', async () => {
    const { qos, pc } = await online();
    const { sendFabricEvent } = qos;
    expect(sendFabricEvent(pc, 'audioMute', conference).status).toBe('success');
    qos.reportError = () => ({ status: 'failure', msg: 'wrapped', message: 'wrapped' });
    expect(qos.sendFabricEvent(pc, 'audioUnmute', conference).status).toBe('success');
  });

  it('says what this collector does not offer', async () => {
    const qos = makeQos();
    startHarness();
    qos.initialize('demo', (_f, cb) => cb('no'), 'alice');
    for (const result of [qos.getSctResults(), qos.setProxyConfig(), qos.setIdentifiers()])
      expect(result).toMatchObject({ status: 'failure', msg: expect.stringMatching(/\w/) });
    const generator: TokenGenerator = (_, callback) => callback(null, 'jwt');
    await expect(qos.getTurnCredentials('demo', generator)).rejects.toThrow('HTTP status 404');
  });

  it('promises ICE servers without a session (spec: LIB-09)', async () => {
    const iceServers = [{ urls: ['turn:t.example'], username: 'u', credential: 'c' }];
    const harness = startHarness(
      () => token(),
      () => ({ body: JSON.stringify({ type: 'configuration', iceServers }) }),
    );
    const generator: TokenGenerator = (_, callback) => callback(null, 'jwt');
    await expect(makeQos().getTurnCredentials('demo', generator)).resolves.toEqual(iceServers);
    expect(harness.posts.map(({ body }) => JSON.parse(body))).toEqual([{ type: 'jwt', appID: 'demo', jwt: 'jwt' }]);
    expect(harness.configurations).toEqual([{ type: 'configuration', token: 'T' }]);
    await expect(makeQos().getTurnCredentials('demo', (_, callback) => callback('no'))).rejects.toThrow('no');
  });
});

describe('no operation throws, and each returns status, msg and message (spec: LIB-05, LIB-07)', () => {
  const nonsense = [
    undefined,
    null,
    '',
    'x',
    0,
    -1,
    Number.NaN,
    true,
    [],
    {},
    () => undefined,
    Symbol('s'),
    10n,
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap');
        },
      },
    ),
  ];

  it.each([false, true])('initialised: %s', async (initialised) => {
    const qos = initialised ? (await online()).qos : makeQos()();
    startHarness();
    const names = Object.keys(qos).filter(
      (name) => typeof qos[name as 'on'] === 'function' && name !== 'getTurnCredentials',
    );
    expect(names.length).toBe(19);
    for (const name of names) {
      for (const first of nonsense) {
        for (const second of nonsense) {
          const operation = qos[name as 'on'] as (...args: unknown[]) => unknown;
          const result = operation(first, second, first, second, first, second);
          expect(result).toEqual({
            status: expect.stringMatching(/^(success|failure)$/),
            msg: expect.any(String),
            message: (result as { msg: string }).msg,
          });
        }
      }
    }
  });

  it('survives callbacks that throw', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const harness = startHarness();
    const qos = makeQos()();
    qos.on('error', () => {
      throw new Error('theirs');
    });
    qos.initialize(
      'demo',
      (_f, cb) => cb('no'),
      'alice',
      () => {
        throw new Error('theirs');
      },
    );
    await harness.run();
    expect(error).toHaveBeenCalledTimes(2);
  });
});

describe('before initialize() (spec: INIT-07)', () => {
  it('keeps callbacks and refuses the rest', async () => {
    startHarness();
    const qos = makeQos()();
    const reported: string[] = [];
    expect(qos.on('stats', () => undefined).status).toBe('success');
    expect(qos.attachWifiStatsHandler(async () => '{}').status).toBe('success');
    const failed = qos.addNewFabric(new FakePeerConnection(), 'bob', 'audio', 'c', null, (err, msg) =>
      reported.push(`${err}: ${msg}`),
    );
    expect(failed).toMatchObject({ status: 'failure', msg: 'initialize() must be called first' });
    expect(reported).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reported).toEqual(['failure: initialize() must be called first']);
  });

  it('refuses incomplete arguments and says so to the callback too', async () => {
    const harness = startHarness();
    const qos = makeQos()();
    const call = (...args: unknown[]) => (qos.initialize as (...a: unknown[]) => { msg: string })(...args).msg;
    expect(call()).toBe('AppID must be a non-empty string of at most 256 bytes, got nothing');
    expect(call('demo', '')).toContain('AppSecret must be');
    expect(call('demo', 's', {})).toContain('localUserID.aliasName must be');
    const reported: string[] = [];
    expect(call('demo', 's', 'u', (e: string) => reported.push(e), null, { backendUrl: 'nonsense://x' })).toContain(
      'backendUrl',
    );
    await harness.run();
    expect(reported).toEqual(['authError']);
  });
});

it('an app secret needs WebCrypto, and says so (spec: AUTH-07)', async () => {
  const harness = startHarness();
  vi.stubGlobal('crypto', { getRandomValues: webcrypto.getRandomValues.bind(webcrypto) });
  const reported: string[] = [];
  makeQos()().initialize('demo', 'secret', 'alice', (err, msg) => reported.push(`${err}: ${msg}`));
  await harness.run();
  expect(reported).toEqual([expect.stringMatching(/^authError: no WebCrypto/)]);
});

describe('addNewFabric', () => {
  it('refuses with a message that names the argument (spec: FAB-02, FAB-03, FAB-13)', async () => {
    const { qos, pc } = await online();
    const add = (...args: unknown[]) =>
      (qos.addNewFabric as (...a: unknown[]) => { status: string; msg: string })(...args);
    expect(add(null, 'bob', 'audio', 'c').msg).toBe('pc must be a PeerConnection with getStats, got null');
    expect(add({}, 'bob', 'audio', 'c').msg).toContain('pc must be a PeerConnection');
    expect(add(pc, '', 'audio', 'c').msg).toContain('remoteUserID must be');
    expect(add(pc, 'bob', 'smell', 'c').msg).toBe(
      'fabricUsage must be one of multiplex, audio, video, screen, data, unbundled, got a string',
    );
    expect(add(pc, 'bob', 'toString', 'c').status).toBe('failure');
    expect(add(pc, 'bob', 'audio', 'x'.repeat(257)).msg).toBe('conferenceID must be at most 256 bytes, got 257');
    expect(add(pc, 'bob', 'audio', 'x'.repeat(256)).status).toBe('success');
  });

  it('takes attributes, and names those it does not know (spec: FAB-04)', async () => {
    const { qos, socket } = await online();
    const attributes = {
      remoteEndpointType: 'server',
      fabricTransmissionDirection: 'sendonly',
      colour: 'red',
    } as const;
    expect(qos.addNewFabric(new FakePeerConnection(), 'bob', 'video', 'e', attributes)).toMatchObject({
      status: 'success',
      msg: 'fabricAttributes.colour is unknown and ignored',
    });
    expect(socket.of('fabric').at(-1)).toMatchObject({
      remoteEndpointType: 'server',
      fabricTransmissionDirection: 'sendonly',
      fabricUsage: 'video',
    });
    expect(socket.of('fabric')[0]).toMatchObject({
      remoteEndpointType: 'peer',
      fabricTransmissionDirection: 'sendrecv',
    });
  });
});

describe('reportError', () => {
  it('keeps name and message of whatever was thrown (spec: API-01)', async () => {
    const { qos, pc, socket } = await online();
    const last = () => socket.of('error').at(-1);
    qos.reportError(
      pc,
      conference,
      'createOffer',
      new DOMException('no camera', 'NotFoundError'),
      { type: 'offer', sdp: 'v=0' },
      'v=1',
    );
    expect(last()).toMatchObject({
      fabric: 1,
      function: 'createOffer',
      name: 'NotFoundError',
      message: 'no camera',
      localSDP: 'v=0',
      remoteSDP: 'v=1',
    });
    qos.reportError(pc, conference, 'setLocalDescription', new TypeError('bad'), null);
    expect(last()).toMatchObject({ name: 'TypeError', message: 'bad' });
    expect(last()).not.toHaveProperty('localSDP');
    qos.reportError(pc, conference, 'getUserMedia', 'just text');
    expect(last()).toMatchObject({ name: '', message: 'just text' });
    qos.reportError(pc, conference, 'addIceCandidate', { name: 'OwnError', message: 'own' });
    expect(last()).toMatchObject({ name: 'OwnError', message: 'own' });
    qos.reportError(pc, conference, 'signalingError', { code: 5 });
    expect(last()).toMatchObject({ message: '{"code":5}' });
    expect(qos.reportError(pc, conference, 'iceConnectionFailure').status).toBe('success');
  });

  it('hides local addresses when collectIP is false (spec: STAT-05)', async () => {
    const { qos, pc, socket } = await online({ collectIP: false });
    qos.reportError(pc, conference, 'createOffer', 'x', 'v=0\r\nc=IN IP4 10.1.2.3\r\n');
    expect(socket.of('error')[0]?.localSDP).toBe('v=0\r\nc=IN IP4 0.0.0.0\r\n');
  });

  it('takes null for the conference, another wrapper by its conference, and nothing else (spec: API-12)', async () => {
    const { qos, socket } = await online();
    const addedAt = socket.of('fabric')[0]?.addedAt;
    expect(qos.reportError(null, conference, 'getUserMedia', 'x').status).toBe('success');
    expect(socket.of('error').at(-1)).toMatchObject({ conferenceID: conference, conferenceAt: addedAt });
    expect(qos.reportError(undefined, 'unseen', 'getUserMedia', 'x').status).toBe('success');
    expect(qos.reportError(new FakePeerConnection(), conference, 'createAnswer', 'x').status).toBe('success');
    expect(socket.of('error').at(-1)).toMatchObject({ fabric: 1 });
    expect(qos.reportError(new FakePeerConnection(), 'unseen', 'createAnswer', 'x').msg).toBe('');
    expect(socket.of('error').at(-1)).toMatchObject({ conferenceID: 'unseen', function: 'createAnswer' });
    expect(qos.reportError(null, conference, 'nonsense' as never, 'x').msg).toContain(
      'wrtcFuncName must be one of getUserMedia',
    );
    expect(qos.reportError(null, undefined as never, 'getUserMedia').msg).toContain('conferenceID must be');
  });

  it('keeps application logs, as objects or text, and cuts long ones (spec: API-02, LIB-09)', async () => {
    const { qos, pc, socket } = await online();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    qos.reportError(pc, conference, 'applicationLog', { a: 1 });
    qos.reportError(pc, conference, 'applicationError', 'text');
    qos.reportError(pc, conference, 'applicationLog', 'é'.repeat(20_000));
    const logs = socket.of('log').map((m) => String(m.text));
    expect(logs.slice(0, 2)).toEqual(['{"a":1}', 'text']);
    expect(Buffer.byteLength(logs[2] ?? '')).toBe(20_480);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(socket.of('error')).toEqual([]);
  });

  it('cuts what is over the limits of the wire', async () => {
    const { qos, pc, socket } = await online();
    qos.reportError(
      pc,
      conference,
      'createOffer',
      { name: 'n'.repeat(200), message: 'm'.repeat(2000) },
      's'.repeat(20_000),
    );
    const error = socket.of('error')[0];
    expect([String(error?.name).length, String(error?.message).length, String(error?.localSDP).length]).toEqual([
      128, 1024, 20_000,
    ]);
    expect(qos.reportError(pc, conference, 'applicationLog', '\u0001'.repeat(20_000)).status).toBe('failure');
  });
});

describe('sendFabricEvent', () => {
  it('sends the events of applications, with data (spec: API-04, API-05)', async () => {
    const { qos, pc, socket } = await online();
    const own = [
      'fabricHold',
      'fabricResume',
      'audioMute',
      'audioUnmute',
      'videoPause',
      'videoResume',
      'screenShareStart',
      'screenShareStop',
    ] as const;
    for (const name of own) expect(qos.sendFabricEvent(pc, name, conference, { why: name }).status).toBe('success');
    expect(
      socket
        .of('event')
        .slice(-own.length)
        .map((m) => [m.event, m.data]),
    ).toEqual(own.map((n) => [n, { why: n }]));
    expect(qos.sendFabricEvent(pc, 'audioMute', conference, { x: 'y'.repeat(5000) }).msg).toContain(
      'eventData must be at most 4096 bytes',
    );
  });

  it('refuses what the library makes itself (spec: FAB-06)', async () => {
    const { qos, pc, socket } = await online();
    const before = socket.texts.length;
    for (const name of ['fabricSetup', 'fabricSetupFailed']) {
      expect(qos.sendFabricEvent(pc, name as never, conference).msg).toBe(`${name} is made by the library itself`);
    }
    expect(qos.sendFabricEvent(pc, 'nonsense' as never, conference).status).toBe('failure');
    expect(qos.sendFabricEvent(null, 'audioMute', 'unseen').msg).toBe('pc is no fabric of this conferenceID, 0 fit');
    expect(socket.texts).toHaveLength(before);
  });

  it('flattens device lists (spec: API-04)', async () => {
    const { qos, socket } = await online();
    const device = (deviceId: string) => ({ deviceId, kind: 'audioinput', label: 'l', groupId: 'g', extra: 1 });
    const kept = (deviceId: string) => ({ deviceId, kind: 'audioinput', label: 'l', groupId: 'g' });
    for (const data of [
      { deviceList: [device('a'), device('b')] },
      [device('a'), device('b')],
      { deviceList: { in: [device('a')], out: device('b') } },
    ]) {
      expect(qos.sendFabricEvent(null, 'activeDeviceList', conference, data).status).toBe('success');
      expect(socket.of('event').at(-1)?.data).toEqual({ deviceList: [kept('a'), kept('b')] });
    }
    qos.sendFabricEvent(
      null,
      'activeDeviceList',
      conference,
      Array.from({ length: 100 }, () => device('x'.repeat(100))),
    );
    expect(JSON.stringify(socket.of('event').at(-1)?.data).length).toBeLessThanOrEqual(4096);
  });
});

describe('the other operations', () => {
  it('sendUserFeedback (spec: API-07, FAB-12)', async () => {
    const { harness, qos, socket } = await online();
    const reported: string[] = [];
    const feedback = { userId: 'alice', overall: '4', audio: null, video: 3, comment: 'c'.repeat(5000) };
    const result = qos.sendUserFeedback(conference, feedback as never, (err) => reported.push(err));
    expect(result).toMatchObject({ status: 'success', msg: 'feedback.comment was cut to 4096 bytes' });
    const frame = socket.of('feedback')[0];
    expect(frame).toMatchObject({
      conferenceID: conference,
      userID: 'alice',
      overall: 4,
      audio: null,
      video: 3,
      screen: null,
    });
    socket.say({ type: 'ack', seq: frame?.seq });
    await harness.run();
    expect(reported).toEqual(['success']);
    expect(qos.sendUserFeedback(conference, { userID: 'a', overall: 6 }).msg).toContain(
      'feedback.overall must be an integer from 1 to 5',
    );
    expect(qos.sendUserFeedback(conference, { overall: 5 } as never).msg).toContain('feedback.userID');
  });

  it('sendCallDetails (spec: API-10)', async () => {
    const { qos, pc, socket } = await online();
    const details = { callType: 'inbound', role: 'agent', queue: 'q7' } as const;
    expect(qos.sendCallDetails(pc, conference, details).status).toBe('success');
    expect(socket.of('event').at(-1)).toMatchObject({ event: 'callDetails', data: details });
    expect(qos.sendCallDetails(pc, conference, { ...details, callType: 'x' as never }).msg).toContain(
      'callAttributes.callType must be one of inbound, outbound, monitoring',
    );
  });

  it('sendCustomEvent and sendCustomStats (spec: LIB-09)', async () => {
    const { qos, pc, socket } = await online();
    expect(qos.sendCustomEvent(null, conference, ['a', { name: 'b', x: 1 }]).status).toBe('success');
    expect(qos.sendCustomStats(pc, conference, [{ name: 'cpu', value: 0.5, timestamp: 1 }]).status).toBe('success');
    expect(
      socket
        .of('event')
        .slice(-3)
        .map((m) => [m.event, m.data]),
    ).toEqual([
      ['customEvent', { name: 'a' }],
      ['customEvent', { name: 'b', x: 1 }],
      ['customStats', { name: 'cpu', value: 0.5, timestamp: 1 }],
    ]);
    expect(qos.sendCustomStats(pc, conference, [{ name: 'cpu', value: 'x' as never }]).status).toBe('failure');
    expect(qos.sendCustomEvent(pc, conference, [5 as never]).status).toBe('failure');
  });

  it('on() takes several callbacks and refuses unknown names (spec: API-08)', async () => {
    const harness = startHarness();
    const qos = makeQos()();
    const reported: unknown[][] = [];
    for (const name of ['preCallTestResults', 'defaultConfig', 'recommendedConfig', 'connectionRecommendation'])
      expect(qos.on(name as 'stats', () => undefined).status).toBe('success');
    qos.on('error', (...args: unknown[]) => reported.push(args));
    qos.on('error', (...args: unknown[]) => reported.push(args));
    expect(qos.on('nonsense' as 'stats', () => undefined).msg).toContain('eventName must be one of preCallTestResults');
    expect(qos.on('stats', null as never).status).toBe('failure');
    qos.initialize('demo', (_f, cb) => cb('no'), 'alice');
    await harness.run();
    expect(reported).toEqual([
      ['tokenGenerationError', 'no'],
      ['tokenGenerationError', 'no'],
    ]);
  });

  it('attachWifiStatsHandler sends samples and survives bad ones (spec: API-09)', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5); // of the first measurement
    const { harness, qos, socket } = await online({ collectIP: false });
    const answers: (() => unknown)[] = [
      async () =>
        JSON.stringify({ signal: 50, rssi: -60, timestamp: 1, interface: 'wlan0', addresses: ['10.0.0.1'], more: 'x' }),
      async () => {
        throw new Error('off');
      },
      () => {
        throw new Error('off');
      },
      async () => 'nonsense',
      async () => '{"signal":"strong"}',
      () => new Promise(() => undefined),
      async () => JSON.stringify({ signal: 51, rssi: -61, timestamp: 2 }),
    ];
    let calls = 0;
    qos.attachWifiStatsHandler((() => answers[calls++]?.()) as never);
    for (let i = 0; i < 15; i++) {
      await harness.run(5000);
      for (const { seq } of socket.messages) socket.say({ type: 'ack', seq });
    }
    expect(calls).toBe(7);
    expect(
      socket
        .of('event')
        .filter((m) => m.event === 'wifiStats')
        .map((m) => m.data),
    ).toEqual([
      { signal: 50, rssi: -60, timestamp: 1, interface: 'wlan0' },
      { signal: 51, rssi: -61, timestamp: 2 },
    ]);
  });
});
