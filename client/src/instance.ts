// What an instance holds: its session and the application's callbacks.

import { Invalid, later } from './result.ts';
import type { Scope, Session } from './session.ts';
import type { InitCallback, StatsCallback } from './types.ts';
import { kindOf } from './validate.ts';
import type { WifiHandler } from './wifi.ts';

export class Instance {
  session: Session | null = null;
  initCallback: InitCallback | null = null;
  statsCallback: StatsCallback | null = null;
  wifi: WifiHandler | null = null;
  readonly #subscribers = new Map<string, ((...args: unknown[]) => void)[]>();

  /** Registers one more callback of on(). */
  subscribe(name: string, callback: (...args: unknown[]) => void): void {
    this.#subscribers.set(name, [...(this.#subscribers.get(name) ?? []), callback]);
  }

  /** Calls the callbacks of on(), later. */
  emit(name: string, ...args: unknown[]): void {
    for (const callback of this.#subscribers.get(name) ?? []) later(callback, ...args);
  }
}

/**
 * The fabric that an operation means, or the conference: for null where that is allowed,
 * and for a fabric that has ended (API-12, FAB-11).
 */
export function findScope(session: Session, pc: unknown, conferenceID: string, nullAllowed: boolean): Scope {
  if (pc === null || pc === undefined) {
    if (nullAllowed) return { conferenceID };
    throw new Invalid(`pc must be a PeerConnection, got ${kindOf(pc)}`);
  }
  const fabric = session.match(pc, conferenceID);
  if (fabric) return { fabric };
  if (session.knows(conferenceID)) return { conferenceID };
  throw new Invalid('no fabric of this conferenceID is monitored');
}
