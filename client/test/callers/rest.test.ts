// How applications call the other operations.

import { describe, expect, it, vi } from 'vitest';
import { FakePeerConnection } from '../harness.ts';
import { conference, inCall, load, open, refused, stillWorks, taken, watchForThrows, wellFormed } from './app.ts';

watchForThrows();

describe('associateMstWithUserID (spec: API-03)', () => {
  it.each<[string, unknown[]]>([
    ['a number and an id', ['bob', conference, 4242, 'camera', 'remoteVideo']],
    ['text out of the SDP', ['bob', conference, '4242', 'camera', 'remoteVideo']],
    ['no element', ['bob', conference, '4242', 'camera']],
    ['null for the element', ['bob', conference, '4242', 'camera', null]],
    ['an empty id', ['bob', conference, '4242', 'camera', '']],
    ['the element', ['bob', conference, '4242', 'camera', { id: 'v', clientWidth: 640, clientHeight: 360 }]],
    ['a wrapped set of elements', ['bob', conference, '4242', 'camera', [{ id: 'v' }]]],
    ['an empty label', ['bob', conference, '4242', '']],
    ['the index of a loop for the SSRC', ['bob', conference, '0', 'camera', 'v']],
    ['a user object', [{ userName: 'Bob', aliasName: 'b' }, conference, 4242, 'camera']],
    ['more arguments', ['bob', conference, 4242, 'camera', 'v', 'more']],
  ])('%s, before the first packet', async (_, args) => {
    const page = await inCall();
    taken(page.qos.associateMstWithUserID(page.pc, ...args));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'associateMstWithUserID', data: { usageLabel: args[3] } });
    await stillWorks(page);
  });

  it.each<[string, unknown[], string]>([
    ['no SSRC', ['bob', conference, undefined, 'camera'], 'ssrc'],
    ['what did not match', ['bob', conference, null, 'camera'], 'ssrc'],
    ['NaN', ['bob', conference, Number.NaN, 'camera'], 'ssrc'],
    ['a line of the SDP', ['bob', conference, 'a=ssrc:4242', 'camera'], 'ssrc'],
    ['a list of them', ['bob', conference, [1, 2], 'camera'], 'ssrc'],
    ['user and conference missing', [undefined, undefined, 1, 'camera'], 'userID'],
    ['a conference that is unknown', ['bob', 'nowhere', 1, 'camera'], 'conferenceID'],
  ])('%s is refused', async (_, args, argument) => {
    const page = await inCall();
    refused(page.qos.associateMstWithUserID(page.pc, ...args), argument);
    await stillWorks(page);
  });

  it('names the user of a stream in the statistics from then on', async () => {
    const page = await inCall();
    const seen: { ssrc: number; userID: unknown; usageLabel: unknown; associatedVideoTag: unknown }[] = [];
    page.qos.on('stats', (stats: { mediaStreamTracks: typeof seen }) => seen.push(...stats.mediaStreamTracks));
    taken(page.qos.associateMstWithUserID(page.pc, 'carol', conference, '99', 'screen', 'tag'));
    let packetsReceived = 0;
    for (let i = 0; i < 3; i++) {
      packetsReceived += 100;
      page.pc.reports = [
        {
          id: 'in',
          type: 'inbound-rtp',
          kind: 'video',
          ssrc: 99,
          packetsReceived,
          bytesReceived: packetsReceived * 1000,
          timestamp: Date.now(),
        },
      ];
      await page.harness.run(10_000);
    }
    expect(seen.at(-1)).toMatchObject({ ssrc: 99, userID: 'carol', usageLabel: 'screen', associatedVideoTag: 'tag' });
  });
});

