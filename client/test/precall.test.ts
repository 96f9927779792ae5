// The module of pre-call tests, with PeerConnections of the test's own. Real ones go through real TURN
// servers in the end-to-end tests.

import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Json, moduleKey, page, type Tester } from '../src/precall/host.ts';
import { acceptableLimits, maxRoundTripMs, mostRampTripMs, nearMs, waitTrips } from '../src/precall/limits.ts';
import { jitterOf } from '../src/precall/pings.ts';
import type { Outcome } from '../src/precall/provider.ts';
import { control, type Pace, rateOf, throughputOf } from '../src/precall/ramp.ts';
import { rank } from '../src/precall/rank.ts';
import { farthest, reasonOf, reasonOfError } from '../src/precall/reason.ts';
import { readServers } from '../src/precall/servers.ts';
import { createTester, interrupt, register } from '../src/precall/tester.ts';
import { inCall, open, taken, watchForThrows, welcome } from './callers/app.ts';
import { backendUrl, makeQos, startHarness, stopHarness, token } from './harness.ts';
import { startWorld, type World } from './loopbacks.ts';

const urls = ['turn:t.example', 'turn:t.example?transport=tcp', 'turns:t.example?transport=tcp'];
const server = { urls, username: 'u', credential: 'c', label: 'eu-1' };
const nothing = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };

interface Setting {
  tester: Tester;
  events: unknown[][];
  records: Json[];
  asked: (object | undefined)[];
  busy: boolean;
  of(name: string): unknown[][];
}

/** A session whose collector offers these servers. */
function startTester(servers: Json[] | null = [server], limits: object = {}): Setting {
  const configuration = { type: 'configuration', expiresInMs: 3_600_000, preCall: servers && { servers, ...limits } };
  const setting: Setting = {
    events: [],
    records: [],
    asked: [],
    busy: false,
    of: (name) => setting.events.filter(([event]) => event === name).map(([, ...args]) => args),
    tester: createTester({
      configure: async (more) => {
        setting.asked.push(more);
        return configuration;
      },
      record: (members) => setting.records.push(members as Json),
      emit: (...args) => setting.events.push(args),
      inCall: () => setting.busy,
    }),
  };
  return setting;
}

const run = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const results = ({ of }: Setting) => of('preCallTestResults') as [string, Record<string, number>, string?][];
const first = ({ records }: Setting) => records[0] as Json & { providers: (Json & { transports: Json[] })[] };

