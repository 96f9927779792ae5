// Frames by POST (protocol section 8): where WebSockets are refused, and when the page ends.

import { type Message, post } from '../auth.ts';
import { type Entry, markSent, maxEntryBytes, shrink, total, upNext } from '../queue.ts';
import type { Session } from '../session/state.ts';
import { postBody } from '../wire.ts';
import { hello } from './hello.ts';
import { receive } from './receive.ts';

const pauseMs = 5_000; // between two POSTs when nothing waits

const send = (s: Session, entries: readonly Entry[], outlivesPage?: boolean): Promise<Message[]> =>
  post(
    `${s.info.base}frames`,
    postBody(hello(s), entries, s.announcements, (entry) => markSent(s.queue, entry)),
    outlivesPage,
  );

/** Sends what waits, and schedules the next POST. */
export async function postWaiting(s: Session): Promise<void> {
  const { queue, clock, generation } = s;
  // After a sleep the answer to a bare hello brings the time.
  const synced = clock.synced();
  const entries = synced ? [...queue.pending] : [];
  if (s.ready && synced && !entries.length) {
    s.nextTry(pauseMs);
    return;
  }
  const { ackedSeq } = queue;
  const answers = await send(s, entries);
  if (generation !== s.generation) return;
  for (const answer of answers) receive(s, answer);
  // Without a welcome it was no answer of the collector.
  const goesOn = s.ready && (!entries.length || (queue.ackedSeq > ackedSeq && upNext(queue, s.frameWindow)));
  if (!s.stopped) s.nextTry(goesOn ? 0 : pauseMs);
}

/** Sends what waits by a request that outlives the page. last: frames without room in it are dropped. */
export function flush(s: Session, last = true): void {
  if (!s.sessionToken || !s.clock.synced()) return;
  if (last) shrink(s.queue, maxEntryBytes);
  const all = s.queue.pending;
  // Frames that are not acknowledged are sent again where there is room: they are counted once.
  const entries = total(all) <= maxEntryBytes ? all : all.filter((entry) => !entry.sent);
  if (entries.length) send(s, entries, true).catch(() => undefined);
}
