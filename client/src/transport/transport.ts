// A session's connection to the collector (protocol sections 4 and 8): a WebSocket that resumes,
// and POST where WebSockets are refused and when the page ends.

import { giveUp } from '../queue.ts';
import { attempt } from '../result.ts';
import type { Session } from '../session/state.ts';
import { renew } from './login.ts';
import { flush, postWaiting } from './post.ts';
import { asRefusal, disconnect, fail } from './retry.ts';
import { pump } from './send.ts';
import { open } from './socket.ts';

const stopPollMs = 200;

/** The state that a restart begins with. */
export const fresh = {
  sessionToken: null,
  doubted: false,
  socket: null,
  connecting: false,
  ready: false,
  stopped: false,
  halted: undefined,
  suspended: false,
  helloSentMs: 0,
  helloToken: null,
  welcomedAtMs: 0,
  sendingPaused: false,
  rewinds: false,
  overdue: false,
  attempts: 0,
  notBeforeMs: 0,
  socketRefusals: 0,
  posting: false,
  postUntilMs: 0,
};

const isOff = (s: Session) => s.stopped || s.suspended;

/** Logs in where that is needed, and opens a connection or sends a POST. */
export async function connect(s: Session): Promise<void> {
  s.nextTry();
  if (isOff(s) || s.connecting || s.socket) return;
  s.connecting = true;
  const { generation } = s;
  try {
    if (!s.sessionToken) await renew(s, false);
    if (generation === s.generation && !isOff(s)) await (s.clock.mono() < s.postUntilMs ? postWaiting(s) : open(s));
  } catch (error) {
    if (generation === s.generation) fail(s, asRefusal(error));
  }
  if (generation === s.generation) s.connecting = false;
}

/** Logs in (again) and connects anew. */
export function restart(s: Session): void {
  s.generation++;
  s.renewal();
  disconnect(s);
  Object.assign(s, fresh);
  connect(s);
}

/** Connects at once if it waits to try again, or as soon as the collector allows. */
export function wake(s: Session): void {
  s.suspended = false;
  const waitMs = s.notBeforeMs - s.clock.mono();
  if (s.socket) pump(s);
  else if (waitMs > 0) s.nextTry(waitMs);
  else connect(s);
}

/** Ends the connection until wake(): an open one would keep the page out of the back/forward cache. */
export function suspend(s: Session): void {
  s.suspended = true;
  s.connecting = false;
  s.generation++; // a request of a page that was in the cache may never be answered
  disconnect(s);
}

/** Sends what waits before a page that may end at any moment. A POST would take its time. */
export const sendNow = (s: Session) => (s.socket && s.ready ? pump(s) : flush(s, false));

/** Sends what waits until then at most, in ms of the monotonic clock, and ends. */
export function stop(s: Session, untilMs: number): void {
  if (!s.stopped && s.clock.mono() < untilMs && s.queue.pending.length) {
    setTimeout(() => stop(s, untilMs), stopPollMs);
    return;
  }
  s.stopped = true;
  s.generation++;
  flush(s);
  s.renewal();
  attempt(() => s.socket?.send('{"type":"bye"}')); // it throws where it is not open yet
  disconnect(s);
  giveUp(s.queue, 'failure', 'replaced');
}
