// What a page, a PeerConnection and a network can do to the library: none of it may reach
// the page (requirement LIB-07), none of it may cost a frame.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { later } from '../src/result.ts';
import {
  backendUrl,
  connect,
  type Door,
  FakePeerConnection,
  FakeSocket,
  makeQos,
  startHarness,
  stopHarness,
  throttled,
  token,
} from './harness.ts';

const conference = 'standup';
const uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);

beforeEach(() => {
  uncaught.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await stopHarness();
  await new Promise((resolve) => setTimeout(resolve, 0)); // rejections are reported after the microtasks
  process.off('unhandledRejection', note);
  expect(uncaught).toEqual([]);
});

async function online(door?: Door) {
  const harness = startHarness(door);
  const { qos } = connect(harness, { backendUrl });
  await harness.run();
  harness.socket().welcome();
  harness.socket().acking = true;
  await harness.run();
  return { harness, qos, socket: harness.socket() };
}

const broken = () => {
  throw new Error('a getter of the application');
};

/** A PeerConnection of which that member throws once it is set to. */
function breakable(...names: string[]) {
  const state = { broken: false };
  const pc = new FakePeerConnection();
  const proxy = new Proxy(pc, {
    get: (target, name) => {
      if (state.broken && names.includes(String(name))) broken();
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { pc, proxy, state };
}

describe('a PeerConnection that throws (spec: LIB-07, FAB-10)', () => {
  const states = ['iceConnectionState', 'connectionState', 'remoteDescription', 'signalingState'];

  it.each([[['getStats']], [states], [['addEventListener']], [['removeEventListener']]])('%s', async (names) => {
    const { harness, qos } = await online();
    const reported: string[] = [];
    const { proxy, state } = breakable(...names);
    state.broken = names[0] !== 'getStats'; // without getStats it is none
    const result = qos.addNewFabric(proxy, 'bob', 'multiplex', conference, (err) => reported.push(err));
    expect(result.status).toBe('success');
    state.broken = true;
    await harness.run(30_000);
    expect(qos.sendFabricEvent(proxy, 'fabricTerminated', conference).status).toBe('success');
    await harness.run(2000);
    const names1 = harness
      .socket()
      .of('event')
      .map((m) => m.event);
    expect(names1[0]).toBe('fabricAdded');
    expect(names1.at(-1)).toBe('fabricTerminated');
    harness.socket().say({ type: 'ack', seq: 1 });
    await harness.run();
    expect(reported).toEqual(['success']);
  });

  it('measures again when it has come to its senses', async () => {
    const { harness, qos, socket } = await online();
    const { proxy, state } = breakable('getStats');
    qos.addNewFabric(proxy, 'bob', 'multiplex', conference);
    state.broken = true;
    await harness.run(25_000);
    state.broken = false;
    const before = socket.of('stats').length;
    await harness.run(25_000);
    expect(socket.of('stats').length).toBeGreaterThanOrEqual(before + 2);
  });

  it('gives reports that throw', async () => {
    const { harness, qos, socket } = await online();
    const pc = new FakePeerConnection();
    pc.reports = [
      {
        id: 1,
        type: 'inbound-rtp',
        kind: 'audio',
        ssrc: 1,
        get packetsReceived(): number {
          return broken();
        },
      },
    ];
    qos.addNewFabric(pc, 'bob', 'multiplex', conference);
    await harness.run(25_000);
    pc.reports = [];
    await harness.run(25_000);
    expect(socket.of('stats').length).toBeGreaterThanOrEqual(2);
    qos.sendFabricEvent(pc, 'fabricTerminated', conference);
    await harness.run(2000);
    expect(socket.of('event').at(-1)).toMatchObject({ event: 'fabricTerminated' });
  });

  it('refuses the callback form with a promise', async () => {
    const { harness, qos, socket } = await online();
    const pc = Object.assign(new FakePeerConnection(), {
      getStats: (callback?: unknown) => {
        if (callback) return Promise.reject(new TypeError('parameter 1 is not a MediaStreamTrack'));
        throw new Error('closed');
      },
    });
    qos.addNewFabric(pc, 'bob', 'multiplex', conference);
    await harness.run(25_000);
    expect(socket.of('stats').length).toBeGreaterThanOrEqual(1);
  });
});

describe('a page without what the library needs (spec: LIB-07, AUTH-07)', () => {
  it('no WebCrypto at all: nothing is thrown into the page', async () => {
    const harness = startHarness();
    vi.stubGlobal('crypto', undefined);
    const { result } = connect(harness, { backendUrl });
    expect(result.status).toBe('success');
    await harness.run();
    harness.socket().welcome();
    await harness.run(1000);
    makeQos()().initialize('demo', 'secret', 'alice', (e, m) => harness.inits.push([e, m]));
    await harness.run(1000);
    expect(harness.inits.at(-1)?.[0]).toBe('authError');
  });

  it('no WebSocket and no fetch: the callback says so', async () => {
    const harness = startHarness();
    vi.stubGlobal('WebSocket', undefined);
    connect(harness, { backendUrl });
    await harness.run(1000);
    expect(harness.inits.map(([e]) => e)).toContain('wsChannelFailure');
    vi.stubGlobal('fetch', undefined);
    connect(harness, { backendUrl });
    await harness.run(1000);
    expect(harness.inits.at(-1)?.[0]).toBe('httpError');
  });

  it('a setTimeout of the page that forgets further arguments: callbacks hear all the same', () => {
    const { setTimeout } = globalThis;
    const tasks: (() => void)[] = [];
    globalThis.setTimeout = ((task: () => void) => tasks.push(task)) as never;
    const heard: unknown[][] = [];
    later((...words: unknown[]) => heard.push(words), 'success', 'authenticated');
    globalThis.setTimeout = setTimeout;
    for (const task of tasks) task();
    expect(heard).toEqual([['success', 'authenticated']]);
  });

  it('what the application throws has no text', () => {
    startHarness();
    const qos = makeQos()();
    const user = {
      get aliasName(): string {
        throw Object.create(null);
      },
    };
    expect(qos.initialize('demo', 'secret', user as never).status).toBe('failure');
  });
});

describe('the token (spec: AUTH-02, INIT-05)', () => {
  const expired = { type: 'bye', code: 'token_expired', csError: 'authError', message: 'over', retry: true };

  it('a connection that ends with its old token goes on with the renewed one, and nobody is notified', async () => {
    const { harness, socket } = await online();
    await harness.run(7_200_000 * 0.95 + 1000);
    const logins = harness.posts.length;
    socket.say(expired);
    await harness.run(3000);
    expect(harness.socket()).not.toBe(socket);
    harness.socket().welcome();
    await harness.run();
    expect(harness.posts).toHaveLength(logins);
    expect(harness.inits).toEqual([['success', 'authenticated']]);
  });

  it('a renewal that fails is tried again while the old token is good', async () => {
    let up = true;
    const { harness } = await online(() => (up ? token() : new Error('no network')));
    up = false;
    await harness.run(7_200_000 * 0.95 + 1000);
    const failed = harness.posts.length;
    up = true;
    await harness.run(300_000);
    expect(harness.posts.length).toBe(failed + 1);
  });

  it('a renewal is tried again no earlier than the collector allows', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5); // renews at 90 %
    let busy = false;
    const { harness } = await online(() => (busy ? throttled(200_000) : token()));
    busy = true;
    await harness.run(7_200_000 * 0.9 + 1000);
    const refused = harness.posts.length;
    busy = false;
    await harness.run(190_000);
    expect(harness.posts).toHaveLength(refused);
    await harness.run(20_000);
    expect(harness.posts).toHaveLength(refused + 1);
  });

  it('is not renewed once the collector has said no for good', async () => {
    const { harness, socket } = await online();
    socket.drop();
    await harness.run(1000);
    const bye = { type: 'bye', code: 'version_unsupported', csError: 'csProtoError', message: 'no', retry: false };
    harness.socket().say(bye);
    await harness.run(8_000_000);
    expect(harness.posts).toHaveLength(1);
    expect(harness.inits.at(-1)?.[0]).toBe('csProtoError');
  });

  it.each([1, 1e12])('lives %d ms: no storm of logins', async (expiresInMs) => {
    const { harness } = await online(() => ({
      body: JSON.stringify({ type: 'token', token: 'T', session: 'S', expiresInMs, at: Date.now() }),
    }));
    await harness.run(10_000);
    expect(harness.posts.length).toBeLessThan(3);
  });
});

describe('the network', () => {
  it('a login that hangs is given up', async () => {
    const harness = startHarness();
    let calls = 0;
    vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
      calls++;
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    });
    connect(harness, { backendUrl });
    await harness.run(120_000);
    expect(calls).toBeGreaterThan(2);
    expect(harness.inits).toHaveLength(1);
    expect(harness.inits[0]?.[0]).toBe('httpError');
  });

  it('a gateway that answers JSON of its own is no final refusal', async () => {
    let up = false;
    const harness = startHarness(() => (up ? token() : { status: 404, body: '{"error":"no route"}' }));
    connect(harness, { backendUrl });
    await harness.run(1000);
    up = true;
    // Several attempts in the first second delay the next one by more than some seconds.
    for (let second = 0; second < 20 && harness.inits.length < 2; second++) await harness.run(1000);
    expect(harness.inits.map(([e]) => e)).toEqual(['httpError', 'success']);
  });

  it('a connection that ends soon after each welcome is tried less and less often', async () => {
    const { harness, qos } = await online();
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference);
    for (let second = 0; second < 120; second++) {
      const socket = harness.socket();
      if (!socket.closed && socket.readyState === 0) {
        socket.welcome();
        socket.drop();
      } else if (second === 0) socket.drop();
      await harness.run(1000);
    }
    expect(FakeSocket.all.length).toBeLessThan(12);
  });

  it('another refusal after one that was mended is reported again (spec: INIT-05)', async () => {
    const { harness, qos, socket } = await online();
    const nack = (seq: number) => {
      socket.say({ type: 'nack', seq, code: 'field_value', csError: 'csProtoError', message: `no ${seq}` });
      socket.say({ type: 'ack', seq });
    };
    const event = () => qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    event();
    nack(1);
    event();
    socket.say({ type: 'ack', seq: 2 });
    event();
    nack(3);
    await harness.run();
    expect(harness.inits.map(([e]) => e)).toEqual(['success', 'csProtoError', 'success', 'csProtoError']);
  });
});