describe('sendUserFeedback (spec: API-07, FAB-12)', () => {
  it.each<[string, unknown, object]>([
    [
      'as documented',
      { userID: 'alice', overall: 4, audio: 5, video: 1, screen: 3, comment: 'ok' },
      { overall: 4, audio: 5 },
    ],
    ['userId', { userId: 'alice', overall: 4 }, { userID: 'alice', overall: 4 }],
    ['stars as text', { userID: 'alice', overall: '4', audio: '5' }, { overall: 4, audio: 5 }],
    [
      'what was not asked for as 0',
      { userID: 'alice', overall: 4, audio: 0, video: '0' },
      { audio: null, video: null },
    ],
    ['what was not asked for as null', { userID: 'alice', overall: 4, audio: null, video: undefined }, { audio: null }],
    [
      'a comment that JSON made out of nothing',
      { userID: 'alice', overall: 1, comment: 'undefined' },
      { comment: 'undefined' },
    ],
    ['no comment', { userID: 'alice', overall: 1, comment: null }, { overall: 1 }],
    ['an empty comment', { userID: 'alice', overall: 1, comment: '' }, { overall: 1 }],
    ['a user object', { userID: { userName: 'A', aliasName: 'a' }, overall: 2 }, { overall: 2 }],
    ['members of the application', { userID: 'alice', overall: 2, issues: ['echo'], stars: 2 }, { overall: 2 }],
  ])('%s', async (_, feedback, kept) => {
    const page = await inCall();
    const heard: unknown[][] = [];
    taken(page.qos.sendUserFeedback(conference, feedback, (...args: unknown[]) => heard.push(args)));
    await page.harness.run(100);
    expect(page.of('feedback')[0]).toMatchObject(kept);
    expect(heard).toEqual([['success', expect.any(String)]]);
    await stillWorks(page);
  });

  it.each<[string, unknown[], string]>([
    ['nobody', [conference, { overall: 4 }], 'feedback.userID'],
    ['no score', [conference, { userID: 'alice' }], 'feedback.overall'],
    ['null for the score', [conference, { userID: 'alice', overall: null }], 'feedback.overall'],
    ['no stars', [conference, { userID: 'alice', overall: 0 }], 'feedback.overall'],
    ['six stars', [conference, { userID: 'alice', overall: 6 }], 'feedback.overall'],
    ['half stars', [conference, { userID: 'alice', overall: 3.5 }], 'feedback.overall'],
    ['half stars as text', [conference, { userID: 'alice', overall: '3.5' }], 'feedback.overall'],
    ['a score that could not be read', [conference, { userID: 'alice', overall: Number.NaN }], 'feedback.overall'],
    ['a word', [conference, { userID: 'alice', overall: 'good' }], 'feedback.overall'],
    ['a score of the sound out of bounds', [conference, { userID: 'alice', overall: 4, audio: 6 }], 'feedback.audio'],
    ['JSON text', [conference, '{"userID":"alice","overall":4}'], 'feedback'],
    ['the bare score', [conference, 4], 'feedback'],
    ['nothing', [conference], 'feedback'],
    ['no conference', [undefined, { userID: 'alice', overall: 4 }], 'conferenceID'],
    ['feedback and conference exchanged', [{ userID: 'alice', overall: 4 }, conference], 'conferenceID'],
  ])('%s is refused, and the callback hears it', async (_, args, argument) => {
    const page = await inCall();
    const heard: string[] = [];
    refused(
      page.qos.sendUserFeedback(...args, ...(args.length < 2 ? [undefined] : []), (err: string) => heard.push(err)),
      argument,
    );
    await page.harness.run(10);
    expect(heard).toEqual(['failure']);
    await stillWorks(page);
  });

  it('long after the call, and for a call of another page', async () => {
    const page = await inCall();
    page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference);
    await page.harness.run(60_000);
    taken(page.qos.sendUserFeedback(conference, { userID: 'alice', overall: 5 }));
    taken(page.qos.sendUserFeedback('the call before the reload', { userID: 'alice', overall: 5 }));
  });

  it('a callback that is not one is named', async () => {
    const page = await inCall();
    expect(page.qos.sendUserFeedback(conference, { userID: 'a', overall: 5 }, 'done').status).toBe('success');
  });
});

describe('reportUserIDChange (spec: API-06)', () => {
  it.each<[string, unknown[], string | null]>([
    ['the local one', [conference, 'alice2', 'local'], null],
    ['the remote one', [conference, 'bob2', 'remote'], null],
    ['an object', [conference, { userName: 'Bob', aliasName: 'b' }, 'remote'], null],
    ['the same again', [conference, 'alice', 'local'], null],
    ['no kind', [conference, 'alice2'], 'userIDType'],
    ['another kind', [conference, 'alice2', 'both'], 'userIDType'],
    ['nobody', [conference, '', 'local'], 'newUserID'],
    ['kind and user exchanged', [conference, 'local', 'alice2'], 'userIDType'],
  ])('%s', async (_, args, argument) => {
    const page = await inCall();
    const answer = page.qos.reportUserIDChange(page.pc, ...args);
    if (argument) refused(answer, argument);
    else taken(answer);
    await stillWorks(page);
  });
});

