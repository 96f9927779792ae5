// The life of a user's session, from initialize() to the initialize() of another user.

import { createClock, pageClocks } from '../clock.ts';
import type { Instance } from '../instance.ts';
import { createQueue } from '../queue.ts';
import { json } from '../result.ts';
import { defaultBounds } from '../stats/quality.ts';
import { createTimer } from '../timer.ts';
import { renewSilently } from '../transport/login.ts';
import { resume } from '../transport/send.ts';
import { checkSilence } from '../transport/socket.ts';
import { connect, fresh, restart, stop } from '../transport/transport.ts';
import { endAll, measureAll, readAllStates } from './fabrics.ts';
import { watchPage } from './page.ts';
import type { Session, SessionInfo } from './state.ts';

const graceMs = 10_000;

/** Begins a session. */
export function createSession(info: SessionInfo, instance: Instance): Session {
  const clock = createClock(pageClocks);
  const s: Session = {
    ...fresh,
    instance,
    info,
    clock,
    queue: createQueue(clock),
    id: '',
    reported: new Set(),
    generation: 0,
    announced: new Set(),
    frameWindow: 256,
    fabrics: [],
    ended: [],
    cached: [],
    lastFabric: 0,
    announcements: new Map(),
    renamed: new Map(),
    urlTemplate: '',
    urlByFabric: new Map(),
    bounds: defaultBounds,
    periodMs: 10_000,
    measuredAtMs: clock.mono(),
    sendsSoon: false,
    nextTry: createTimer(() => connect(s)),
    renewal: createTimer(() => renewSilently(s)),
    pause: createTimer(() => resume(s)),
    watchdog: createTimer(() => checkSilence(s)),
    measureTimer: createTimer(() => measureAll(s)),
    statesTimer: createTimer(() => readAllStates(s)),
  };
  start(s);
  return s;
}

function start(s: Session): void {
  s.listening?.abort();
  watchPage(s);
  restart(s);
}

/** Whether initialize() with these arguments goes on with this session (INIT-06). */
export const continues = (s: Session, next: SessionInfo) => identityOf(next) === identityOf(s.info);

const identityOf = ({ appID, base, userID }: SessionInfo) => json([appID, base, userID]);

/** initialize() again for the same user: logs in anew, keeps fabrics and queue. */
export function continueSession(s: Session, next: SessionInfo): void {
  s.info = next;
  s.reported.clear();
  start(s);
}

/** Ends the session for another one. */
export function retire(s: Session): void {
  endAll(s, 'replaced');
  s.tester?.then(
    (tester) => tester.end(),
    () => undefined,
  );
  s.listening?.abort();
  s.measureTimer();
  s.statesTimer();
  stop(s, s.clock.mono() + graceMs);
}
