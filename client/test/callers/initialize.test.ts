// How applications initialise the library, and what they call before and while it logs in.

import { describe, expect, it } from 'vitest';
import { backendUrl, FakePeerConnection, FakeSocket, startHarness, token } from '../harness.ts';
import {
  conference,
  load,
  open,
  refused,
  stillWorks,
  taken,
  tokens,
  watchForThrows,
  welcome,
  wellFormed,
} from './app.ts';

watchForThrows();

describe('optional arguments (spec: INIT-01, INIT-05)', () => {
  it.each<[string, unknown[]]>([
    ['none', []],
    ['null for each', [null, null, null]],
    ['undefined for each', [undefined, undefined, undefined]],
    ['no statistics, but options', [() => undefined, undefined, { applicationVersion: '1' }]],
    ['null callbacks, and options', [null, null, { siteID: 'HQ' }]],
    ['a further argument', [() => undefined, () => undefined, {}, 'https://api.example.org', 7]],
  ])('%s', async (_, rest) => {
    const harness = startHarness();
    const qos = new (load())();
    taken(qos.initialize('demo', tokens, 'alice', ...rest));
    await welcome(harness);
    expect(harness.socket().of('hello')).toHaveLength(1);
  });

  it('options where the statistics callback belongs: it works, and says what it ignored', async () => {
    const harness = startHarness();
    const qos = new (load())();
    taken(
      qos.initialize('demo', tokens, 'alice', () => undefined, { siteID: 'HQ' }),
      'csStatsCallback',
    );
    await welcome(harness);
  });
});

it('the AppID as the number that it was at the former service: its digits (spec: LIB-08, INIT-01)', async () => {
  const harness = startHarness();
  const qos = new (load())();
  taken(qos.initialize(881714000, tokens, 'alice'));
  await welcome(harness);
  expect(JSON.parse(harness.posts[0]?.body ?? '')).toMatchObject({ appID: '881714000' });
  taken(qos.initialize('881714000', tokens, 'alice')); // the same one: the session goes on
  await welcome(harness);
  const [first, second] = FakeSocket.all.map((socket) => socket.of('hello')[0]?.session);
  expect(second).toBe(first);
});

describe('users (spec: INIT-03)', () => {
  it.each<[string, unknown, string[]]>([
    ['a name', 'alice', []],
    ['an address', 'sip:alice@example.org', []],
    ['a hash', 'a9993e364706816aba3e25717850c26c9cd0d89d', []],
    ['both names', { userName: 'Alice Liddell', aliasName: 'a1' }, []],
    ['an alias, and a name that is not known yet', { aliasName: 'a1', userName: undefined }, ['userName']],
    ['an alias and an empty name', { userName: '', aliasName: 'a1' }, ['userName']],
    ['an alias and null', { userName: null, aliasName: 'a1' }, ['userName']],
    ['more members than two', { userName: 'A', aliasName: 'a1', email: 'a@example.org' }, []],
  ])('%s', async (_, user, named) => {
    const harness = startHarness();
    const qos = new (load())();
    taken(qos.initialize('demo', tokens, user), ...named);
    await welcome(harness);
  });

  it.each<[string, unknown, string]>([
    ['nobody yet', undefined, 'localUserID'],
    ['null', null, 'localUserID'],
    ['an empty name', '', 'localUserID'],
    ['a fraction', 47.11, 'localUserID'],
    ['a list', ['alice'], 'localUserID'],
    ['a name without its alias', { userName: 'Alice' }, 'localUserID.aliasName'],
    ['an object of another kind', { id: 7, name: 'alice' }, 'localUserID.aliasName'],
  ])('refuses %s', (_, user, named) => {
    refused(new (load())().initialize('demo', tokens, user), named);
  });
});

describe('options (spec: INIT-04)', () => {
  it('an application name and version longer than 30 characters is cut', async () => {
    const { harness } = await open(new (load())(), 'alice', undefined);
    const qos = new (load())();
    const answer = qos.initialize('demo', tokens, 'alice', null, undefined, {
      applicationVersion: 'A Conference Application (chrome) 4.2',
      siteID: '/',
      disablePrecalltest: true,
      collectLegacyStats: false,
    });
    taken(answer, 'applicationVersion');
    await welcome(harness);
    expect(harness.socket().of('hello')[0]?.applicationVersion).toBe('A Conference Application (chro');
  });

  it.each<[string, unknown, string]>([
    ['a string', 'production', 'configParams'],
    ['a list', ['collectIP'], 'configParams'],
    ['true', true, 'configParams'],
    ['JSON text', '{"siteID":"HQ"}', 'configParams'],
    ['an option of the application itself', { enableJabraCollection: true }, 'enableJabraCollection'],
    ['a boolean as text', { collectIP: 'false' }, 'collectIP'],
    ['a number for text', { applicationVersion: 3.1 }, 'applicationVersion'],
    ['an identifier as a number', { additionalIDs: { tenantID: 12 } }, 'additionalIDs.tenantID'],
    ['additionalIDs as text', { additionalIDs: 'tenant' }, 'additionalIDs'],
  ])('%s is named, and the rest works', async (_, config, named) => {
    const harness = startHarness();
    const qos = new (load())();
    taken(qos.initialize('demo', tokens, 'alice', null, null, config), named);
    await welcome(harness);
  });
});

