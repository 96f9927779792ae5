// The way to the collector (protocol sections 4 and 8): a WebSocket that resumes, and the
// POST door where WebSockets are refused and when the page goes.

import { parseLine, post, Refusal, refused, type Token } from './auth.ts';
import type { Clock } from './clock.ts';
import { type Entry, maxEntryBytes, type Queue, total } from './queue.ts';
import { attempt, json, text } from './result.ts';
import { createTimer } from './timer.ts';
import type { CsError } from './types.ts';
import { type Context, linesOf, postBody } from './wire.ts';

/** What the transport needs of its session. */
export interface TransportEnv extends Context {
  base: string;
  clock: Clock;
  queue: Queue;
  login(renew: boolean, late: (error: Refusal) => void): Promise<Token>;
  /** The hello of a connection. */
  hello(token: Token | null): object;
  welcomed(welcome: Record<string, unknown>): void;
  statsInterval(ms: number): void;
  /** Something went wrong, or works (again). */
  report(csError: CsError, msg: string): void;
}

type Message = Record<string, unknown>;

const maxBackoffMs = 60_000;
const silenceMs = 12_000; // longer than a collector takes to answer for what it has, or to say that it cannot
const helloMs = 15_000;
const bufferedLimit = 128 << 10;
const refusalsBeforePost = 3;
const socketAgainMs = 300_000;
const postPauseMs = 5_000;
const steadyMs = 10_000; // a connection that lasted so long was a good one
const renewAgainMs = 60_000;

const asRefusal = (error: unknown) => (error instanceof Refusal ? error : new Refusal('httpError', text(error), true));

/** One session's way to the collector. */
export type Transport = ReturnType<typeof createTransport>;

