// Pages as they are: policies, old libraries, browsers without parts, bundles.

import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { backendUrl, connect, FakePeerConnection, FakeSocket, startHarness, stopHarness, token } from './harness.ts';

afterEach(stopHarness);

const lines = (body: string) => body.split('\n').map((line) => JSON.parse(line));

describe('a policy that forbids WebSockets (spec: INIT-05, SRV-03)', () => {
  it('is an outage at once, and POST takes over within 3 s, though Chromium reports no close', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const welcome = { type: 'welcome', version: 1, at: 0, acked: 0, statsIntervalMs: 10_000, windowFrames: 256 };
    const harness = startHarness((url, body) => {
      if (url.endsWith('/auth')) return token();
      const ack = { type: 'ack', seq: lines(body).at(-1).seq };
      return { body: [{ ...welcome, at: Date.now() }, ack].map((m) => JSON.stringify(m)).join('\n') };
    });
    vi.stubGlobal(
      'WebSocket',
      class extends FakeSocket {
        onerror: (() => void) | null = null;
        constructor(url: string, protocol: string) {
          super(url, protocol);
          queueMicrotask(() => this.onerror?.());
        }
      },
    );
    const { qos } = connect(harness, { backendUrl });
    const reported: string[] = [];
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', 'standup', null, (err) => reported.push(err));
    await harness.run();
    expect(harness.inits.map(([e]) => e)).toEqual(['success', 'wsChannelFailure']);
    await harness.run(3000);
    expect(FakeSocket.all).toHaveLength(3);
    expect(reported).toEqual(['success']);
    expect(harness.inits.at(-1)).toEqual(['success', 'connected']);
  });
});

describe('an old library that gives arrays and objects a toJSON', () => {
  // As Prototype 1.6 does it: texts where JSON wants values.
  const inspect = (value: unknown): string => `'${String(value)}'`;
  const toJSONs: [object, () => unknown][] = [
    [
      Array.prototype,
      function (this: unknown[]) {
        return `[${this.map(inspect).join(', ')}]`;
      },
    ],
    [
      String.prototype,
      function (this: string) {
        return inspect(this);
      },
    ],
    [
      Number.prototype,
      function (this: number) {
        return Number.isFinite(this) ? String(this) : 'null';
      },
    ],
    [Object.prototype, () => '{}'],
  ];

  // Written beforehand: the collector's JSON is not the page's.
  const login = token(1_763_702_160_000).body;
  const welcome =
    '{"type":"welcome","version":1,"at":1763702160000,"acked":0,"statsIntervalMs":10000,"windowFrames":256}';

  async function sent() {
    const harness = startHarness(() => ({ body: login }));
    const { qos } = connect(harness, { backendUrl, additionalIDs: { tenantID: 't1' } });
    await harness.run();
    harness.socket().open();
    harness.socket().onmessage?.({ data: welcome });
    const pc = new FakePeerConnection();
    qos.addNewFabric(pc, { userName: 'bob', aliasName: 'b' }, 'multiplex', 'standup');
    class Money {
      toJSON() {
        return { amount: [1, 2] };
      }
    }
    const when = new Date(0);
    const answers = [
      qos.sendFabricEvent(pc, 'audioMute', 'standup', {
        list: [1, 'x', [2]],
        deep: { a: [] },
        when,
        money: new Money(),
      }),
      qos.sendCustomEvent(pc, 'standup', [{ name: 'e', list: ['y'] }]),
      qos.sendUserFeedback('standup', { userID: 'alice', overall: 5 }),
    ];
    await harness.run(20_000);
    harness.socket().drop();
    await harness.run(2000);
    const texts = [...FakeSocket.all.flatMap((socket) => socket.texts), ...harness.posts.map(({ body }) => body)];
    return { answers, texts };
  }

  it('does no harm to anything that is sent; classes of the application keep theirs (spec: LIB-07, LIB-08)', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const clean = await sent();
    await stopHarness();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    for (const [proto, value] of toJSONs) Object.defineProperty(proto, 'toJSON', { value, configurable: true });
    const dirty = await sent().finally(() => {
      for (const [proto] of toJSONs) Reflect.deleteProperty(proto, 'toJSON');
    });
    expect(dirty.answers.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(dirty.texts).toEqual(clean.texts);
    expect(clean.texts.join('\n')).toContain(
      '{"list":[1,"x",[2]],"deep":{"a":[]},"when":"1970-01-01T00:00:00.000Z","money":{"amount":[1,2]}}',
    );
  });
});

it('a collector that is not there hints at backendUrl (spec: LIB-03)', async () => {
  const harness = startHarness(() => ({ status: 404, body: 'no such page' }));
  connect(harness);
  await harness.run();
  expect(harness.inits).toEqual([['httpError', expect.stringMatching(/^HTTP status 404: .*backendUrl/)]]);
});

describe('a browser without TextEncoder (spec: LIB-07)', () => {
  it('loads; its operations fail and say so', () => {
    const module: { exports: unknown } = { exports: {} };
    const code = readFileSync(new URL('../dist/qos.js', import.meta.url), 'utf8');
    runInNewContext(code, { module, URL, console, setTimeout });
    const Library = module.exports as new () => { initialize(...args: unknown[]): { status: string; msg: string } };
    const { status, msg } = new Library().initialize('app', 'secret', 'ada', null, null, { backendUrl });
    expect([status, msg]).toEqual(['failure', expect.stringContaining('internal error')]);
  });
});

describe('a bundle as a classic script (spec: LIB-02, LIB-07)', () => {
  it('loads where there is no document', () => {
    const code = readFileSync(new URL('../dist/qos.mjs', import.meta.url), 'utf8');
    // As Rollup writes an iife.
    const url = `(document.currentScript && document.currentScript.src || new URL('bundle.js', document.baseURI).href)`;
    const body = code
      .replaceAll('import.meta.url', url)
      .replace(/\nexport \{[\s\S]*?\n\};/, '\nglobalThis.made = module_default;');
    const world: { made?: unknown } = {};
    runInNewContext(`(() => {${body}})()`, Object.assign(world, { URL, TextEncoder, console, setTimeout }));
    expect(world.made).toBeTypeOf('function');
  });
});