describe('token generators (spec: INIT-02)', () => {
  type Callback = (error: unknown, token?: unknown) => void;

  /** Initialises with a generator, and returns what the callback heard. */
  async function withGenerator(generator: unknown) {
    const harness = startHarness();
    const qos = new (load())();
    const reported: string[] = [];
    taken(qos.initialize('demo', generator, 'alice', (err: string) => reported.push(err)));
    await harness.run(100);
    if (FakeSocket.all.length) await welcome(harness);
    return { harness, reported, qos };
  }

  it.each<[string, unknown]>([
    ['answers later', (_: boolean, callback: Callback) => setTimeout(callback, 10, null, 'jwt')],
    ['answers with undefined for no error', (_: boolean, callback: Callback) => callback(undefined, 'jwt')],
    ['answers twice', (_: boolean, callback: Callback) => [callback(null, 'jwt'), callback(null, 'jwt')]],
    ['is the maker of a generator', () => (_: boolean, callback: Callback) => callback(null, 'jwt')],
    ['is asynchronous', async (_: boolean, callback: Callback) => callback(null, await Promise.resolve('jwt'))],
    [
      'answers, then throws',
      (_: boolean, callback: Callback) => {
        callback(null, 'jwt');
        throw new Error('late');
      },
    ],
  ])('%s', async (_, generator) => {
    const { reported } = await withGenerator(generator);
    expect(reported).toEqual(['success']);
  });

  it.each<[string, unknown]>([
    ['a string', (_: boolean, callback: Callback) => callback('Unknown error')],
    ['an error', (_: boolean, callback: Callback) => callback(new Error('403'))],
    ['an object', (_: boolean, callback: Callback) => callback({ status: 500 })],
    ['neither error nor token', (_: boolean, callback: Callback) => callback(null)],
    ['a token that is no string', (_: boolean, callback: Callback) => callback(null, { token: 'jwt' })],
    [
      'an exception',
      () => {
        throw new Error('no session');
      },
    ],
  ])('fails with %s', async (_, generator) => {
    const { reported } = await withGenerator(generator);
    expect(reported).toEqual(['tokenGenerationError']);
  });

  it('is asynchronous, and fails: that reaches the callback, not the page', async () => {
    const { reported, harness } = await withGenerator(async () => {
      throw new Error('no session');
    });
    await harness.run(15_000);
    expect(reported).toEqual(['tokenGenerationError']);
  });

  it('promises the token and never calls back', async () => {
    const { reported } = await withGenerator(async () => 'jwt');
    expect(reported).toEqual(['success']);
  });
});

describe('once more (spec: INIT-06)', () => {
  it('twice at once, as a component that is mounted twice', async () => {
    const harness = startHarness();
    const qos = new (load())();
    const reported: string[] = [];
    for (let i = 0; i < 2; i++) taken(qos.initialize('demo', tokens, 'alice', (err: string) => reported.push(err)));
    await harness.run();
    const sockets = FakeSocket.all.filter((socket) => !socket.closed);
    expect(sockets).toHaveLength(1);
    await welcome(harness);
    expect(reported).toEqual(['success', 'success']); // two functions, each hears the result
  });

  it('after each failure, until it works', async () => {
    let up = false;
    const harness = startHarness(() =>
      up
        ? token()
        : { status: 403, body: '{"type":"error","code":"auth_failed","csError":"authError","message":"no"}' },
    );
    const qos = new (load())();
    const reported: string[] = [];
    const again = () =>
      taken(
        qos.initialize('demo', tokens, 'alice', (err: string) => {
          reported.push(err);
          if (err === 'authError' && reported.length < 3) again();
          if (reported.length === 2) up = true;
        }),
      );
    again();
    await harness.run(1000);
    await welcome(harness);
    expect(reported).toEqual(['authError', 'authError', 'success']);
  });

  it('for each call, with the same user: the calls before go on', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    page.qos.addNewFabric(pc, 'bob', 'audio', 'first');
    taken(page.qos.initialize('demo', tokens, 'alice'));
    await welcome(page.harness);
    taken(page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'audio', 'second'));
    taken(page.qos.sendFabricEvent(pc, 'audioMute', 'first'));
    await page.harness.run();
    expect(page.of('fabric').map((message) => message.conferenceID)).toEqual(['first', 'second']);
  });

  it('when somebody else logs in: a new session, and the old calls are over', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    page.qos.addNewFabric(pc, 'bob', 'audio', 'first');
    taken(page.qos.initialize('demo', tokens, 'dave'));
    await welcome(page.harness);
    expect(pc.listenerCount).toBe(0);
    refused(page.qos.sendFabricEvent(pc, 'audioMute', 'first'), 'the fabric has ended already');
    await stillWorks(page);
  });
});

