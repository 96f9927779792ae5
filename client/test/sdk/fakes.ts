// A monitor that records its calls, and connections as an SDK has them.

import { vi } from 'vitest';
import type { Monitor } from '../../src/sdk/attachment.ts';

/** Calls of the monitor, in order; connections by their names. */
export function recordingMonitor() {
  const calls: unknown[][] = [];
  const ok = { status: 'success', msg: '', message: '' } as const;
  const record =
    (name: string) =>
    (...args: unknown[]) => {
      while (args.length && args.at(-1) === undefined) args.pop();
      calls.push([name, ...args.map((arg) => (arg instanceof FakeConnection ? arg.name : arg))]);
      return ok;
    };
  const monitor = {
    addNewFabric: record('add'),
    associateMstWithUserID: record('owner'),
    sendFabricEvent: record('event'),
    reportError: record('error'),
  } as unknown as Monitor;
  return { monitor, /** Returns the calls since the last time. */ taken: () => calls.splice(0) };
}

/** The call that hands over a connection of an SDK to the conference `standup`. */
export const addedBy = (sdk: string, name: string, fabricTransmissionDirection: string) => [
  'add',
  name,
  sdk,
  'multiplex',
  'standup',
  { remoteEndpointType: 'server', fabricTransmissionDirection },
];

/** The call that names the owner of a stream. */
export const owner = (pc: string, user: string, ssrc: number, label: string) => [
  'owner',
  pc,
  user,
  'standup',
  ssrc,
  label,
];

/** The call that sends an event. */
export const event = (pc: string | null, name: string, data?: object) => [
  'event',
  pc,
  name,
  'standup',
  ...(data ? [data] : []),
];

/** A sender or a receiver whose reports the test writes. */
export class FakeRtp {
  track = { kind: 'video' };
  constructor(
    readonly type: 'inbound-rtp' | 'outbound-rtp',
    public ssrcs: number[] = [],
  ) {}
  async getStats() {
    const reports = this.ssrcs.map((ssrc): [string, object] => [`${ssrc}`, { type: this.type, ssrc }]);
    return new Map([['codec', { type: 'codec' }], ...reports]);
  }
}

/** A PeerConnection that emits, and counts its listeners. */
export class FakeConnection extends EventTarget {
  signalingState = 'stable';
  localDescription: object | null = null;
  remoteDescription: object | null = null;
  transceivers: object[] = [];
  listeners = 0;
  constructor(readonly name: string) {
    super();
  }
  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    this.listeners++;
    super.addEventListener(...args);
  }
  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    this.listeners--;
    super.removeEventListener(...args);
  }
  getTransceivers = () => this.transceivers;
  negotiate(): void {
    this.dispatchEvent(new Event('signalingstatechange'));
  }
}

type Listener = (...args: unknown[]) => void;

/** An emitter as livekit-client has them: a listener that throws breaks emit(). */
export class Emitter {
  readonly listeners = new Map<string, Listener[]>();
  on(event: string, listener: Listener): this {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
    return this;
  }
  off(event: string, listener: Listener): this {
    const left = this.listeners.get(event) ?? [];
    const at = left.indexOf(listener);
    this.listeners.set(
      event,
      left.filter((_, i) => i !== at),
    );
    return this;
  }
  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(...args);
  }
  get count(): number {
    return [...this.listeners.values()].flat().length;
  }
}

/** Runs promises and the timers of the given time. */
export const run = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
