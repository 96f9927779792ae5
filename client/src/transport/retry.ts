// The end of a connection or of an attempt, and when the next one follows.

import { Refusal } from '../auth.ts';
import { giveUp } from '../queue.ts';
import { attempt, text } from '../result.ts';
import { reportOnce } from '../session/results.ts';
import type { Session } from '../session/state.ts';

const maxBackoffMs = 60_000;
const refusalsBeforePost = 3;
const socketAgainMs = 300_000;
const steadyMs = 10_000; // a connection that lasted so long was a good one

/** Whatever was thrown, as a failure of an exchange. */
export const asRefusal = (error: unknown) =>
  error instanceof Refusal ? error : new Refusal('httpError', text(error), true);

/** Closes the WebSocket and cancels what was to follow on it. */
export function disconnect(s: Session): void {
  const ws = s.socket;
  s.socket = null;
  s.ready = s.sendingPaused = false;
  for (const timer of [s.watchdog, s.pause, s.nextTry]) timer();
  if (!ws) return;
  ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
  attempt(() => ws.close(1000)); // it may be closed already
}

/** Exponential back-off with full jitter. minMs is what the collector asks for: wake() waits for it too. */
export function retry(s: Session, minMs = 0): void {
  s.notBeforeMs = s.clock.mono() + minMs;
  if (!s.stopped) s.nextTry(Math.max(minMs, Math.random() * Math.min(maxBackoffMs, 1000 * 2 ** s.attempts++)));
}

/** Connects anew with the patience of a first attempt. */
export function reconnect(s: Session, minMs = 0): void {
  disconnect(s);
  s.attempts = 0;
  retry(s, minMs);
}

/** Reports a refusal, and retries or halts. */
export function fail(s: Session, refusal: Refusal, wasReady = s.ready): void {
  const { csError, message, waitMs } = refusal;
  s.ready = false;
  const isAuth = csError === 'authError';
  // A token may be over, or of another key of the collector's: that is no failure before a
  // fresh login is refused too.
  const stale = isAuth && s.sessionToken && !s.doubted;
  if (!stale) reportOnce(s, csError, message);
  if (isAuth) {
    s.sessionToken = null;
    s.doubted = true;
  }
  // After a welcome only a limit can be hit, also where an older collector calls it permanent;
  // and a generator that worked before may work again.
  if (stale || refusal.mayRetry || wasReady || (s.welcomedAtMs && csError === 'tokenGenerationError')) retry(s, waitMs);
  else halt(s, refusal);
}

/** Sends nothing more until restart(). */
function halt(s: Session, refusal: Refusal): void {
  s.stopped = true;
  s.halted = refusal;
  s.renewal();
  giveUp(s.queue, refusal.csError, refusal.message);
}

/** The connection is over: by a refusal, or without one. */
export function lost(s: Session, refusal?: Refusal): void {
  const wasReady = s.ready;
  if (wasReady && s.clock.mono() - s.welcomedAtMs > steadyMs) s.attempts = 0;
  disconnect(s);
  if (refusal) fail(s, refusal, wasReady);
  else if (wasReady) retry(s);
  else socketFailed(s, 'no WebSocket');
}

/** A WebSocket ended before its welcome. After some of these frames are sent by POST for a while. */
export function socketFailed(s: Session, msg: string): void {
  // While frames are sent by POST, a WebSocket that fails is no outage.
  if (!s.posting) reportOnce(s, 'wsChannelFailure', msg);
  const already = s.posting;
  s.posting ||= ++s.socketRefusals >= refusalsBeforePost;
  if (s.posting) s.postUntilMs = s.clock.mono() + socketAgainMs;
  if (s.posting === already) retry(s);
  else s.nextTry(0);
}

/** A WebSocket or a message that throws ends the connection, and nothing reaches the page. */
export function safely(s: Session, task: () => void): void {
  try {
    task();
  } catch (error) {
    lost(s, new Refusal('wsChannelFailure', text(error), true));
  }
}