describe('the module', () => {
  let world: World;

  beforeEach(() => {
    vi.useFakeTimers();
    setMaxListeners(64); // of the signal of a test: several connections wait for it
    world = startWorld();
  });

  afterEach(async () => {
    await run(60_000);
    expect(world.open()).toBe(0);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  describe('measures (spec: PRE-01, PRE-02)', () => {
    it('round trip, loss and throughput, over the first transport that connects', async () => {
      Object.assign(world, { delayMs: 30, losesEvery: 10, bps: 1_000_000 });
      const setting = startTester();
      setting.tester.make();
      await run(15_000);
      const [[status, { mediaConnectivity, rtt, fractionalLoss, throughput }]] = results(setting) as unknown as [
        [string, Record<string, number>],
      ];
      expect([status, mediaConnectivity]).toEqual(['success', true]);
      expect(rtt).toBeGreaterThan(29.9);
      expect(rtt).toBeLessThan(33);
      expect(fractionalLoss).toBeCloseTo(0.1, 1);
      expect(throughput).toBeGreaterThan(800);
      expect(throughput).toBeLessThan(1000);
      const record = first(setting);
      expect(record).toMatchObject({ trigger: 'makePrecallTest', status: 'success', interrupted: false, rttMs: rtt });
      expect(record.providers[0]?.transports.map(({ relayProtocol, connected }) => [relayProtocol, connected])).toEqual(
        [
          ['udp', true],
          ['tcp', true],
          ['tls', true],
        ],
      );
      expect(world.ends.every(({ config }) => config.iceTransportPolicy === 'relay')).toBe(true);
      expect(setting.asked[1]).toMatchObject({ preCall: { rttMs: rtt, providers: record.providers } });
    });

    it.each([100_000, 500_000, 2_000_000, 9_000_000])('a path of %d bit/s', async (bps) => {
      Object.assign(world, { bps });
      const setting = startTester();
      setting.tester.make();
      await run(15_000);
      const throughput = first(setting).throughputBps as number;
      expect(Math.abs(throughput / bps - 1)).toBeLessThan(0.2);
      expect(first(setting).bytesSent).toBeLessThanOrEqual(4_000_000);
    });

    it.each([100, 600, 1000, maxRoundTripMs])('a round trip of %d ms, within the time of so many', async (delayMs) => {
      Object.assign(world, { delayMs, losesEvery: 10 });
      const setting = startTester();
      setting.tester.make();
      await run(nearMs + (waitTrips.test + 1) * delayMs);
      expect(results(setting)).toMatchObject([['success', { mediaConnectivity: true }]]);
      const { rttMs, lossFraction, throughputBps, durationMs } = first(setting) as unknown as Record<string, number>;
      const [hasThroughput, isNear] = [throughputBps !== null, delayMs <= mostRampTripMs];
      expect(hasThroughput).toBe(isNear);
      expect(Math.abs((rttMs as number) - delayMs)).toBeLessThan(3);
      expect(lossFraction).toBeCloseTo(0.1, 1);
      expect(durationMs).toBeLessThanOrEqual(nearMs + waitTrips.test * delayMs);
    });

    it('four servers at a long round trip, at once', async () => {
      world.delayMs = 1000;
      const setting = startTester(Array.from({ length: 4 }, (_, i) => ({ ...server, label: `p${i}` })));
      setting.tester.make();
      await run(60_000);
      expect(first(setting).providers.map(({ rttMs }) => Math.round(rttMs as number))).toEqual([
        1000, 1000, 1000, 1000,
      ]);
    });

    it('a blocked transport beside one that shows a short round trip: a short wait', async () => {
      Object.assign(world, { passes: ['tcp'], error: 'silence' });
      const setting = startTester();
      setting.tester.make();
      await run(3900);
      expect(world.ends.filter(({ channel }) => channel.sent.length)).toHaveLength(0);
      await run(500);
      expect(world.ends.filter(({ channel }) => channel.sent.length).length).toBeGreaterThan(0);
      await run(30_000);
      expect(first(setting).providers[0]?.transports).toMatchObject([
        { connected: false, error: expect.stringMatching(/no connection within 4\d\d\d ms/) },
        { connected: true },
        { connected: false },
      ]);
    });

    it('within the bytes and the bit rate of the collector', async () => {
      const setting = startTester([server], { maxBytes: 200_000, maxThroughputBps: 1_000_000 });
      setting.tester.make();
      await run(15_000);
      expect(first(setting).bytesSent).toBeLessThanOrEqual(200_000);
      expect(first(setting).throughputBps).toBeLessThan(1_300_000);
    });

    it('without a pause before the ramp, over the connection of the pings and over a new one', async () => {
      for (const servers of [[server], [server, { ...server, label: 'eu-2' }]]) {
        world.ends.length = 0;
        world.delayMs = 100;
        const setting = startTester(servers, { maxDurationMs: 30_000 });
        setting.tester.make();
        await run(31_000);
        expect(first(setting).providers.map(({ throughputBps }) => throughputBps)).not.toContain(null);
        const ramps = world.ends
          .map(({ channel }) => channel.sent)
          .filter((sent) => sent.some(([, bytes]) => bytes === 1100));
        expect(ramps).toHaveLength(servers.length);
        for (const sent of ramps) {
          const begun = sent.findIndex(([, bytes]) => bytes === 1100);
          expect(begun).toBeGreaterThan(4);
          const pauses = sent.slice(begun - 4).map(([at], i, all) => at - (all[i - 1]?.[0] ?? at));
          expect(Math.max(...pauses)).toBeLessThan(100); // 70 ms at 125 kbit/s
        }
      }
    });

    it('over TCP where UDP is blocked, and says why', async () => {
      world.passes = ['tcp'];
      const setting = startTester();
      setting.tester.make();
      await run(15_000);
      const unreachable = { connected: false, error: '701 TURN server unreachable' };
      expect(first(setting).providers[0]?.transports).toEqual([
        { relayProtocol: 'udp', ...unreachable },
        { relayProtocol: 'tcp', connected: true, connectMs: expect.any(Number) },
        { relayProtocol: 'tls', ...unreachable },
      ]);
      expect(results(setting)[0]?.[1]).toMatchObject({ mediaConnectivity: true });
    });

    it('a server that dies in mid-test: what was measured before', async () => {
      const setting = startTester();
      setting.tester.make();
      await run(2000);
      world.dead = true;
      await run(15_000);
      expect(results(setting)[0]?.[1]).toMatchObject({ mediaConnectivity: true, throughput: 0 });
      expect(first(setting).lossFraction).toBeGreaterThan(0.3);
      expect(first(setting).providers[0]).toMatchObject({ acceptable: false });
    });
  });

  describe('has a result for each that cannot be measured (spec: PRE-02, PRE-04)', () => {
    it('nothing is reachable', async () => {
      world.passes = [];
      const setting = startTester();
      setting.tester.make();
      await run(15_000);
      expect(results(setting)).toEqual([['success', nothing, 'unreachable']]);
    });

    it('the browser refuses the URL: its message, which may have a password, is not kept', async () => {
      world.refuses = /./;
      const setting = startTester();
      setting.tester.make();
      await run(1000);
      expect(JSON.stringify(setting.records)).toContain('refused by the browser: SyntaxError');
      expect(JSON.stringify(setting.records)).not.toContain('secret');
    });

    it.each<[string, () => void, unknown, string]>([
      ['no server', () => undefined, [], 'no server was given'],
      ['no TURN URL', () => undefined, [{ urls: 'stun:s.example' }, null, 7, { urls: 3 }], 'no server has a URL'],
      ['a hidden page', () => vi.stubGlobal('document', { hidden: true }), [server], 'the page is hidden'],
      [
        'data-saver',
        () => vi.stubGlobal('navigator', { connection: { saveData: true } }),
        [server],
        'the user saves data',
      ],
      ['no WebRTC', () => vi.stubGlobal('RTCPeerConnection', undefined), [server], 'this browser has no WebRTC'],
    ])('%s', async (_, arrange, servers, reason) => {
      arrange();
      const setting = startTester();
      setting.tester.start(servers, 60);
      await run(1000);
      expect(results(setting)).toEqual([['failure', nothing, expect.stringContaining(reason)]]);
      expect(setting.of('connectionRecommendation')).toHaveLength(1);
      expect(world.ends).toEqual([]);
      setting.tester.stop();
    });

    it('a collector without servers: a failure and nothing else', async () => {
      const setting = startTester(null);
      setting.tester.make();
      await run(1000);
      expect(setting.events).toEqual([
        ['preCallTestResults', 'failure', nothing, 'this collector offers no pre-call tests'],
      ]);
      expect([setting.records, setting.asked.length]).toEqual([[], 1]);
    });

    it.each<[string, Partial<World>, string]>([
      ['credentials are refused', { passes: [], error: [401, 'Unauthorized'] }, 'credentials'],
      ['no relay is granted', { passes: [], error: [486, 'Allocation Quota Reached'] }, 'noRelay'],
      ['a STUN server behind a NAT', { passes: [], error: 'silence', stun: 'answers' }, 'noRelay'],
      ['a STUN server without a NAT', { passes: [], error: 'silence', stun: 'answersHost' }, 'noRelay'],
      [
        'no such name, by its text',
        { passes: [], error: [701, 'TURN host lookup received error.'] },
        'nameNotResolved',
      ],
      ['no such name, by STUN', { passes: [], stun: 'noName' }, 'nameNotResolved'],
      ['silence', { passes: [], error: 'silence' }, 'unreachable'],
      ['a URL that the browser takes and does not use', { passes: [], error: 'none' }, 'badUrl'],
      ['the browser refuses the URL', { refuses: /./ }, 'badUrl'],
      ['a relay that passes nothing on', { endsAt: 'relay' }, 'relayBlocked'],
      ['a connection that is not finished', { endsAt: 'ice' }, 'tooSlow'],
      ['a round trip that is too long for the test', { delayMs: 5000 }, 'tooSlow'],
    ])('%s', async (_, path, reason) => {
      Object.assign(world, path);
      const setting = startTester();
      setting.tester.start([server], 3600);
      await run(60_000);
      expect(results(setting)).toEqual([['success', nothing, reason]]);
      expect(setting.of('connectionRecommendation')).toMatchObject([
        [{ aggregatedStats: [{ reason }], providerRanking: [{ acceptable: false }] }],
      ]);
      expect(first(setting).providers).toMatchObject([{ acceptable: false, reason }]);
      setting.tester.stop();
    });

    it('a URL that the browser refuses beside one without an answer: the other servers are tested', async () => {
      Object.assign(world, { passes: ['udp'], refuses: /\[/ });
      const setting = startTester();
      setting.tester.start([{ ...server, urls: ['turn:[', 'turn:t.example?transport=tcp'] }, server], 3600);
      await run(60_000);
      expect(results(setting)).toMatchObject([['success', { mediaConnectivity: true }]]);
      expect(first(setting).providers).toMatchObject([{ reason: null }, { reason: 'unreachable' }]);
      setting.tester.stop();
    });

    it('a server without credentials, which the browser refuses', async () => {
      world.refuses = /./;
      const setting = startTester();
      setting.tester.start([{ urls: 'turn:t.example' }], 3600);
      await run(1000);
      expect(results(setting)).toEqual([['success', nothing, 'credentials']]);
      setting.tester.stop();
    });

    it('an acceptable server has no reason', async () => {
      const setting = startTester();
      setting.tester.start([server], 3600);
      await run(30_000);
      expect(setting.of('connectionRecommendation')).toMatchObject([[{ aggregatedStats: [{ reason: null }] }]]);
      expect(results(setting)[0]).toHaveLength(2);
      setting.tester.stop();
    });

    it('twenty servers: within the time, and null for those that had none', async () => {
      world.delayMs = 60;
      const setting = startTester();
      setting.tester.start(
        Array.from({ length: 20 }, (_, i) => ({ ...server, label: `p${i}` })),
        60,
      );
      await run(20_000);
      const [[{ aggregatedStats, providerRanking }]] = setting.of('connectionRecommendation') as unknown as [
        [{ aggregatedStats: { roundTripTime: number | null }[]; providerRanking: unknown[] }],
      ];
      expect([aggregatedStats.length, providerRanking.length]).toEqual([20, 20]);
      const trips = aggregatedStats.map(({ roundTripTime }) => roundTripTime);
      expect(trips.filter((trip) => trip !== null).length).toBeGreaterThan(4);
      expect(trips).toContain(null);
      setting.tester.stop();
    });

    it('forty servers: the record has room for 32', async () => {
      Object.assign(world, { passes: [], stun: 'noName' });
      const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
      const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
      const setting = startTester();
      setting.tester.start(
        Array.from({ length: 40 }, () => server),
        60,
      );
      await run(20_000);
      expect(first(setting).providers).toHaveLength(32);
      expect(added.mock.calls.length).toBeGreaterThan(8);
      expect(removed.mock.calls.length, 'all but that of the whole test').toBe(added.mock.calls.length - 1);
      vi.restoreAllMocks();
      setting.tester.stop();
    });
  });

  describe('ends (spec: PRE-01, PRE-06)', () => {
    it('when a call starts: at once, with what it has', async () => {
      const setting = startTester();
      setting.tester.make();
      await run(2500);
      expect(world.open()).toBe(2);
      interrupt();
      expect(world.open()).toBe(0);
      await run(0);
      expect(results(setting)).toMatchObject([
        ['success', { mediaConnectivity: true, throughput: null }, 'a call started'],
      ]);
      expect(first(setting)).toMatchObject({ interrupted: true, reason: 'a call started' });
      expect(first(setting).rttMs).toBeGreaterThan(19);
    });

    it('before it measured anything: a failure', async () => {
      const setting = startTester();
      setting.tester.make();
      await run(10);
      interrupt();
      await run(0);
      expect(results(setting)).toEqual([['failure', nothing, 'a call started']]);
    });

    it('when the page is hidden', async () => {
      const target = Object.assign(new EventTarget(), { hidden: false });
      vi.stubGlobal('document', target);
      const setting = startTester();
      setting.tester.make();
      await run(2000);
      target.hidden = true;
      target.dispatchEvent(new Event('visibilitychange'));
      await run(0);
      expect(results(setting)).toMatchObject([['success', {}, 'the page was hidden']]);
    });

    it('does not begin beside a call', async () => {
      const setting = startTester();
      setting.busy = true;
      setting.tester.make();
      await run(1000);
      expect(results(setting)).toEqual([['failure', nothing, 'a call is in progress']]);
      expect(first(setting)).toMatchObject({ status: 'failure', interrupted: false });
    });
  });

  describe('startPrecallTests (spec: API-11, PRE-04)', () => {
    it('repeats so many seconds after a round, until it is stopped', async () => {
      const setting = startTester();
      setting.tester.start([server], 30);
      await run(12_000);
      expect(results(setting)).toHaveLength(1);
      await run(35_000);
      expect(results(setting)).toHaveLength(2);
      setting.tester.stop();
      await run(120_000);
      expect(results(setting)).toHaveLength(2);
    });

    it('leaves out a round during a call', async () => {
      const setting = startTester();
      setting.tester.start([server], 30);
      await run(12_000);
      setting.busy = true;
      await run(120_000);
      expect(results(setting)).toHaveLength(1);
      setting.busy = false;
      await run(45_000);
      expect(results(setting)).toHaveLength(2);
      setting.tester.stop();
    });

    it('start and stop in quick turns: one result for each start', async () => {
      const setting = startTester();
      for (let i = 0; i < 4; i++) {
        setting.tester.start([server], 30);
        setting.tester.stop();
      }
      setting.tester.stop();
      await run(120_000);
      const stopped = ['failure', nothing, 'stopPrecallTests() was called'];
      expect(results(setting)).toEqual([stopped, stopped, stopped, stopped]);
      const none = [{ aggregatedStats: [], providerRanking: [] }]; // not: unacceptable
      expect(setting.of('connectionRecommendation')).toEqual([none, none, none, none]);
      expect(world.ends).toEqual([]);
    });

    it('start in mid-round: the round is over, and the new one begins', async () => {
      const setting = startTester();
      setting.tester.start([server], 30);
      await run(2000);
      setting.tester.start([{ ...server, label: 'other' }], 30);
      await run(12_000);
      expect(results(setting).map(([status, , reason]) => [status, reason])).toEqual([
        ['success', 'startPrecallTests() was called again'],
        ['success', undefined],
      ]);
      expect(setting.of('connectionRecommendation').at(-1)).toMatchObject([
        { providerRanking: [{ provider: 'other' }] },
      ]);
      setting.tester.stop();
    });
  });

  describe('makePrecallTest (spec: LIB-09)', () => {
    it('several at once are one test beside the one that runs, and each callback gets its results', async () => {
      const setting = startTester();
      const calls: unknown[][] = [];
      vi.spyOn(console, 'error').mockImplementation(() => undefined);
      setting.tester.automatic({ type: 'configuration', expiresInMs: 3_600_000, preCall: { servers: [server] } });
      await run(1000);
      for (let i = 0; i < 3; i++) setting.tester.make((...args) => calls.push(args));
      setting.tester.make(() => {
        throw new Error('of the application');
      });
      await run(30_000);
      expect(setting.records.map(({ trigger }) => trigger)).toEqual(['initialize', 'makePrecallTest']);
      expect(calls).toEqual([results(setting)[1], results(setting)[1], results(setting)[1]]);
      expect(console.error).toHaveBeenCalledTimes(1);
    });

    it('two sessions of a page take turns', async () => {
      const [one, other] = [startTester(), startTester()];
      one.tester.make();
      other.tester.make();
      await run(4000);
      expect(world.open()).toBe(2);
      await run(30_000);
      expect([results(one), results(other)].map((list) => list.length)).toEqual([1, 1]);
    });

    it('ends with its session', async () => {
      const setting = startTester();
      setting.tester.make();
      setting.tester.start([server], 30);
      await run(2000);
      setting.tester.end();
      expect(world.open()).toBe(0);
      await run(120_000);
      expect(results(setting).map(([, , reason]) => reason)).toEqual(['the session is over', 'the session is over']);
    });
  });
});

describe('servers', () => {
  it.each<[object, string, string[]]>([
    [server, 'eu-1', ['udp', 'tcp', 'tls']],
    [{ urls: 'turn:host.example:3478' }, 'host.example', ['udp']],
    [{ urls: ['TURN:[2001:db8::1]:3478?transport=TCP'] }, '[2001:db8::1]', ['tcp']],
    [{ urls: ['stun:a.example', 'http://b.example', 'turn:'] }, 'a.example', []],
    [{ url: 'turns:old.example' }, 'old.example', ['tls']],
    [{ urls: [1, null, {}], label: 5 }, 'server 1', []],
    [{ urls: 'turn:x', label: 'ü'.repeat(100) }, 'ü'.repeat(64), ['udp']],
  ])('%j', (given, provider, ways) => {
    const [read] = readServers([given]);
    expect([read?.provider, read?.ways.map(([protocol]) => protocol)]).toEqual([provider, ways]);
  });
});

describe('the ranking (spec: PRE-04)', () => {
  const outcome = (more: Partial<Outcome> = {}): Outcome => ({
    provider: 'p',
    rttMs: 20,
    jitterMs: 1,
    lossFraction: 0,
    throughputBps: 1e6,
    failure: null,
    transports: [],
    ...more,
  });

  const words = { rttMs: 'roundTrip', lossFraction: 'loss', jitterMs: 'jitter', throughputBps: 'throughput' };

  it.each(Object.entries(acceptableLimits))('%s: %d is acceptable, worse has its reason', (name, limit) => {
    const worse = name === 'throughputBps' ? limit * 0.99 : limit * 1.01;
    const reasons = [limit, worse].map((value) => reasonOf(outcome({ [name]: value })));
    expect(reasons).toEqual([null, words[name as keyof typeof words]]);
  });

  it('a result that is missing', () => {
    const missing = (['rttMs', 'lossFraction', 'jitterMs', 'throughputBps'] as const).map((name) =>
      reasonOf(outcome({ [name]: null })),
    );
    expect(missing).toEqual(['loss', 'loss', null, null]);
    expect(reasonOf(outcome({ rttMs: null, lossFraction: null }))).toBe('notTested');
    expect(reasonOf(outcome({ rttMs: null, lossFraction: null, failure: 'credentials' }))).toBe('credentials');
  });

  it.each([
    [401, 'Unauthorized', 'credentials'],
    [438, '', 'credentials'],
    [441, '', 'credentials'],
    [400, 'TURN allocate error.', 'noRelay'],
    [403, '', 'noRelay'],
    [486, '', 'noRelay'],
    [508, '', 'noRelay'],
    [701, 'TURN host lookup received error.', 'nameNotResolved'],
    [701, '', 'unreachable'],
  ])('error %d %s', (code, text, reason) => expect(reasonOfError(code, text)).toBe(reason));

  it('a server has the reason of the transport that got farthest', () => {
    expect(farthest(['badUrl', 'unreachable', 'credentials'])).toBe('credentials');
    expect(farthest(['relayBlocked', 'credentials'])).toBe('relayBlocked');
    expect(farthest([])).toBeUndefined();
  });

  it('the best first, then as they were given', () => {
    const given = [
      outcome({ rttMs: null, provider: 'none' }),
      outcome({ rttMs: 40, provider: 'far' }),
      outcome({ lossFraction: 0.03, provider: 'lossy' }),
      outcome({ rttMs: 10, throughputBps: 1000, provider: 'narrow' }),
      outcome({ provider: 'near' }),
      outcome({ rttMs: null, provider: 'none too' }),
    ];
    expect(rank(given).map(({ provider }) => provider)).toEqual(['near', 'far', 'lossy', 'narrow', 'none', 'none too']);
  });
});

describe('estimates', () => {
  it('jitter as RFC 3550 has it', () => {
    expect(jitterOf([])).toBeNull();
    expect(jitterOf([5])).toBeNull();
    expect(jitterOf([10, 10, 10])).toBe(0);
    expect(jitterOf([10, 26])).toBe(1);
    expect(jitterOf(Array.from({ length: 400 }, (_, i) => (i % 2) * 8))).toBeCloseTo(8, 3);
  });

  it('the rate of a window that arrives in a burst: with the pause before it', () => {
    const windows = [0, 10, 20, 30, 400, 410, 420, 430].map((at): [number, number] => [at, 1100]);
    expect(rateOf(windows, 399, 440)).toBeCloseTo((4 * 1100 * 8000) / 400, 0);
    expect(rateOf(windows.slice(0, 5), 399, 401)).toBeCloseTo((3 * 1100 * 8000) / 390, 0);
    expect(rateOf(windows.slice(0, 1), 0, 40)).toBe(0);
  });

  it('the ramp ends after as many periods without growth as it was given', () => {
    const pace: Pace = {
      bps: 250_000,
      best: 100_000,
      stalled: 0,
      stalledLimit: 4,
      held: true,
      bytesBefore: 0,
      controlledAt: 0,
      heldUntil: 0,
    };
    for (const [received, stalled] of [
      [110_000, 1],
      [119_000, 2],
      [150_000, 0],
      [150_000, 1],
      [150_000, 2],
      [150_000, 3],
    ] as const) {
      control(pace, received, 250_000, 10_000_000, 200);
      expect([pace.stalled, pace.heldUntil]).toEqual([stalled, 0]);
      expect(pace.bps).toBe((stalled ? 1.3 : 2) * Math.max(100_000, pace.best));
    }
    control(pace, 150_000, 250_000, 10_000_000, 200);
    expect(pace.heldUntil).toBeGreaterThan(0);
    expect(pace.bps).toBeCloseTo(165_000, 6);
  });

  it('throughput of the best 800 ms', () => {
    const at = (ms: number): [number, number] => [ms, 1000];
    const steady = Array.from({ length: 200 }, (_, i) => at(i * 10));
    expect(throughputOf({ arrivals: steady, startedAt: 1 })).toBeCloseTo(800_000, 0);
    const pausing = steady.map(([ms, bytes]): [number, number] => [ms < 1000 ? ms : ms + 5000, bytes]);
    expect(throughputOf({ arrivals: pausing, startedAt: 1 })).toBeCloseTo(800_000, 0);
    expect(throughputOf({ arrivals: steady.slice(0, 40), startedAt: 1 })).toBeCloseTo(800_000, 0);
    expect(throughputOf({ arrivals: steady.slice(0, 10), startedAt: 1 })).toBeNull();
    expect(throughputOf({ arrivals: [], startedAt: 0 })).toBeNull();
  });
});

describe('the library with its module (spec: PRE-01, PRE-06, API-08, API-11)', () => {
  watchForThrows();
  let world: World;

  beforeEach(() => {
    world = startWorld();
    register();
  });

  afterEach(async () => {
    delete page[moduleKey];
    await stopHarness();
  });

  const configuration = {
    type: 'configuration',
    expiresInMs: 3_600_000,
    preCall: { servers: [server] },
    recommendedConfig: { media: { audio: true } },
  };

  async function begin(options: object = {}) {
    const harness = startHarness(
      () => token(),
      () => ({ body: JSON.stringify(configuration) }),
    );
    world = startWorld();
    const qos = makeQos()();
    const heard: unknown[][] = [];
    for (const name of ['preCallTestResults', 'recommendedConfig', 'connectionRecommendation'] as const)
      qos.on(name as 'stats', (...args: unknown[]) => heard.push([name, ...args]));
    qos.initialize('demo', (_, callback) => callback(null, 'jwt'), 'alice', null, null, { backendUrl, ...options });
    return { harness, qos, heard };
  }

  it('tests by itself after the login, records it and gets a recommendation', async () => {
    const { harness, qos, heard } = await begin();
    await welcome(harness);
    await harness.run(15_000);
    expect(heard.map(([name]) => name)).toEqual(['recommendedConfig', 'preCallTestResults', 'recommendedConfig']);
    const [frame] = harness.socket().of('precall');
    expect(frame).toMatchObject({ seq: 1, at: expect.any(Number), trigger: 'initialize', status: 'success' });
    expect(harness.configurations).toHaveLength(2);
    expect(harness.configurations[1]).toMatchObject({ preCall: { rttMs: frame?.rttMs } });
    const late: unknown[][] = [];
    qos.on('preCallTestResults', (...args) => late.push(args));
    await harness.run();
    expect(late).toEqual([heard[1]?.slice(1)]);
  });

  it('not with disablePrecalltest', async () => {
    const { harness, heard } = await begin({ disablePrecalltest: true });
    await welcome(harness);
    await harness.run(15_000);
    expect(heard.at(-1)).toEqual(['preCallTestResults', 'failure', nothing, 'disablePrecalltest is set']);
    expect(world.ends).toEqual([]);
  });

  it('addNewFabric() ends it', async () => {
    const { harness, qos } = await begin();
    await welcome(harness);
    await harness.run(2000);
    expect(world.open()).toBe(2);
    const pc = new RTCPeerConnection();
    Object.assign(pc, { getStats: async () => new Map() });
    expect(qos.addNewFabric(pc, 'bob', 'audio', 'c').status).toBe('success');
    expect(world.open()).toBe(1); // the call
    await harness.run();
    expect(harness.socket().of('precall')).toMatchObject([{ interrupted: true, reason: 'a call started' }]);
  });

  it('tests that are asked for before the login wait for it', async () => {
    const { harness, qos, heard } = await begin({ disablePrecalltest: true });
    const done = new Promise((resolve) => qos.makePrecallTest((status) => resolve(status)));
    expect(qos.startPrecallTests([server])).toMatchObject({ status: 'success', msg: 'interval is 60 s' });
    await welcome(harness);
    await harness.run(40_000);
    await expect(done).resolves.toBe('success');
    expect(heard.filter(([name]) => name === 'connectionRecommendation')).toHaveLength(1);
    expect(qos.stopPrecallTests()).toMatchObject({ status: 'success', msg: '' });
  });

  it.each<[unknown, number | undefined]>([
    [undefined, 60],
    [5, 30],
    [30, undefined],
    ['45', 45],
    [{}, 60],
    [Symbol('60'), 60],
  ])('an interval of %s', async (given, used) => {
    const { qos } = await begin({ disablePrecalltest: true });
    const { msg } = qos.startPrecallTests([], given as number);
    expect(msg).toBe(used ? `interval is ${used} s` : '');
  });

  it('another user: the tests of the first one end', async () => {
    const { harness, qos } = await begin();
    await welcome(harness);
    await harness.run(2000);
    qos.initialize('demo', (_, callback) => callback(null, 'jwt'), 'bob', null, null, { disablePrecalltest: true });
    await harness.run();
    expect(world.open()).toBe(0);
  });

  it('harms no call', async () => {
    const page = await inCall();
    taken(page.qos.makePrecallTest());
    await page.harness.run(1000);
    expect(world.ends).toEqual([]);
    await open();
  });
});
