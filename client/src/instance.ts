// What an instance holds: its session and the application's callbacks.

import { fail, hand, Invalid, later } from './result.ts';
import { createSession, type Session, type SessionInfo } from './session.ts';
import type { InitCallback, StatsCallback } from './types.ts';
import type { WifiHandler } from './wifi.ts';

/** The state behind the operations of one instance. */
export interface Instance {
  /** Where this file was loaded from, when that can be seen. */
  scriptUrl: string | undefined;
  current?: Session;
  initCallback?: InitCallback | undefined;
  /** Of initialize() calls that had no result yet. */
  unanswered: Set<InitCallback>;
  statsCallback?: StatsCallback | undefined;
  wifi?: WifiHandler | undefined;
  /** Every PeerConnection that addNewFabric() got, with the conferences that it was added to. */
  known: WeakMap<object, Set<string>>;
  /** The callbacks of on(), by event: each once, however often it was registered. */
  subscribers: Record<string, Set<(...args: unknown[]) => unknown>>;
  /** What the events that are answers said last, for callbacks that are registered later (PRE-06). */
  answers: Record<string, unknown[]>;
}

/** Calls the callbacks of on(), later. */
function emit({ subscribers }: Instance, name: string, ...args: unknown[]): void {
  for (const callback of subscribers[name] ?? []) later(callback, ...args);
}

/** Emits an event that is an answer: callbacks that are registered later get it too. */
export function answer(instance: Instance, name: string, ...args: unknown[]): void {
  instance.answers[name] = args;
  emit(instance, name, ...args);
}

/** Says why there are no results of a pre-call test. */
export function noResults(instance: Instance, reason: string): void {
  const results = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };
  answer(instance, 'preCallTestResults', 'failure', results, reason);
}

/** Why no pre-call test runs. */
export const noTests = 'this collector offers no pre-call tests';

/** The session that initialize() began. */
export function sessionOf({ current: session }: Instance): Session {
  if (!session) throw new Invalid('initialize() must be called first');
  const halted = session.halted();
  if (halted) fail(`initialize() again: ${halted.message}`);
  return session;
}

/** Goes on with the session where the user is the same, else begins another one (INIT-06). */
export function begin(instance: Instance, info: SessionInfo): void {
  const before = instance.current;
  if (before?.continues(info)) {
    before.again(info);
    return;
  }
  before?.retire();
  const session: Session = createSession(info, {
    report(csError, msg) {
      if (instance.current !== session) return; // it was replaced and sends its last frames
      for (const callback of new Set([...instance.unanswered, instance.initCallback])) later(callback, csError, msg);
      instance.unanswered.clear();
      if (csError !== 'success') emit(instance, 'error', csError, msg);
    },
    listening: () => Boolean(instance.statsCallback || instance.subscribers.stats),
    deliver(stats) {
      // An answer of getStats brought them: no task of its own is needed to be asynchronous.
      queueMicrotask(() => {
        for (const callback of [instance.statsCallback, ...(instance.subscribers.stats ?? [])]) hand(callback, stats);
      });
    },
    wifi: () => instance.wifi,
    known: instance.known,
  });
  instance.current = session;
  // Until there are configurations and tests, nobody waits for them (API-08).
  for (const name of ['defaultConfig', 'recommendedConfig']) answer(instance, name, { peerConnection: {}, media: {} });
  noResults(instance, info.config.disablePrecalltest ? 'disablePrecalltest is set' : noTests);
}