describe('what is reported (spec: INIT-05)', () => {
  it('a renewal during an outage is no success', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5); // in the middle: 90 %
    const { harness, socket } = await online();
    await harness.run(7_200_000 * 0.9 - 20_000);
    socket.drop();
    await harness.run(2000);
    for (let i = 0; i < 2; i++) {
      harness.socket().drop();
      await harness.run(5000);
    }
    const logins = harness.posts.length;
    await harness.run(10_000);
    expect(harness.posts.length).toBe(logins + 1);
    expect(harness.inits.at(-1)?.[0]).toBe('wsChannelFailure');
  });

  it('a session that was replaced says nothing any more', async () => {
    const { harness, qos, socket } = await online();
    const reported: string[] = [];
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference);
    qos.initialize(
      'demo',
      () => undefined,
      'carol',
      (err) => reported.push(err),
      null,
      { backendUrl },
    );
    socket.say({ type: 'nack', seq: 1, code: 'field_value', csError: 'csProtoError', message: 'no' });
    socket.say({ type: 'ack', seq: 2 });
    await harness.run(5000);
    expect(reported).toEqual([]);
  });
});

describe('a page that goes', () => {
  it('a frame that waits out a slow-down goes once, with the number and text that it keeps', async () => {
    const listeners = new Map<string, (event: unknown) => void>();
    vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
      listeners.set(type, listener),
    );
    vi.stubGlobal('removeEventListener', () => undefined);
    const { harness, qos, socket } = await online();
    const event = () => qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    event();
    socket.say({ type: 'slow-down', retryAfterMs: 5000 });
    event();
    listeners.get('pagehide')?.({ persisted: true });
    const posted = harness.posts.at(-1)?.body.split('\n').slice(1) ?? [];
    expect(posted.map((line) => JSON.parse(line).seq)).toEqual([1, 2]);
    event();
    await harness.run(60_000);
    listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
    await harness.run();
    harness.socket().welcome();
    const again = harness.socket().texts.filter((line) => line.includes('"seq"'));
    expect(again.slice(0, 2)).toEqual(posted);
    expect(again.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3]);
    await harness.run(10_000);
    expect(harness.socket().texts.filter((line) => line.includes('"seq"'))).toHaveLength(3);
  });

  it('a login under way when the page goes into the cache does not open a connection there', async () => {
    const listeners = new Map<string, (event: unknown) => void>();
    vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
      listeners.set(type, listener),
    );
    vi.stubGlobal('removeEventListener', () => undefined);
    const harness = startHarness();
    let answer: (() => void) | undefined;
    makeQos()().initialize(
      'demo',
      (_f, callback) => {
        answer = () => callback(null, 'jwt');
      },
      'alice',
      null,
      null,
      { backendUrl },
    );
    await harness.run();
    listeners.get('pagehide')?.({ persisted: true });
    answer?.();
    await harness.run(1000);
    expect(FakeSocket.all).toHaveLength(0);
    listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
    answer?.(); // that login is void: the page asks anew
    await harness.run(1000);
    expect(FakeSocket.all).toHaveLength(1);
  });
});