describe('before and while it logs in (spec: INIT-07)', () => {
  it('everything before initialize(): kept or refused, and forgotten', async () => {
    const harness = startHarness();
    const qos = new (load())();
    const pc = new FakePeerConnection();
    taken(qos.on('stats', () => undefined));
    taken(qos.on('preCallTestResults', () => undefined));
    taken(qos.attachWifiStatsHandler(async () => '{}'));
    const first = 'initialize() must be called first';
    refused(qos.addNewFabric(pc, 'bob', 'multiplex', conference), first);
    refused(qos.sendFabricEvent(pc, 'audioMute', conference), first);
    refused(qos.reportError(pc, conference, 'getUserMedia', new Error('x')), first);
    refused(qos.sendUserFeedback(conference, { userID: 'alice', overall: 5 }), first);
    refused(qos.associateMstWithUserID(pc, 'bob', conference, 1, 'cam'), first);
    refused(qos.reportUserIDChange(pc, conference, 'a2', 'local'), first);
    refused(qos.sendCallDetails(pc, conference, { callType: 'inbound', role: 'agent' }), first);
    refused(qos.sendCustomEvent(null, conference, [{ name: 'x' }]), first);
    refused(qos.sendCustomStats(null, conference, [{ name: 'x', value: 1 }]), first);
    taken(qos.initialize('demo', tokens, 'alice'));
    await welcome(harness);
    expect(pc.listenerCount).toBe(0);
    expect(harness.socket().of('event')).toEqual([]);
  });

  it('everything in the same turn as initialize() is sent after the login', async () => {
    const harness = startHarness();
    const qos = new (load())();
    const pc = new FakePeerConnection();
    taken(qos.initialize('demo', tokens, 'alice'));
    taken(qos.addNewFabric(pc, 'bob', 'multiplex', conference));
    taken(qos.sendFabricEvent(pc, 'audioMute', conference));
    taken(qos.associateMstWithUserID(pc, 'bob', conference, '7', 'camera', 'video-id'));
    taken(qos.sendUserFeedback(conference, { userID: 'alice', overall: 5 }));
    await welcome(harness);
    const sent = harness.socket().messages.map((message) => message.event ?? message.type);
    expect(sent.slice(0, 6)).toEqual([
      'hello',
      'fabric',
      'fabricAdded',
      'audioMute',
      'associateMstWithUserID',
      'feedback',
    ]);
  });

  it('the fabric is added in the callback of initialize(), and the rest in the callback of the fabric', async () => {
    const harness = startHarness();
    const qos = new (load())();
    const pc = new FakePeerConnection();
    const queue = ['audioMute', 'videoPause'];
    qos.initialize('demo', tokens, 'alice', (status: string) => {
      if (status === 'httpError') return;
      qos.addNewFabric(pc, 'bob', qos.fabricUsage.multiplex, conference, () => {
        for (let event = queue.shift(); event; event = queue.shift()) taken(qos.sendFabricEvent(pc, event, conference));
      });
    });
    await welcome(harness);
    await harness.run(100);
    const events = harness
      .socket()
      .of('event')
      .map((message) => message.event);
    expect(events).toEqual(expect.arrayContaining(['fabricAdded', 'audioMute', 'videoPause']));
  });

  it('pre-call tests are asked for every two minutes, whether there are any or not', async () => {
    const page = await open();
    page.qos.on('preCallTestResults', () => undefined);
    const timer = setInterval(() => wellFormed(page.qos.makePrecallTest()), 120_000);
    await page.harness.run(500_000);
    clearInterval(timer);
  });
});

it('no place to send to is a failure that says so (spec: LIB-03)', async () => {
  const { assemble } = await import('../../src/index.ts');
  const bundled = assemble('https://app.example/assets/index-3f2a.js')();
  const answer = bundled.initialize('demo', tokens, 'alice');
  refused(answer, 'configParams.backendUrl');
  expect(bundled.initialize('demo', tokens, 'alice', null, null, { backendUrl }).status).toBe('success');
});
