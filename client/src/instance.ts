// What an instance holds: its session and the application's callbacks.

import { fail, hand, Invalid, later } from './result.ts';
import { createSession, type Session, type SessionInfo } from './session.ts';
import type { InitCallback, StatsCallback } from './types.ts';
import type { WifiHandler } from './wifi.ts';

/** The state behind the operations of one instance. */
export interface Instance {
  /** Where this file was loaded from, when that can be seen. */
  scriptUrl: string | undefined;
  session?: Session;
  initCallback?: InitCallback | undefined;
  statsCallback?: StatsCallback | undefined;
  wifi?: WifiHandler;
  /** Every PeerConnection that addNewFabric() got, with the conferences that it was added to. */
  known: WeakMap<object, Set<string>>;
  /** The callbacks of on(), by event: each once, however often it was registered. */
  subscribers: Record<string, Set<(...args: unknown[]) => unknown>>;
}

/** Calls the callbacks of on(), later. */
function emit({ subscribers }: Instance, name: string, ...args: unknown[]): void {
  for (const callback of subscribers[name] ?? []) later(callback, ...args);
}

/** The session that initialize() began. */
export function sessionOf({ session }: Instance): Session {
  if (!session) throw new Invalid('initialize() must be called first');
  const halted = session.halted();
  if (halted) fail(`initialize() again: ${halted.message}`);
  return session;
}

/** Goes on with the session where the user is the same, else begins another one (INIT-06). */
export function begin(instance: Instance, info: SessionInfo): void {
  const before = instance.session;
  if (before?.continues(info)) {
    before.again(info);
    return;
  }
  before?.close();
  const session: Session = createSession(info, {
    report(csError, msg) {
      if (instance.session !== session) return; // it was replaced and sends its last frames
      later(instance.initCallback, csError, msg);
      if (csError !== 'success') emit(instance, 'error', csError, msg);
    },
    listening: () => Boolean(instance.statsCallback || instance.subscribers.stats),
    stats(stats) {
      // An answer of getStats brought them: no task of its own is needed to be asynchronous.
      queueMicrotask(() => {
        for (const callback of [instance.statsCallback, ...(instance.subscribers.stats ?? [])]) hand(callback, stats);
      });
    },
    wifi: () => instance.wifi,
    known: instance.known,
  });
  instance.session = session;
}