export function createTransport(env: TransportEnv) {
  const { base, clock, queue, report } = env;
  let token: Token | null = null;
  let socket: WebSocket | null = null;
  let heard = new Set<string>(); // what this connection knows
  let ready = false;
  let paused = false;
  let connecting = false;
  let stopped = true;
  let failure: Refusal | undefined; // why it stopped for good
  let resting = false;
  let attempts = 0;
  let socketRefusals = 0;
  let notBefore = 0; // of clock.mono(): from the collector's retryAfterMs
  let postUntil = 0; // on the monotonic clock: WebSockets are not tried before
  let posting = false; // WebSockets are refused; the POST door stands in
  let windowFrames = 256;
  let generation = 0; // of logins: a restart or a rest makes older ones void
  let helloSent = 0;
  let helloToken: Token | null = null;
  let doubted = false; // a token was refused, and no connection has been welcomed since
  let welcomedAt = 0;
  const renewal = createTimer();
  const nextTry = createTimer(); // to connect, or to POST
  const watchdog = createTimer();
  const pause = createTimer();

  const hello = () => {
    helloSent = clock.mono();
    helloToken = token;
    return env.hello(token);
  };

  const body = (entries: readonly Entry[]) => postBody(hello(), entries, env, queue.sent);

  function disconnect(): void {
    const ws = socket;
    socket = null;
    ready = paused = false;
    for (const timer of [watchdog, pause, nextTry]) timer();
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
    attempt(() => ws.close(1000)); // it may be closed already
  }

  const connectIn = (ms: number) => nextTry(ms, connect);

  /** Exponential back-off with full jitter. What the collector tells to wait stands over wake(). */
  function retry(minMs = 0): void {
    notBefore = clock.mono() + minMs;
    if (!stopped) connectIn(Math.max(minMs, Math.random() * Math.min(maxBackoffMs, 1000 * 2 ** attempts++)));
  }

  function fail(refusal: Refusal, wasReady = ready): void {
    const { csError, message, waitMs } = refusal;
    ready = false;
    const unknown = csError === 'authError';
    // That a token is over, or that the collector knows it no more (it may have another key
    // now), is no failure: a fresh login says what is.
    const stale = unknown && token && !doubted;
    if (!stale) report(csError, message);
    if (unknown) {
      token = null;
      doubted = true;
    }
    // After a welcome only a limit can be hit, whatever older collectors say of it; and a
    // generator that worked before may work again.
    if (stale || refusal.mayRetry || wasReady || (welcomedAt && csError === 'tokenGenerationError')) {
      retry(waitMs);
      return;
    }
    stopped = true;
    failure = refusal;
    renewal();
    pump();
  }

  const away = () => stopped || resting;

  async function connect(): Promise<void> {
    nextTry();
    if (away() || connecting || socket) return;
    connecting = true;
    const mine = generation;
    try {
      if (!token) await renew(false);
      if (mine === generation && !away()) await exchange();
    } catch (error) {
      if (mine === generation) fail(asRefusal(error));
    }
    if (mine === generation) connecting = false;
  }

  const exchange = () => (clock.mono() < postUntil ? postAll() : open());

  async function renew(forceNew: boolean): Promise<void> {
    const mine = generation;
    const fresh = await env.login(forceNew, (late) => {
      if (mine === generation) report(late.csError, late.message);
    });
    if (mine !== generation) return;
    token = fresh;

    // A renewal says nothing about the connection, which may be in an outage.
    if (!forceNew) report('success', 'authenticated');
    // Who logged in together does not renew together.
    renewIn(fresh.expiresInMs * (0.85 + Math.random() * 0.1));
  }

  function renewIn(ms: number): void {
    renewal(
      Math.max(ms, renewAgainMs),
      // The old token is still good; when it is over, the next connection logs in and reports.
      () =>
        renew(true).catch((error) => {
          if (!stopped) renewIn(Math.max(asRefusal(error).waitMs, renewAgainMs * (1 + Math.random())));
        }),
    );
  }

  function open(): void {
    try {
      const ws = new WebSocket(`${base.replace(/^http/, 'ws')}ws`, 'qos');
      socket = ws;
      ready = false;
      watch(helloMs);
      ws.onopen = () => safely(() => ws.send(json(hello())));
      ws.onmessage = (event) => {
        watch(silenceMs);
        safely(() => handle(parseLine(event.data)));
      };
      // Where a policy forbids the connection, Chromium reports no close.
      ws.onclose = ws.onerror = () => lost();
    } catch (error) {
      socketFailed(text(error));
    }
  }

  /** A socket or an answer that throws is a connection lost, nothing for the page. */
  function safely(task: () => void): void {
    try {
      task();
    } catch (error) {
      lost(new Refusal('wsChannelFailure', text(error), true));
    }
  }

  /** Ends a connection that says nothing for two spans while something is expected of it. */
  function watch(ms: number, suspicious = false): void {
    watchdog(ms, () => {
      const waiting = queue.unacked();
      if (!ready || (waiting && suspicious)) lost();
      else watch(silenceMs, waiting);
    });
  }

  function lost(refusal?: Refusal): void {
    const wasReady = ready;
    if (wasReady && clock.mono() - welcomedAt > steadyMs) attempts = 0;
    disconnect();
    if (refusal) fail(refusal, wasReady);
    else if (wasReady) retry();
    else socketFailed('no WebSocket');
  }

  function socketFailed(msg: string): void {
    // While the POST door stands in, an attempt to get back is no outage.
    if (!posting) report('wsChannelFailure', msg);
    const already = posting;
    posting ||= ++socketRefusals >= refusalsBeforePost;
    if (posting) postUntil = clock.mono() + socketAgainMs;
    if (posting === already) retry();
    else connectIn(0);
  }

  /** Connects anew with the patience of a first attempt. */
  function reconnect(minMs = 0): void {
    disconnect();
    attempts = 0;
    retry(minMs);
  }

  /** Sends nothing for so long; then again from the last acknowledged number, or on. */
  function hold(ms: number, again = false): void {
    paused = true;
    pause(ms, () => {
      paused = false;
      if (again) queue.rewind();
      pump();
    });
  }

  /** Sends what can be sent now. */
  function pump(): void {
    if (failure) queue.giveUp(failure.csError, failure.message);
    const ws = socket;
    while (ws && ready && !paused) {
      const entry = queue.upNext(windowFrames);
      if (!entry) return;
      if (!clock.synced())
        reconnect(); // after a sleep the next welcome brings the time
      else if (ws.bufferedAmount > bufferedLimit) hold(250);
      else
        safely(() => {
          for (const line of linesOf(entry, env, heard)) ws.send(line);
          queue.sent(entry);
        });
    }
  }

  function handle(message: Message | null): void {
    if (!message) return;
    if (message.type === 'ack') {
      if (queue.ack(Number(message.seq))) {
        attempts = 0;
        report('success', 'connected');
      }
      pump();
      return;
    }
    const refusal = refused(message);
    const { csError, message: msg } = refusal;
    switch (message.type) {
      case 'welcome':
        welcomed(message);
        break;
      case 'nack':
        queue.nack(Number(message.seq), csError, msg);
        report(csError, msg);
        break;
      case 'slow-down':
        if (message.statsIntervalMs) env.statsInterval(Number(message.statsIntervalMs));
        hold(refusal.waitMs, true);
        break;
      case 'bye':
        socketRefusals = 0; // a refusal proves that WebSockets get there
        // A token that ended while its successor was already here.
        if (refusal.reasonCode === 'token_expired' && token && token !== helloToken) reconnect(refusal.waitMs);
        else lost(refusal);
    }
  }

  function welcomed(welcome: Message): void {
    clock.sample(helloSent, clock.mono(), Number(welcome.at));
    ready = true;
    doubted = false;
    welcomedAt = clock.mono();
    if (socket) {
      posting = false;
      socketRefusals = 0;
    }
    heard = new Set();
    windowFrames = Number(welcome.windowFrames) || windowFrames;
    queue.rewind();
    queue.ack(Number(welcome.acked) || 0);
    env.welcomed(welcome);
    report('success', 'connected');
    pump();
  }

  async function postAll(): Promise<void> {
    // After a sleep the answer to a bare hello brings the time.
    const entries = clock.synced() ? queue.waiting() : [];
    if (ready && clock.synced() && !entries.length) {
      connectIn(postPauseMs);
      return;
    }
    const mine = generation;
    const acked = queue.lastAcked();
    const answers = await post(`${base}frames`, body(entries));
    if (mine !== generation) return;
    for (const answer of answers) handle(answer);
    // Without a welcome it was not the collector that answered.
    const goOn = ready && (!entries.length || (queue.lastAcked() > acked && queue.upNext(windowFrames)));
    if (!stopped) connectIn(goOn ? 0 : postPauseMs);
  }

  /** Hands what waits to a request that outlives the page; what finds no room is dropped when it is the last. */
  function flush(last = true): void {
    if (!token || !clock.synced()) return;
    if (last) queue.shrink(maxEntryBytes);
    const all = queue.waiting();
    // What was sent and is not acknowledged goes too where there is room: it is counted once.
    const fits = total(all) <= maxEntryBytes;
    const entries = fits ? all : all.filter((entry) => !entry.sent);
    if (entries.length) post(`${base}frames`, body(entries), true).catch(() => undefined);
  }

  return {
    pump,
    flush,

    /** The page may end without another word. Behind the POST door nothing goes at once. */
    covered: () => (socket && ready ? pump() : flush(false)),

    /** Why nothing is sent any more, until restart(). */
    halted: () => failure,

    /** Whether the collector knows who speaks and listens. */
    online: () => ready,

    /** Logs in (again) and connects anew. */
    restart(): void {
      generation++;
      connecting = stopped = posting = resting = doubted = false;
      token = null;
      failure = undefined;
      attempts = socketRefusals = postUntil = notBefore = welcomedAt = 0;
      renewal();
      disconnect();
      connect();
    },

    /** Connects at once if it waits to try again, or as soon as the collector allows. */
    wake(): void {
      resting = false;
      const waitMs = notBefore - clock.mono();
      if (socket) pump();
      else if (waitMs > 0) connectIn(waitMs);
      else connect();
    },

    /** Leaves the collector until wake(). */
    rest(): void {
      resting = true;
      connecting = false;
      generation++; // an answer may never come to a page that was in the cache
      disconnect();
    },

    /** Sends what waits for at most so long, then ends. */
    stop(graceMs: number): void {
      const until = clock.mono() + graceMs;
      const end = () => {
        if (!stopped && clock.mono() < until && queue.waiting().length) {
          setTimeout(end, 200);
          return;
        }
        stopped = true;
        generation++;
        flush();
        renewal();
        attempt(() => socket?.send('{"type":"bye"}')); // it throws where it is not open yet
        disconnect();
        queue.giveUp('failure', 'replaced');
      };
      end();
    },
  };
}
