// on() is honest: no callback waits for what a collector does not have.

import { describe, expect, it, vi } from 'vitest';
import { inCall, type Library, load, open, refused, taken, tokens, watchForThrows, welcome } from './callers/app.ts';
import { startHarness, token } from './harness.ts';

watchForThrows();

const noTests = 'the collector offers no pre-call tests';
const first = 'initialize() must be called first';
const nothing = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };
const both = { audio: true, video: true };
const config = ['defaultConfig', { peerConnection: {}, media: both }];
const recommended = ['recommendedConfig', { peerConnection: {}, media: both }];
const tests = (reason: string) => ['preCallTestResults', 'failure', nothing, reason];
const ranking = ['connectionRecommendation', { aggregatedStats: [], providerRanking: [] }];
const events = [
  'preCallTestResults',
  'defaultConfig',
  'recommendedConfig',
  'connectionRecommendation',
  'error',
  'stats',
];

/** What callbacks of every event hear from now on. */
function listen(qos: Library): unknown[][] {
  const heard: unknown[][] = [];
  for (const name of events) taken(qos.on(name, (...args: unknown[]) => heard.push([name, ...args])));
  return heard;
}

function start(options?: object) {
  const harness = startHarness();
  const qos = new (load())() as Library;
  const heard = listen(qos);
  taken(qos.initialize('demo', tokens, 'alice', null, null, options));
  return { harness, qos, heard };
}

/** Ends what hangs: a module is loaded when the machine has time for it. */
const patience = { timeout: 600_000 };

describe('each session answers (spec: API-08, PRE-06)', () => {
  it.each<[object | undefined, string]>([
    [undefined, noTests],
    [{ disablePrecalltest: false }, noTests],
    [{ disablePrecalltest: true }, 'disablePrecalltest is set'],
  ])('with %j, once, and never before initialize() has returned', async (options, reason) => {
    const { harness, heard } = start(options);
    expect(heard).toEqual([]);
    await welcome(harness);
    await harness.run(60_000);
    expect(heard.filter(([name]) => name !== 'error')).toEqual([config, recommended, tests(reason)]); // neither error nor stats
  });

  it('also where the login fails, and says what went wrong apart', async () => {
    const harness = startHarness(() => new Error('no network'));
    const qos = new (load())() as Library;
    const heard = listen(qos);
    taken(qos.initialize('demo', tokens, 'alice'));
    await harness.run();
    expect(heard.map(([name, csError]) => [name, csError])).toEqual([['error', 'httpError']]);
    await harness.run(9_990);
    expect(heard).toHaveLength(1);
    await harness.run(100);
    expect(heard.slice(1)).toEqual([config, recommended, tests(noTests)]);
  });

  it('with the values of the collector, to the session alone that asked', async () => {
    const answer = {
      type: 'configuration',
      defaultConfig: { peerConnection: { iceTransportPolicy: 'relay' } },
      recommendedConfig: { media: { audio: true }, reasons: [{ member: 'media.audio', code: 'slow', text: 'slow' }] },
    };
    let release: (answer: { body: string }) => void = () => undefined;
    const harness = startHarness(
      () => token(),
      () => new Promise((resolve) => (release = resolve)),
    );
    const qos = new (load())() as Library;
    const heard = listen(qos);
    taken(qos.initialize('demo', tokens, 'alice', null, null, { siteID: 'hq' }));
    await harness.run();
    const ofAlice = release;
    taken(qos.initialize('demo', tokens, 'bob', null, null, { siteID: 'hq' }));
    await harness.run();
    release({ body: JSON.stringify(answer) });
    ofAlice({ body: JSON.stringify({ ...answer, defaultConfig: { media: { video: true } } }) });
    await harness.run();
    expect(heard).toEqual([
      ['defaultConfig', { peerConnection: { iceTransportPolicy: 'relay' }, media: both }],
      ['recommendedConfig', { peerConnection: {}, ...answer.recommendedConfig }],
      tests(noTests),
    ]);
    expect(harness.configurations).toEqual([
      { type: 'configuration', token: 'T', siteID: 'hq' },
      { type: 'configuration', token: 'T', siteID: 'hq' },
    ]);
  });

  it('a callback that comes later gets the last value once', async () => {
    const { harness, qos, heard } = start();
    const between = listen(qos); // before the first ones ran
    await welcome(harness);
    const later = listen(qos);
    expect(later).toEqual([]);
    await harness.run(1000);
    for (const each of [heard, between, later])
      expect(each.map(([name]) => name).sort()).toEqual(['defaultConfig', 'preCallTestResults', 'recommendedConfig']);
    const calls: unknown[] = [];
    const same = (...args: unknown[]) => calls.push(args);
    for (let i = 0; i < 3; i++) taken(qos.on('preCallTestResults', same));
    await harness.run();
    expect(calls).toEqual([['failure', nothing, noTests]]);
  });

  it('initialize() again is the same session, another user is another one', async () => {
    const { harness, qos, heard } = start();
    await harness.run(100);
    heard.length = 0;
    taken(qos.initialize('demo', tokens, 'alice'));
    await harness.run(100);
    expect(heard).toEqual([]);
    taken(qos.initialize('demo', tokens, 'bob', null, null, { disablePrecalltest: true }));
    await harness.run(100);
    expect(heard).toEqual([config, recommended, tests('disablePrecalltest is set')]);
  });

  it('another instance hears nothing of it', async () => {
    const { harness } = start();
    const others = listen(new (load())());
    await harness.run(1000);
    expect(others).toEqual([]);
  });
});

