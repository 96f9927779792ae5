// How applications get at the library, and what they do to what they got.

import { describe, expect, it } from 'vitest';
import { backendUrl, connect, FakePeerConnection, startHarness } from '../harness.ts';
import { conference, inCall, type Library, load, open, refused, stillWorks, taken, watchForThrows } from './app.ts';

watchForThrows();

const io = () => undefined;
const jsSHA = class {};
const $ = Object.assign(() => undefined, { ajax: () => undefined });

/** Each way ends with an object that the application takes for an instance. */
const ways: Record<string, () => Library> = {
  'new qos()': () => new (load())(),
  'qos(), without new': () => load()(),
  'new qos($, io, jsSHA), from the time when it had dependencies': () => new (load())($, io, jsSHA),
  'new qos(null, io, jsSHA)': () => new (load())(null, io, jsSHA),
  'new qos(undefined, {}, 7)': () => new (load())(undefined, {}, 7),
  'the value of a module loader, used as it is': () => load(),
  'the value, constructed through a variable of another name': () => {
    const CallStatsBackend = load();
    return new CallStatsBackend();
  },
  'Reflect.construct': () => Reflect.construct(load(), []) as Library,
  'qos.call(window)': () => load().call(globalThis) as Library,
  'an object that the application copied the methods to': () => ({ ...new (load())() }),
  'an object that inherits from an instance': () => Object.create(new (load())()) as Library,
  'a proxy that logs every call': () =>
    new Proxy(new (load())(), {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        return typeof value === 'function' ? (...args: unknown[]) => value.apply(receiver, args) : value;
      },
    }),
  'a second instance of the page': () => {
    const qos = load();
    new qos();
    return new qos();
  },
};

describe('ways to an instance (spec: LIB-01, LIB-02, LIB-08)', () => {
  it.each(Object.entries(ways))('%s', async (_, make) => {
    await stillWorks(await open(make()));
  });

  it('a check that the loaded value is a function, before it is called', () => {
    expect(typeof load()).toBe('function');
  });

  it('keeps instances apart', async () => {
    const qos = load();
    const [a, b] = [qos(), qos()];
    const page = await open(a);
    refused(b.sendFabricEvent(new FakePeerConnection(), 'audioMute', conference), 'initialize() must be called first');
    await stillWorks(page);
  });
});

describe('what applications do to an instance (spec: LIB-08)', () => {
  it('wraps methods so that nothing is returned, before initialize()', async () => {
    const qos = new (load())();
    const log: string[] = [];
    for (const name of ['associateMstWithUserID', 'sendFabricEvent', 'reportError'] as const) {
      const original = qos[name];
      qos[name] = function wrapped(...args: unknown[]) {
        log.push(name);
        original.apply(qos, args);
        return undefined as never;
      };
    }
    const page = await open(qos);
    const pc = new FakePeerConnection();
    taken(qos.addNewFabric(pc, 'jitsi', 'multiplex', conference));
    qos.sendFabricEvent(pc, 'videoPause', conference);
    qos.associateMstWithUserID(pc, 'bob', conference, '4242', 'camera', 'largeVideo');
    qos.reportError(pc, conference, 'applicationLog', 'a line');
    expect(log).toEqual(['sendFabricEvent', 'associateMstWithUserID', 'reportError']);
    expect(page.events().map(([event]) => event)).toEqual(
      expect.arrayContaining(['videoPause', 'associateMstWithUserID']),
    );
    expect(page.of('log')).toHaveLength(1);
  });

  it('replaces methods by its own; the library does not notice', async () => {
    const page = await inCall();
    const silent = () => ({ status: 'success', msg: '', message: '' });
    for (const name of ['reportError', 'sendFabricEvent', 'on', 'addNewFabric'] as const) {
      const original = page.qos[name];
      page.qos[name] = silent;
      await page.harness.run(25_000);
      page.qos[name] = original;
    }
    expect(page.of('stats').length).toBeGreaterThan(0);
    await stillWorks(page);
  });

  it('takes methods off the object and calls them bare', async () => {
    const page = await inCall();
    const { sendFabricEvent, reportError, sendUserFeedback } = page.qos;
    taken(sendFabricEvent(page.pc, 'audioMute', conference));
    taken(reportError.call(null, page.pc, conference, 'createOffer', 'x'));
    taken(sendUserFeedback.bind({})(conference, { userID: 'alice', overall: 4 }));
  });

  it('hangs properties of its own on it, and freezes it', async () => {
    const qos = new (load())();
    Object.assign(qos, { myApp: { on: true }, session: 'theirs', initialized: true });
    await stillWorks(await open(Object.freeze(qos)));
  });

  it('deletes enumerations, and overwrites their values', async () => {
    const page = await inCall();
    const mine = page.qos as Partial<Library>;
    delete mine.fabricEvent;
    mine.fabricUsage = { multiplex: 'theirs' };
    taken(page.qos.sendFabricEvent(page.pc, 'audioMute', conference));
    refused(page.qos.addNewFabric(new FakePeerConnection(), 'bob', mine.fabricUsage.multiplex, 'x'), 'fabricUsage');
  });

  it('asks whether an operation exists before it calls it', () => {
    const qos = new (load())() as unknown as Record<string, unknown>;
    for (const name of ['attachWifiStatsHandler', 'startPrecallTests', 'sendCallDetails', 'makePrecallTest', 'on'])
      expect(typeof qos[name]).toBe('function');
  });

  it('compares answers with the status enumeration, under both its names (spec: LIB-09)', async () => {
    const { qos, pc } = await inCall();
    const { status, message } = qos.sendFabricEvent(pc, qos.fabricEvent.audioMute, conference);
    expect(status === qos.callStatsAPIReturnStatus.success).toBe(true);
    expect(status === qos.qosAPIReturnStatus.success).toBe(true);
    expect(message).toBe('');
  });

  it('reads function names under both their names, and those that it only reads (spec: LIB-09)', () => {
    const qos = load();
    expect(qos.wrtcFuncNames.createOffer).toBe('createOffer');
    expect(qos.webRTCFunctions.applicationError).toBe('applicationError');
    expect(qos.fabricEvent.fabricSetup).toBe('fabricSetup');
    expect(qos.fabricEvent.fabricSetupFailed).toBe('fabricSetupFailed');
  });
});

it('runs where there is no page: a native application with WebRTC (spec: LIB-03, LIB-07)', async () => {
  expect(typeof document).toBe('undefined');
  const harness = startHarness();
  const { result } = connect(harness, { backendUrl });
  expect(result.status).toBe('success');
  await harness.run();
  harness.socket().welcome();
  await harness.run();
  expect(harness.inits).toEqual([['success', 'authenticated']]);
});