describe('sendCallDetails (spec: API-10)', () => {
  const details = { callType: 'inbound', role: 'agent' };

  it.each<[string, unknown]>([
    ['as documented', details],
    [
      'with members of the contact centre',
      { ...details, contactID: 'c', contactQueue: 'q', siteID: 'x', none: undefined },
    ],
  ])('%s, with and without a PeerConnection', async (_, attributes) => {
    const page = await inCall();
    for (const pc of [page.pc, null, undefined, new FakePeerConnection()])
      taken(page.qos.sendCallDetails(pc, conference, attributes));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'callDetails', data: details });
  });

  it('for a contact that never became a call', async () => {
    const page = await open();
    taken(page.qos.sendCallDetails(null, 'a contact', details));
    await stillWorks(page);
  });

  it.each<[string, unknown, string]>([
    ['a type of the telephone system', { ...details, callType: 'queue_callback' }, 'callAttributes.callType'],
    ['no role', { callType: 'inbound' }, 'callAttributes.role'],
    ['text', 'inbound', 'callAttributes'],
    ['nothing', undefined, 'callAttributes must be an object, got nothing'],
    ['null', null, 'callAttributes must be an object, got null'],
  ])('%s is refused', async (_, attributes, argument) => {
    const page = await inCall();
    refused(page.qos.sendCallDetails(page.pc, conference, attributes), argument);
    await stillWorks(page);
  });
});

describe('sendCustomEvent, sendCustomStats (spec: LIB-09)', () => {
  it.each<[string, unknown, number]>([
    ['a list', [{ name: 'ringing', eventType: 'timing', value: 7 }, { name: 'answered' }], 2],
    ['one event', { name: 'ringing' }, 1],
    ['names', ['ringing', 'answered'], 2],
    ['one name', 'ringing', 1],
    ['an empty list', [], 0],
    ['an event without a name', [{ eventType: 'x' }], 1],
  ])('events: %s', async (_, list, count) => {
    const page = await inCall();
    for (const pc of [page.pc, null]) expect(page.qos.sendCustomEvent(pc, conference, list).status).toBe('success');
    expect(page.events().filter(([event]) => event === 'customEvent')).toHaveLength(2 * count);
    await stillWorks(page);
  });

  it.each<[string, unknown, number]>([
    [
      'a list',
      [
        { name: 'cpu', value: 0.5 },
        { name: 'level', value: -3, timestamp: 1_763_702_160_000 },
      ],
      2,
    ],
    ['one', { name: 'cpu', value: 0 }, 1],
  ])('stats: %s', async (_, list, count) => {
    const page = await inCall();
    for (const pc of [page.pc, null]) taken(page.qos.sendCustomStats(pc, conference, list));
    expect(page.events().filter(([event]) => event === 'customStats')).toHaveLength(2 * count);
  });

  it.each<[string, unknown, string]>([
    ['no name', [{ value: 1 }], 'stats[0].name'],
    ['no value', [{ name: 'cpu', value: 1 }, { name: 'cpu' }], 'stats[1].value'],
    ['an infinite value', [{ name: 'cpu', value: Number.POSITIVE_INFINITY }], 'stats[0].value'],
    ['not a number', [{ name: 'cpu', value: Number.NaN }], 'stats[0].value'],
    ['a bare number', [5], 'stats[0] must be an object, got a number'],
    ['nothing', undefined, 'stats[0] must be an object, got nothing'],
    ['null', null, 'stats[0] must be an object, got null'],
  ])('stats: %s is refused', async (_, list, argument) => {
    const page = await inCall();
    refused(page.qos.sendCustomStats(page.pc, conference, list), argument);
    expect(page.events().filter(([event]) => event === 'customStats')).toEqual([]);
    await stillWorks(page);
  });
});

