// The way to the collector (protocol sections 4 and 8): a WebSocket that resumes, and the
// POST door where WebSockets are refused and when the page goes.

import { parseLine, post, Refusal, refused, type Token } from './auth.ts';
import type { Clock } from './clock.ts';
import { type Entry, maxFrameBytes, type Queue } from './queue.ts';
import { text } from './result.ts';
import type { CsError } from './types.ts';
import { byteLength } from './validate.ts';

/** What the transport needs of its session. */
export interface TransportEnv {
  base: string;
  clock: Clock;
  queue: Queue;
  login(renew: boolean, late: (error: Refusal) => void): Promise<Token>;
  /** The hello of a connection. */
  hello(token: string): object;
  /** The announcements of fabrics and column sets, the same text each time. */
  fabricLine(fabric: number): string;
  columnsLine(set: number): string;
  welcomed(welcome: Record<string, unknown>): void;
  statsInterval(ms: number): void;
  /** Something went wrong, or works (again). */
  report(csError: CsError, msg: string): void;
}

export interface Transport {
  start(): void;
  /** Logs in again and connects anew. */
  restart(): void;
  /** Sends what can be sent now. */
  pump(): void;
  /** Hands what waits to a request that outlives the page. */
  flush(): void;
  /** Connects at once if it waits to try again. */
  wake(): void;
  online(): boolean;
  /** Sends what waits for at most so long, then says bye. */
  stop(graceMs: number): void;
}

const maxBackoffMs = 60_000;
const silenceMs = 30_000;
const helloMs = 15_000;
const bufferedLimit = 128 << 10;
const refusalsBeforePost = 3;
const socketAgainMs = 300_000;
const postPauseMs = 5_000;

