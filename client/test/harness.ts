// A page and a collector by hand, for tests without a browser. The real things are driven
// by the end-to-end tests.

import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { vi } from 'vitest';
import { assemble, type QosConstructor } from '../src/index.ts';

export type Message = Record<string, unknown> & { type: string };

/** A WebSocket whose other end is the test. */
export class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly texts: string[] = [];
  closed = false;
  /** Whether it acknowledges what it gets, as a collector does at once. */
  acking = false;

  constructor(
    readonly url: string,
    readonly protocol: string,
  ) {
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.texts.push(text);
    const { seq } = JSON.parse(text);
    if (this.acking && seq) queueMicrotask(() => this.say({ type: 'ack', seq }));
  }

  close(): void {
    this.closed = true;
    this.readyState = 3;
  }

  get messages(): Message[] {
    return this.texts.map((text) => JSON.parse(text));
  }

  of(type: string): Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  welcome(more: object = {}): void {
    this.open();
    this.say({
      type: 'welcome',
      version: 1,
      at: Date.now(),
      acked: 0,
      statsIntervalMs: 10_000,
      windowFrames: 256,
      ...more,
    });
  }

  /** The network breaks. */
  drop(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

/** What the fake collector answers to a POST. */
export type Door = (url: string, body: string, init: RequestInit) => Answer | Promise<Answer> | Error;

interface Answer {
  status?: number;
  body: string;
}

/** The answer of a fetch that never settles. */
export const never = new Promise<Answer>(() => undefined);

let sessions = 0;

export const token = (at = Date.now(), more: object = {}) => ({
  body: JSON.stringify({ type: 'token', token: 'T', session: `S${++sessions}`, expiresInMs: 7_200_000, at, ...more }),
});

/** The answer of a collector that wants to be asked later. */
export const throttled = (retryAfterMs: number) => ({
  status: 429,
  body: JSON.stringify({ type: 'error', code: 'throttled', csError: 'httpError', message: 'slowly', retryAfterMs }),
});

export interface Harness {
  /** All but those for a configuration. */
  posts: { url: string; body: string; init: RequestInit }[];
  /** The requests for a configuration. */
  configurations: Record<string, unknown>[];
  inits: [string, string][];
  /** Runs timers and what waits behind them. */
  run(ms?: number): Promise<void>;
  socket(index?: number): FakeSocket;
}

let generation = 0;

/** What becomes of a promise: nothing, once the harness that it belongs to was stopped or replaced. */
async function whileCurrent<T>(promise: T | Promise<T>): Promise<T> {
  const mine = generation;
  const outcome = await Promise.allSettled([promise]);
  if (mine !== generation) await never;
  if (outcome[0].status === 'rejected') throw outcome[0].reason;
  return outcome[0].value;
}

/** WebCrypto works in real time, so that a login may still derive its key when its test is over. */
function cryptoWhileCurrent(): Crypto {
  const { subtle } = webcrypto;
  const operation = (_: object, name: keyof SubtleCrypto) => {
    const call = subtle[name] as (...args: unknown[]) => Promise<unknown>;
    return (...args: unknown[]) => whileCurrent(call.apply(subtle, args));
  };
  return {
    subtle: new Proxy({}, { get: operation as never }),
    getRandomValues: webcrypto.getRandomValues.bind(webcrypto),
  } as Crypto;
}

/** The answer of a collector that knows of no configuration. */
const noConfiguration: Door = () => ({ status: 404, body: '404 page not found' });

/** Replaces the network and the clock; door answers POSTs. Nothing of an earlier harness goes on in this one. */
export function startHarness(door: Door = () => token(), configuration = noConfiguration): Harness {
  generation++;
  vi.useFakeTimers({ now: 1_763_702_160_000 });
  FakeSocket.all = [];
  const posts: Harness['posts'] = [];
  const configurations: Harness['configurations'] = [];
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('crypto', cryptoWhileCurrent());
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const asks = url.endsWith('/configuration');
    if (asks) configurations.push(JSON.parse(String(init.body)));
    else posts.push({ url, body: String(init.body), init });
    const answer = await whileCurrent((asks ? configuration : door)(url, String(init.body), init));
    if (answer instanceof Error) throw answer;
    return { status: answer.status ?? 200, text: async () => answer.body };
  });
  return {
    posts,
    configurations,
    inits: [],
    run: async (ms = 0) => {
      await vi.advanceTimersByTimeAsync(ms);
      await vi.advanceTimersByTimeAsync(0);
    },
    socket: (index = FakeSocket.all.length - 1) => FakeSocket.all[index] as FakeSocket,
  };
}

