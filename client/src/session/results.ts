// The results and readings of a session that the application gets.

import { emit } from '../instance.ts';
import { hand, later } from '../result.ts';
import type { CsError, FabricStats } from '../types.ts';
import type { Session } from './state.ts';

/** Reports a result of initialize() or of sending, or an outage of a PeerConnection. */
export function report(s: Session, csError: CsError, msg: string): void {
  const { instance } = s;
  if (instance.current !== s) return; // it was replaced, and sends its last frames
  for (const callback of new Set([...instance.unanswered, instance.initCallback])) later(callback, csError, msg);
  instance.unanswered.clear();
  if (csError !== 'success') emit(instance, 'error', csError, msg);
}

/** Reports once per outage and kind, and success when sending works again (INIT-05). */
export function reportOnce(s: Session, csError: CsError, msg: string): void {
  if (s.reported.has(csError)) return;
  if (csError === 'success') s.reported.clear();
  s.reported.delete('success');
  s.reported.add(csError);
  report(s, csError, msg);
}

/** The application's callbacks for readings. */
export const readingCallbacks = ({ instance }: Session) =>
  [instance.statsCallback, ...(instance.subscribers.stats ?? [])].filter(Boolean);

/** Hands a reading to the application. */
export function deliverStats(s: Session, stats: FabricStats): void {
  // This runs in an answer of getStats: it needs no task of its own to be asynchronous.
  queueMicrotask(() => {
    for (const callback of readingCallbacks(s)) hand(callback, stats);
  });
}