describe('tests that cannot run (spec: API-11, PRE-02)', () => {
  it('where their module cannot be loaded, each is answered, and a start ranks nothing', async () => {
    const { harness, qos, heard } = start({ disablePrecalltest: true });
    await welcome(harness);
    await harness.run(100);
    heard.length = 0;
    taken(qos.startPrecallTests([{ urls: ['turn:t.example'] }], 60));
    expect(heard).toEqual([]);
    await vi.waitFor(async () => {
      await harness.run();
      expect(heard).toHaveLength(2);
    }, patience);
    const reason = heard[0]?.[3] as string;
    expect(reason).toMatch(/\S/);
    expect(heard).toEqual([tests(reason), ranking]);
    taken(qos.makePrecallTest());
    await vi.waitFor(async () => {
      await harness.run();
      expect(heard.slice(2)).toEqual([tests(reason)]);
    }, patience);
  });

  it.each<[string, () => unknown]>([
    [
      'of itself',
      () => {
        const list: unknown[] = [{}];
        (list[0] as { list: unknown }).list = list;
        return list;
      },
    ],
    [
      'of one that throws',
      () => ({
        get urls() {
          throw new Error('trap');
        },
      }),
    ],
  ])('without servers that can be read: a list %s', async (_, servers) => {
    const { harness, qos, heard } = start({ disablePrecalltest: true });
    await welcome(harness);
    await harness.run(100);
    heard.length = 0;
    refused(qos.startPrecallTests(servers(), 60), 'iceServers ');
    await harness.run();
    expect(heard.map(([name]) => name)).toEqual(['preCallTestResults', 'connectionRecommendation']);
  });

  it('of four billion holes: no server was given', async () => {
    const { harness, qos } = start({ disablePrecalltest: true });
    await welcome(harness);
    taken(qos.startPrecallTests(new Array(2 ** 32 - 1), 60));
  });

  it('before initialize() too', async () => {
    const harness = startHarness();
    const qos = new (load())() as Library;
    const heard = listen(qos);
    refused(qos.startPrecallTests([], 60), first);
    refused(qos.makePrecallTest(), first);
    refused(qos.stopPrecallTests(), first);
    await harness.run();
    expect(heard).toEqual([tests(first), ranking, tests(first)]);
  });
});

