// A monitor that records its calls, and connections as an SDK has them.

import { vi } from 'vitest';
import type { Monitor } from '../../src/sdk/attachment.ts';

/**
 * Calls of the monitor, in order; connections, senders and receivers by their names. As the library, it drops an owner
 * that a stream has already, a pause of a paused one, and the end of none.
 */
export function recordingMonitor() {
  const calls: unknown[][] = [];
  const given = new Map<unknown, { owner?: string; pause?: object | undefined }>();
  const ok = { status: 'success', msg: '', message: '' } as const;
  const nameOf = (arg: unknown) => (arg instanceof FakeConnection || arg instanceof FakeRtp ? arg.name : arg);
  function push(...call: unknown[]) {
    while (call.at(-1) === undefined) call.pop();
    calls.push(call.map(nameOf));
    return ok;
  }
  const of = (rtp: unknown) => {
    const own = given.get(rtp) ?? {};
    given.set(rtp, own);
    return own;
  };
  const monitor = {
    addNewFabric: (...args: unknown[]) => push('add', ...args),
    associateMstWithUserID(
      pc: unknown,
      user: unknown,
      conference: unknown,
      rtp: unknown,
      label: unknown,
      tag: unknown,
    ) {
      const owner = JSON.stringify([user, label, tag]);
      if (of(rtp).owner === owner) return ok;
      of(rtp).owner = owner;
      return push('owner', pc, user, conference, rtp, label, tag);
    },
    sendFabricEvent(pc: unknown, name: string, conference: unknown, data?: { ssrc?: unknown; reason?: string }) {
      if (!data?.ssrc) return push('event', pc, name, conference, data);
      const own = of(data.ssrc);
      const isPause = /(Mute|Pause)$/.test(name);
      if (isPause === Boolean(own.pause)) return ok;
      const reason = data.reason ?? own.pause;
      own.pause = isPause ? (reason as never) : undefined;
      return push('event', pc, name, conference, { ssrc: nameOf(data.ssrc), reason });
    },
    reportError: (...args: unknown[]) => push('error', ...args),
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
export const owner = (pc: string, user: string, rtp: number, label: string) => [
  'owner',
  pc,
  user,
  'standup',
  rtp,
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

/** A sender or a receiver. */
export class FakeRtp {
  track = { kind: 'video' };
  constructor(readonly name: number) {}
}

/** A PeerConnection. */
export class FakeConnection {
  localDescription: object | null = null;
  remoteDescription: object | null = null;
  transceivers: object[] = [];
  constructor(readonly name: string) {}
  getTransceivers = () => this.transceivers;
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