describe('the POST door', () => {
  /** A collector whose WebSockets are refused; answer makes what frames says. */
  async function behindPosts(answer: (body: string) => ReturnType<Door>) {
    const bodies: string[] = [];
    const harness = startHarness((url, body) => {
      if (url.endsWith('/auth')) return token();
      bodies.push(body);
      return answer(body);
    });
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    for (let i = 0; i < 3; i++) {
      harness.socket().drop();
      await harness.run(8000);
    }
    return { harness, qos, bodies };
  }

  const taken = (body: string) => {
    const seqs = body.split('\n').map((line) => JSON.parse(line).seq ?? 0);
    const welcome = { type: 'welcome', version: 1, at: Date.now(), acked: 0, statsIntervalMs: 10_000 };
    return { body: [welcome, { type: 'ack', seq: Math.max(...seqs) }].map((m) => JSON.stringify(m)).join('\n') };
  };

  it('takes every frame that the queue takes', async () => {
    const { harness, qos, bodies } = await behindPosts(taken);
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference);
    await harness.run(6000);
    const before = bodies.length;
    const sdp = '"'.repeat(16_384); // its JSON is twice as long
    for (let length = 12_000; length <= 16_384; length += 50) {
      qos.reportError(null, conference, 'createOffer', 'x', sdp.slice(0, length), sdp.slice(0, length));
    }
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    await harness.run(20_000);
    expect(bodies.slice(before).join('\n')).toContain('dominantSpeaker');
    expect(bodies.length - before).toBeLessThan(100);
  });

  it('hands over what waits when the page goes out of sight (spec: FAB-08)', async () => {
    const heard = new Map<string, (event: object) => void>();
    vi.stubGlobal('document', {
      visibilityState: 'hidden',
      addEventListener: (type: string, listener: (event: object) => void) => heard.set(type, listener),
    });
    const { harness, qos } = await behindPosts(taken);
    await harness.run(6000);
    qos.sendFabricEvent(null, 'dominantSpeaker', conference); // its turn comes in some seconds
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    expect(harness.posts.at(-1)?.init).toMatchObject({ keepalive: true });
    expect(harness.posts.at(-1)?.body).toContain('dominantSpeaker');
  });

  it('is left alone while there is nothing to say', async () => {
    const { harness, bodies } = await behindPosts(taken);
    const before = bodies.length;
    await harness.run(60_000);
    expect(bodies.length - before).toBeLessThan(5);
  });

  it('an attempt to get back to WebSockets is no outage (spec: INIT-05)', async () => {
    const { harness } = await behindPosts(taken);
    await harness.run(1000);
    const reported = harness.inits.length;
    for (let i = 0; i < 100; i++) {
      const socket = harness.socket();
      if (socket.readyState === 0) socket.drop();
      await harness.run(10_000);
    }
    expect(harness.inits.slice(reported)).toEqual([]);
  });

  it('an answer that comes after initialize() came again is not taken for the new connection', async () => {
    let late: (() => void) | undefined;
    const { harness, qos } = await behindPosts(taken);
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      if (url.endsWith('/auth')) return { status: 200, text: async () => token().body };
      await new Promise<void>((resolve) => {
        late = resolve;
      });
      return { status: 200, text: async () => taken(String(init.body)).body };
    });
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    await harness.run(6000);
    qos.initialize('demo', (_f, callback) => callback(null, 'jwt'), 'alice', null, null, { backendUrl });
    await harness.run();
    const socket = harness.socket();
    expect(socket.readyState).toBe(0);
    late?.();
    await harness.run();
    expect(qos.sendFabricEvent(null, 'dominantSpeaker', conference).status).toBe('success');
    expect(socket.texts).toEqual([]);
  });
});

describe('memory', () => {
  it('lets PeerConnections go whose fabrics were never announced', async () => {
    const harness = startHarness(() => new Error('no network'));
    const { qos } = connect(harness, { backendUrl });
    const kept: WeakRef<object>[] = [];
    const call = async () => {
      const pc = new FakePeerConnection();
      kept.push(new WeakRef(pc));
      qos.addNewFabric(pc, 'bob', 'multiplex', conference);
      await harness.run(100);
      pc.set({ signalingState: 'closed' });
      await harness.run(2000);
    };
    for (let i = 0; i < 5; i++) await call();
    await harness.run(10_000);
    await stopHarness();
    await new Promise((resolve) => setTimeout(resolve, 10));
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(kept.map((ref) => ref.deref() !== undefined)).not.toContain(true);
  });
});
