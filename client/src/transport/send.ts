// Sending frames on the WebSocket, at the pace that the collector and the network allow.

import { giveUp, markSent, rewind, upNext } from '../queue.ts';
import type { Session } from '../session/state.ts';
import { linesOf } from '../wire.ts';
import { reconnect, safely } from './retry.ts';

const bufferedLimitBytes = 128 << 10;
const bufferedWaitMs = 250;

/** Sends what can be sent now. */
export function pump(s: Session): void {
  if (s.halted) giveUp(s.queue, s.halted.csError, s.halted.message);
  const ws = s.socket;
  while (ws && s.ready && !s.sendingPaused) {
    const entry = upNext(s.queue, s.frameWindow);
    if (!entry) return;
    if (!s.clock.synced())
      reconnect(s); // after a sleep the next welcome brings the time
    else if (ws.bufferedAmount > bufferedLimitBytes) hold(s, bufferedWaitMs);
    else
      safely(s, () => {
        for (const line of linesOf(entry, s.announcements, s.announced)) ws.send(line);
        markSent(s.queue, entry);
      });
  }
}

/** Sends nothing for so long; then all that is not acknowledged again, or what follows. */
export function hold(s: Session, ms: number, rewinds = false): void {
  s.sendingPaused = true;
  s.rewinds = rewinds;
  s.pause(ms);
}

/** Ends a pause. */
export function resume(s: Session): void {
  s.sendingPaused = false;
  if (s.rewinds) rewind(s.queue);
  pump(s);
}