describe('lists that are long (spec: LIB-07, LIB-09)', () => {
  it.each(['sendCustomEvent', 'sendCustomStats'] as const)('%s takes 1000 items, and no more', async (name) => {
    const page = await inCall();
    const argument = name === 'sendCustomEvent' ? 'events' : 'stats';
    const items = (count: number) => Array.from({ length: count }, () => ({ name: 'x', value: 1 }));
    taken(page.qos[name](page.pc, conference, items(1000)));
    refused(page.qos[name](page.pc, conference, items(1001)), `${argument} must be at most 1000 items, got 1001`);
    refused(page.qos[name](page.pc, conference, new Array(2 ** 32 - 1)), argument);
    refused(page.qos[name](page.pc, conference, new Array(3)), `${argument}[0]`);
    await stillWorks(page);
  });
});

describe('on() (spec: API-08)', () => {
  it.each(['preCallTestResults', 'defaultConfig', 'recommendedConfig', 'connectionRecommendation', 'error', 'stats'])(
    '%s, before and after initialize(), several times',
    async (name) => {
      const qos = new (load())();
      taken(qos.on(name, () => undefined));
      const page = await open(qos);
      taken(qos.on(name, () => undefined));
      taken(qos.on(name, () => undefined, 'more'));
      await stillWorks(page);
    },
  );

  it.each<[string, unknown[], string]>([
    ['an event that there is not', ['mediaDisruption', () => undefined], 'eventName'],
    ['another case', ['Stats', () => undefined], 'eventName'],
    ['no callback', ['stats'], 'csEventCallback'],
    ['null', ['stats', null], 'csEventCallback'],
    ['callback first', [() => undefined, 'stats'], 'eventName'],
  ])('%s is refused', (_, args, argument) => {
    refused(new (load())().on(...args), argument);
  });

  it('the same function again and again, as for each test of a page: it hears once', async () => {
    const page = await inCall();
    let heard = 0;
    const count = () => heard++;
    for (let i = 0; i < 100; i++) taken(page.qos.on('stats', count));
    page.qos.on('stats', () => count());
    await page.harness.run(10_000);
    expect(heard).toBe(2);
  });

  it('the statistics reach a callback of on() as they reach the one of initialize()', async () => {
    const page = await inCall();
    const seen: Record<string, unknown>[] = [];
    page.qos.on('stats', (stats: Record<string, unknown>) => seen.push(stats));
    await page.harness.run(25_000);
    expect(seen[0]).toMatchObject({ fabricState: 'established', streams: {}, mediaStreamTracks: [] });
  });

  it('callbacks that throw cost nothing but a line in the console (spec: LIB-07)', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const page = await inCall();
    page.qos.on('stats', () => {
      throw new Error('theirs');
    });
    page.qos.on('stats', async () => {
      await Promise.resolve();
    });
    await page.harness.run(25_000);
    expect(error).toHaveBeenCalled();
    await stillWorks(page);
  });
});

describe('attachWifiStatsHandler (spec: API-09)', () => {
  const sample = { signal: 20, rssi: -60, timestamp: 1 };

  it.each<[string, unknown, boolean]>([
    ['a promise of text', async () => JSON.stringify(sample), true],
    ['text, without a promise', () => JSON.stringify(sample), true],
    ['a promise of an object', async () => sample, true],
    ['a promise of nothing, where there is no Wi-Fi', async () => undefined, false],
    ['a rejection', async () => Promise.reject(new Error('no native part')), false],
    [
      'an exception',
      () => {
        throw new Error('no native part');
      },
      false,
    ],
    ['text that is no JSON', async () => 'n/a', false],
  ])('%s', async (_, handler, kept) => {
    const page = await inCall();
    taken(page.qos.attachWifiStatsHandler(handler));
    await page.harness.run(30_000);
    expect(page.events().some(([event]) => event === 'wifiStats')).toBe(kept);
    await stillWorks(page);
  });

  it.each([null, undefined, 'handler', {}])('%j is refused', (handler) => {
    refused(new (load())().attachWifiStatsHandler(handler), 'getWifiStats');
  });
});

describe('pre-call tests', () => {
  it.each<[string, unknown[]]>([
    ['as documented', [[{ urls: ['turn:t.example'], username: 'u', credential: 'c', label: 'l' }], 60]],
    ['one server', [{ urls: 'turn:t.example' }, '60']],
    ['nothing', []],
  ])('%s: an answer, whatever it is', async (_, args) => {
    const page = await open();
    wellFormed(page.qos.startPrecallTests(...args));
    wellFormed(page.qos.stopPrecallTests());
    wellFormed(page.qos.makePrecallTest());
    await page.harness.run(1000);
    await stillWorks(page);
  });
});