describe('csInitCallback of an initialize() that another replaced (spec: INIT-05, INIT-06)', () => {
  it.each(['alice', 'bob'])('the second is for %s: both hear its result, once', async (user) => {
    const harness = startHarness();
    const qos = new (load())() as Library;
    const heard: string[] = [];
    const hear = (who: string) => (csError: string) => heard.push(`${who} ${csError}`);
    taken(qos.initialize('demo', tokens, 'alice', hear('first')));
    taken(qos.initialize('demo', tokens, user, hear('second')));
    await welcome(harness);
    expect(heard).toEqual(['first success', 'second success']);
    for (let i = 0; i < 4; i++) {
      harness.socket().drop();
      await harness.run(60_000);
    }
    expect(heard.slice(2)).toEqual(['second wsChannelFailure']);
  });

  it('one that had its result hears no other', async () => {
    const page = await open();
    expect(page.reported).toEqual(['success']);
    const heard: string[] = [];
    const hear = (csError: string) => heard.push(csError);
    for (const user of ['bob', 'carol']) taken(page.qos.initialize('demo', tokens, user, hear));
    await welcome(page.harness);
    expect(page.reported).toEqual(['success']);
    expect(heard).toEqual(['success']); // one function, one result
  });

  it('one whose arguments are refused replaces nothing', async () => {
    const harness = startHarness();
    const qos = new (load())() as Library;
    const heard: string[] = [];
    taken(qos.initialize('demo', tokens, 'alice', (csError: string) => heard.push(`first ${csError}`)));
    refused(
      qos.initialize('demo', tokens, '', (csError: string) => heard.push(`second ${csError}`)),
      'localUserID',
    );
    await welcome(harness);
    expect(heard.sort()).toEqual(['first success', 'second authError']);
  });
});

describe('the surface of the former library (spec: LIB-08, LIB-09)', () => {
  it('has its enumerations, with its values', () => {
    const qos = new (load())() as unknown as Record<string, unknown>;
    expect(qos).toMatchObject({
      csError: {
        httpError: 'httpError',
        authError: 'authError',
        wsChannelFailure: 'wsChannelFailure',
        success: 'success',
        csProtoError: 'csProtoError',
        appConnectivityError: 'appConnectivityError',
        tokenGenerationError: 'tokenGenerationError',
        ok: 'OK',
        authOngoing: 'authOngoing',
        invalidWebRTCFunctionName: 'Invalid WebRTC function name',
        invalidEndPointType: 'Invalid EndPoint Type',
        invalidTransmissionDirection: 'Invalid fabric transmission direction',
      },
      qualityRating: { excellent: 5, good: 4, fair: 3, poor: 2, bad: 1 },
      callType: { unknown: 'unknown', inbound: 'inbound', outbound: 'outbound', monitoring: 'monitoring' },
      roles: { agent: 'agent', participant: 'participant', manager: 'manager' },
      fabricEvent: {
        fabricUsageEvent: 'fabricUsageEvent',
        applicationErrorLog: 'applicationErrorLog',
        callDetails: 'callDetails',
        callUnAnswered: 'callUnAnswered',
      },
    });
  });

  it.each(['fabricUsageEvent', 'applicationErrorLog', 'callDetails', 'callUnAnswered'])(
    '%s is recorded',
    async (name) => {
      const page = await inCall();
      taken(page.qos.sendFabricEvent(page.pc, name, 'weekly', { a: 1 }));
      expect(page.of('event').at(-1)).toMatchObject({ fabric: 1, event: name, data: { a: 1 } });
    },
  );

  it('takes a call of an unknown type', async () => {
    const page = await inCall();
    taken(page.qos.sendCallDetails(page.pc, 'weekly', { callType: 'unknown', role: 'manager' }));
  });

  it('a Wi-Fi handler is asked no more', async () => {
    const page = await inCall();
    let asked = 0;
    const qos = page.qos as unknown as Record<string, () => never>;
    taken(page.qos.attachWifiStatsHandler(async () => String(asked++)));
    await page.harness.run(10_000);
    expect(asked).toBeGreaterThan(0);
    const before = asked;
    taken((qos.resetWifiStatsHandler as () => never)());
    taken((qos.resetWifiStatsHandler as () => never)());
    await page.harness.run(30_000);
    expect(asked).toBe(before);
  });

  it.each([
    ['setIdentifiers', 'reportUserIDChange() names a remote user'],
    ['setProxyConfig', 'the browser has its own proxy'],
    ['getSctResults', 'preCallTestResults has the results'],
  ])('%s answers a failure', async (name, reason) => {
    const page = await inCall();
    const operation = (page.qos as unknown as Record<string, (...args: unknown[]) => never>)[name];
    for (const args of [[], [{ conferenceID: 'x', remoteUserID: 'y' }, page.pc], [null]])
      refused((operation as (...args: unknown[]) => never)(...args), reason);
  });
});