const nextTask = setImmediate; // the real one

/** Ends all instances: what they still begin finds a network without answers and a clock that stands still. */
export async function stopHarness(): Promise<void> {
  generation++;
  vi.stubGlobal('fetch', () => never);
  await new Promise<void>((resolve) => nextTask(resolve));
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

export const backendUrl = 'https://qos.example.org/prefix';

/** The minified file as CommonJS loads it, from the collector. */
function loadBuilt(): QosConstructor {
  const code = readFileSync(new URL('../dist/qos.min.js', import.meta.url), 'utf8');
  const module = { exports: {} };
  const before = globalThis.document;
  vi.stubGlobal('document', { currentScript: { src: `${backendUrl}/qos.min.js` } });
  new Function('module', code)(module);
  vi.stubGlobal('document', before);
  return module.exports as QosConstructor;
}

/** The export, as a script from the collector would make it; with QOS_BUILT it is that script. */
export const makeQos = () => (process.env.QOS_BUILT ? loadBuilt() : assemble(`${backendUrl}/qos.min.js`));

/** An instance that logs in with a JWT, so that no test waits for key derivation. */
export function connect(harness: Harness, config: object = {}) {
  const qos = new (makeQos())();
  const result = qos.initialize(
    'demo',
    (_forceNew, callback) => callback(null, 'jwt'),
    'alice',
    (err, msg) => harness.inits.push([err, msg]),
    null,
    config,
  );
  return { qos, result };
}

type Report = Record<string, unknown>;

/** A PeerConnection that the test moves from state to state. */
export class FakePeerConnection {
  iceConnectionState = 'new';
  connectionState = 'new';
  iceGatheringState = 'new';
  signalingState = 'stable';
  localDescription: { sdp: string } | null = null;
  remoteDescription: { sdp: string } | null = null;
  reports: Report[] = [];
  failing = false;
  readonly listeners = new Map<string, Set<() => void>>();

  addEventListener(type: string, listener: () => void): void {
    const set = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, set.add(listener));
  }

  removeEventListener(type: string, listener: () => void): void {
    this.listeners.get(type)?.delete(listener);
  }

  get listenerCount(): number {
    return [...this.listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }

  async getStats(): Promise<Map<unknown, Report>> {
    if (this.failing) throw new Error('getStats is broken');
    return new Map(this.reports.map((report) => [report.id, report]));
  }

  set(states: Partial<FakePeerConnection>): void {
    Object.assign(this, states);
    for (const set of this.listeners.values()) for (const listener of [...set]) listener();
  }

  connect(): void {
    this.set({
      remoteDescription: this.remoteDescription ?? { sdp: 'v=0\r\n' },
      iceConnectionState: 'checking',
      iceGatheringState: 'gathering',
    });
    this.set({ iceConnectionState: 'connected', connectionState: 'connected', iceGatheringState: 'complete' });
  }
}

/** Readings of a real call, 2 s apart. */
export interface Sequence {
  readings: { atMs: number; reports: Report[] }[];
  localSDP: string;
  remoteSDP: string;
}

export function sequence(browser: 'chromium' | 'firefox'): Sequence {
  return JSON.parse(readFileSync(new URL(`data/sequence-${browser}.json`, import.meta.url), 'utf8'));
}