export function createTransport(env: TransportEnv): Transport {
  const { clock, queue } = env;
  let token: Token | null = null;
  let renewing: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined; // the next attempt or POST
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | null = null;
  let ready = false;
  let paused = false;
  let connecting = false;
  let stopped = true;
  let attempts = 0;
  let socketRefusals = 0;
  let postUntil = 0;
  let windowFrames = 256;
  let generation = 0; // of logins: a restart makes older ones void
  let helloSent = 0;
  let announced = new Set<string>();

  function retry(minMs = 0): void {
    if (stopped) return;
    clearTimeout(timer);
    const backoff = Math.random() * Math.min(maxBackoffMs, 1000 * 2 ** attempts++);
    timer = setTimeout(connect, Math.max(minMs, backoff));
  }

  function fail(error: Refusal): void {
    ready = false;
    if (error.code === 'token_expired' || error.code === 'auth_failed') token = null;
    env.report(error.csError, error.message);
    if (error.retry) retry(error.retryAfterMs);
    else {
      stopped = true;
      queue.giveUp(error.csError, error.message);
    }
  }

  async function connect(): Promise<void> {
    if (stopped || connecting || socket) return;
    connecting = true;
    const mine = generation;
    try {
      if (!token) await renew(false);
      if (mine !== generation || stopped) return;
      if (clock.mono() < postUntil) await postAll();
      else openSocket();
    } catch (error) {
      if (mine === generation) fail(error instanceof Refusal ? error : new Refusal('httpError', text(error), true));
    } finally {
      if (mine === generation) connecting = false;
    }
  }

  async function renew(forceNew: boolean): Promise<void> {
    const mine = generation;
    const made = await env.login(forceNew, (late) => mine === generation && env.report(late.csError, late.message));
    if (mine !== generation) return;
    token = made;
    clock.sample(made.sent, made.received, made.at);
    env.report('success', 'authenticated');
    clearTimeout(renewing);
    renewing = setTimeout(() => {
      renew(true).catch(() => {
        token = null; // the next connection logs in, and reports
      });
    }, made.expiresInMs * 0.9);
  }

  function openSocket(): void {
    let ws: WebSocket;
    try {
      ws = new WebSocket(`${env.base.replace(/^http/, 'ws')}ws`, 'qos');
    } catch (error) {
      socketFailed(text(error));
      return;
    }
    socket = ws;
    ready = false;
    watch(helloMs);
    ws.onopen = () => {
      helloSent = clock.mono();
      if (token) ws.send(JSON.stringify(env.hello(token.token)));
    };
    ws.onmessage = (event) => {
      if (socket !== ws) return;
      watch(silenceMs);
      const message = parseLine(event.data);
      if (message) handle(message);
    };
    ws.onclose = ws.onerror = () => {
      if (socket === ws) lost();
    };
  }

  /** Ends a connection that says nothing for two spans while something is expected of it. */
  function watch(ms: number, suspicious = false): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      const waiting = !ready || queue.unacked();
      if (waiting && (suspicious || !ready)) lost();
      else watch(silenceMs, waiting);
    }, ms);
  }

  function lost(refusal?: Refusal): void {
    const wasReady = ready;
    disconnect();
    if (refusal) fail(refusal);
    else if (wasReady) retry();
    else socketFailed('cannot connect over WebSockets');
  }

  function socketFailed(msg: string): void {
    env.report('wsChannelFailure', msg);
    if (++socketRefusals >= refusalsBeforePost) {
      socketRefusals = refusalsBeforePost - 1;
      postUntil = clock.mono() + socketAgainMs;
    }
    retry();
  }

  function disconnect(bye = ''): void {
    const ws = socket;
    socket = null;
    ready = paused = false;
    clearTimeout(watchdog);
    clearTimeout(pause);
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
    try {
      if (bye && ws.readyState === 1) ws.send(bye);
      ws.close(1000);
    } catch {
      // it was closed already
    }
  }

  function handle(message: Record<string, unknown>): void {
    const code = String(message.code ?? '');
    const msg = String(message.message ?? code);
    const csError = (message.csError ?? 'wsChannelFailure') as CsError;
    switch (message.type) {
      case 'welcome':
        welcomed(message);
        break;
      case 'ack':
        queue.ack(Number(message.seq));
        pump();
        break;
      case 'nack':
        queue.nack(Number(message.seq), csError, msg);
        env.report(csError, msg);
        break;
      case 'slow-down':
        if (message.statsIntervalMs) env.statsInterval(Number(message.statsIntervalMs));
        slowDown(Number(message.retryAfterMs) || 0);
        break;
      case 'bye':
        lost(new Refusal(csError, msg, message.retry === true, Number(message.retryAfterMs) || 0, code));
        break;
    }
  }

  function welcomed(welcome: Record<string, unknown>): void {
    clock.sample(helloSent, clock.mono(), Number(welcome.at));
    ready = true;
    attempts = socketRefusals = 0;
    announced = new Set();
    windowFrames = Number(welcome.windowFrames) || windowFrames;
    queue.rewind();
    queue.ack(Number(welcome.acked) || 0);
    env.welcomed(welcome);
    env.report('success', 'connected');
    pump();
  }

  function slowDown(ms: number): void {
    paused = true;
    clearTimeout(pause);
    pause = setTimeout(() => {
      paused = false;
      queue.rewind();
      pump();
    }, ms);
  }

  /** A frame with the context that this connection has not heard yet. */
  function lines(entry: Entry, known: Set<string>): string[] {
    const context = [...entry.fabrics.map(env.fabricLine), ...entry.sets.map(env.columnsLine)];
    const fresh = context.filter((line) => !known.has(line));
    for (const line of fresh) known.add(line);
    return [...fresh, entry.text()];
  }

  function pump(): void {
    const ws = socket;
    if (!ws || !ready || paused) return;
    if (!clock.synced()) {
      // After a sleep the next welcome brings the time.
      disconnect();
      attempts = 0;
      retry();
      return;
    }
    for (let entry = queue.next(windowFrames); entry; entry = queue.next(windowFrames)) {
      if (ws.bufferedAmount > bufferedLimit) {
        slowDownLocally();
        return;
      }
      for (const line of lines(entry, announced)) ws.send(line);
      queue.sent(entry);
    }
  }

  function slowDownLocally(): void {
    clearTimeout(timer);
    timer = setTimeout(pump, 250);
  }

  /** A POST body of what waits, within the limit; the entries in it count as sent. */
  function body(entries: readonly Entry[]): string {
    const known = new Set<string>();
    helloSent = clock.mono();
    let all = JSON.stringify(env.hello(token?.token ?? ''));
    let bytes = byteLength(all);
    for (const entry of entries) {
      const added = `\n${lines(entry, known).join('\n')}`;
      bytes += byteLength(added);
      if (bytes > maxFrameBytes) break;
      all += added;
      queue.sent(entry);
    }
    return all;
  }

  async function postAll(): Promise<void> {
    const answer = await post(`${env.base}frames`, body(queue.waiting()));
    const answers = answer.body.split('\n').map(parseLine);
    if (answer.status !== 200) throw refused(answer.status, answers[0] ?? null);
    for (const message of answers) if (message) handle(message);
    ready = true;
    clearTimeout(timer);
    timer = setTimeout(connect, queue.next(windowFrames) ? 0 : postPauseMs);
  }

  function flush(): void {
    if (!token || !clock.synced()) return;
    const room = maxFrameBytes - 8192; // for hello and context
    const all = queue.shrink(room);
    const size = all.reduce((sum, entry) => sum + entry.bytes, 0);
    // What was sent and is not acknowledged goes too where there is room: it is counted once.
    const entries = size <= room ? all : all.filter((entry) => !entry.sent);
    if (!entries.length) return;
    post(`${env.base}frames`, body([...entries]), true).catch(() => undefined);
  }

  function restart(): void {
    generation++;
    connecting = false;
    stopped = false;
    token = null;
    attempts = socketRefusals = postUntil = 0;
    disconnect();
    clearTimeout(timer);
    connect();
  }

  function stop(graceMs: number): void {
    const until = clock.mono() + graceMs;
    const end = () => {
      if (clock.mono() < until && (queue.next(windowFrames) || queue.unacked())) {
        setTimeout(end, 200);
        return;
      }
      stopped = true;
      generation++;
      flush();
      clearTimeout(timer);
      clearTimeout(renewing);
      disconnect('{"type":"bye","code":"going_away","csError":"success","message":"the session ended","retry":false}');
      queue.giveUp('failure', 'the session was replaced');
    };
    end();
  }

  return {
    start: restart,
    restart,
    pump,
    flush,
    online: () => ready,
    wake() {
      if (stopped || connecting) return;
      clock.synced() ? pump() : lost();
      if (!socket) {
        clearTimeout(timer);
        connect();
      }
    },
    stop,
  };
}
