// An instance: its session and the application's callbacks.

import { later } from './result.ts';
import type { Session } from './session/state.ts';
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
  /** The last arguments of events that are answers, for callbacks that are registered later (PRE-06). */
  answers: Record<string, unknown[]>;
}

/** Calls the callbacks of on(), later. */
export function emit({ subscribers }: Instance, name: string, ...args: unknown[]): void {
  for (const callback of subscribers[name] ?? []) later(callback, ...args);
}

/** Emits an event that is an answer: callbacks that are registered later get it too. */
export function answer(instance: Instance, name: string, ...args: unknown[]): void {
  instance.answers[name] = args;
  emit(instance, name, ...args);
}
