// The frames of a session: queued, and sent.

import type { Fabric } from '../fabric/state.ts';
import { type Frame, maxEntryBytes, push } from '../queue.ts';
import { Invalid } from '../result.ts';
import { pump } from '../transport/send.ts';
import { sendNow } from '../transport/transport.ts';
import { lastFabricOf } from './conferences.ts';
import type { Session } from './state.ts';

/** Queues a frame, and returns its number; 0 when it is too large. */
export function send(s: Session, frame: Frame): number {
  const seq = push(s.queue, frame);
  // Frames that were measured together are sent together, when all have answered: a message
  // and its answer alone cost the page several times what they cost among others.
  if (frame.type !== 'stats') pump(s);
  return seq;
}

/** Sends what waits before the task ends, once for all that end together: the page may end at once. */
export function sendSoon(s: Session): void {
  if (!s.sendsSoon)
    queueMicrotask(() => {
      s.sendsSoon = false;
      sendNow(s);
    });
  s.sendsSoon = true;
}

/** Records frames of a fabric, or of the conference, and returns their numbers. */
export function recorder(s: Session, fabric: Fabric | undefined, conferenceID: string) {
  const number = fabric?.info.fabric;
  const last = lastFabricOf(s, conferenceID);
  // A frame of the conference that is dropped is declared lost by a fabric that can still be announced.
  const declaredBy = number ?? last?.fabric ?? 0;
  return (type: Frame['type'], members: object, done?: Frame['done']): number => {
    const stamp = s.clock.stamp();
    const seq = send(s, {
      type,
      stamp,
      done,
      fabric: s.announcements.has(declaredBy) ? declaredBy : 0,
      insideAt: fabric ? undefined : (last?.addedAt ?? stamp),
      members: fabric ? { fabric: number, ...members } : { conferenceID, ...members },
    });
    if (!seq) throw new Invalid(`the frame is over ${maxEntryBytes} bytes`);
    return seq;
  };
}
