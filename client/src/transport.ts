// The way to the collector (protocol sections 4 and 8): a WebSocket that resumes, and the
// POST door where WebSockets are refused and when the page goes.

import { parseLine, post, Refusal, refused, type Token } from './auth.ts';
import type { Clock } from './clock.ts';
import { maxEntryBytes, type Queue } from './queue.ts';
import { text } from './result.ts';
import type { CsError } from './types.ts';
import { type Context, postBody, Speaker } from './wire.ts';

/** What the transport needs of its session. */
export interface TransportEnv extends Context {
  base: string;
  clock: Clock;
  queue: Queue;
  login(renew: boolean, late: (error: Refusal) => void): Promise<Token>;
  /** The hello of a connection. */
  hello(token: string): object;
  welcomed(welcome: Record<string, unknown>): void;
  statsInterval(ms: number): void;
  /** Something went wrong, or works (again). */
  report(csError: CsError, msg: string): void;
}

type Timer = ReturnType<typeof setTimeout>;

const maxBackoffMs = 60_000;
const silenceMs = 12_000; // longer than a collector takes to answer for what it has, or to say that it cannot
const helloMs = 15_000;
const bufferedLimit = 128 << 10;
const refusalsBeforePost = 3;
const socketAgainMs = 300_000;
const postPauseMs = 5_000;
const steadyMs = 10_000; // a connection that lasted so long was a good one
const renewAgainMs = 60_000;
const longestTimerMs = 86_400_000; // far below what setTimeout can count
const bye = '{"type":"bye"}';

export class Transport {
  readonly #env: TransportEnv;
  #token: Token | null = null;
  #socket: WebSocket | null = null;
  #speaker: Speaker;
  #ready = false;
  #paused = false;
  #connecting = false;
  #stopped = true;
  #resting = false;
  #attempts = 0;
  #socketRefusals = 0;
  #postUntil = 0; // on the monotonic clock: WebSockets are not tried before
  #posting = false; // WebSockets are refused; the POST door stands in
  #windowFrames = 256;
  #login = 0; // numbers the logins: a restart makes older ones void
  #helloSent = 0;
  #helloToken: Token | null = null;
  #doubted = false; // a token was refused, and no connection has been welcomed since
  #welcomedAt = 0;
  #renewal: Timer | undefined;
  #next: Timer | undefined; // the next attempt or POST
  #watchdog: Timer | undefined;
  #pause: Timer | undefined;

  constructor(env: TransportEnv) {
    this.#env = env;
    this.#speaker = new Speaker(env);
  }

  /** Whether the collector knows who speaks and listens. */
  online(): boolean {
    return this.#ready;
  }

  /** Logs in (again) and connects anew. */
  restart(): void {
    this.#login++;
    this.#connecting = this.#stopped = false;
    this.#token = null;
    this.#posting = this.#resting = this.#doubted = false;
    this.#attempts = this.#socketRefusals = this.#postUntil = 0;
    clearTimeout(this.#renewal);
    this.#disconnect();
    this.#connect();
  }

  /** Connects at once if it waits to try again. */
  wake(): void {
    this.#resting = false;
    if (this.#stopped || this.#connecting) return;
    if (this.#socket) this.pump();
    else this.#connect();
  }

  /** Leaves the collector until wake(). */
  rest(): void {
    this.#resting = true;
    this.#disconnect();
  }

  /** Sends what waits for at most so long, then ends. */
  stop(graceMs: number): void {
    const { clock, queue } = this.#env;
    const until = clock.mono() + graceMs;
    const end = () => {
      if (!this.#stopped && clock.mono() < until && queue.waiting().length) {
        setTimeout(end, 200);
        return;
      }
      this.#stopped = true;
      this.#login++;
      this.flush();
      clearTimeout(this.#renewal);
      this.#disconnect(bye);
      queue.giveUp('failure', 'the session was replaced');
    };
    end();
  }

  /** Hands what waits to a request that outlives the page. */
  flush(): void {
    const { clock, queue, base } = this.#env;
    if (!this.#token || !clock.synced()) return;
    queue.shrink(maxEntryBytes);
    const all = queue.waiting();
    // What was sent and is not acknowledged goes too where there is room: it is counted once.
    const fits = all.reduce((sum, entry) => sum + entry.bytes, 0) <= maxEntryBytes;
    const entries = fits ? all : all.filter((entry) => !entry.sent);
    if (entries.length) post(`${base}frames`, this.#body(entries), true).catch(() => undefined);
  }

  /** Sends what can be sent now. */
  pump(): void {
    const ws = this.#socket;
    if (!ws || !this.#ready || this.#paused) return;
    const { clock, queue } = this.#env;
    if (!clock.synced()) {
      // After a sleep the next welcome brings the time.
      this.#disconnect();
      this.#retry(0, 0);
      return;
    }
    for (let entry = queue.next(this.#windowFrames); entry; entry = queue.next(this.#windowFrames)) {
      if (ws.bufferedAmount > bufferedLimit) {
        this.#hold(250, false);
        return;
      }
      const sendLines = () => {
        for (const line of this.#speaker.lines(entry)) ws.send(line);
      };
      if (!this.#safely(sendLines)) return;
      queue.sent(entry);
    }
  }

  /** A socket or an answer that throws is a connection lost, nothing for the page. */
  #safely(task: () => void): boolean {
    try {
      task();
      return true;
    } catch (error) {
      this.#lost(new Refusal('wsChannelFailure', text(error), true));
      return false;
    }
  }

  /** Sends nothing for so long; then again from the last acknowledged number, or on. */
  #hold(ms: number, again: boolean): void {
    this.#paused = true;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#paused = false;
      if (again) this.#env.queue.rewind();
      this.pump();
    }, ms);
  }

  /** Exponential back-off with full jitter. */
  #retry(minMs = 0, attempts = this.#attempts): void {
    if (this.#stopped) return;
    this.#attempts = attempts + 1;
    const backoffMs = Math.random() * Math.min(maxBackoffMs, 1000 * 2 ** attempts);
    this.#connectIn(Math.max(minMs, backoffMs));
  }

  #connectIn(ms: number): void {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.#connect(), Math.min(ms, longestTimerMs));
  }

  #fail(error: Refusal): void {
    this.#ready = false;
    const unknown = error.csError === 'authError';
    // That a token is over, or that the collector knows it no more (it may have another key
    // now), is no failure: a fresh login says what is.
    const stale = unknown && this.#token && !this.#doubted;
    if (!stale) this.#env.report(error.csError, error.message);
    if (unknown) {
      this.#token = null;
      this.#doubted = true;
    }
    if (stale || error.retry) {
      this.#retry(error.retryAfterMs);
      return;
    }
    this.#stopped = true;
    clearTimeout(this.#renewal);
    this.#env.queue.giveUp(error.csError, error.message);
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#next);
    if (this.#stopped || this.#resting || this.#connecting || this.#socket) return;
    this.#connecting = true;
    const mine = this.#login;
    try {
      if (!this.#token) await this.#renew(false);
      if (mine !== this.#login || this.#stopped || this.#resting) return;
      if (this.#env.clock.mono() < this.#postUntil) await this.#postAll();
      else this.#open();
    } catch (error) {
      if (mine === this.#login)
        this.#fail(error instanceof Refusal ? error : new Refusal('httpError', text(error), true));
    } finally {
      if (mine === this.#login) this.#connecting = false;
    }
  }

  async #renew(forceNew: boolean): Promise<void> {
    const mine = this.#login;
    const { clock, login, report } = this.#env;
    const token = await login(forceNew, (late) => {
      if (mine === this.#login) report(late.csError, late.message);
    });
    if (mine !== this.#login) return;
    this.#token = token;
    clock.sample(token.sent, token.received, token.at);
    // A renewal says nothing about the connection, which may be in an outage.
    if (!forceNew) report('success', 'authenticated');
    this.#renewIn(token.expiresInMs * 0.9);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(
      // The old token is still good; when it is over, the next connection logs in and reports.
      () => this.#renew(true).catch(() => this.#stopped || this.#renewIn(renewAgainMs)),
      Math.min(Math.max(ms, renewAgainMs), longestTimerMs),
    );
  }

  #open(): void {
    let ws: WebSocket;
    try {
      ws = new WebSocket(`${this.#env.base.replace(/^http/, 'ws')}ws`, 'qos');
    } catch (error) {
      this.#socketFailed(text(error));
      return;
    }
    this.#socket = ws;
    this.#ready = false;
    this.#watch(helloMs);
    ws.onopen = () => this.#safely(() => ws.send(JSON.stringify(this.#hello())));
    ws.onmessage = (event) => {
      this.#watch(silenceMs);
      this.#safely(() => this.#handle(parseLine(event.data)));
    };
    ws.onclose = () => this.#lost();
  }

  #hello(): object {
    this.#helloSent = this.#env.clock.mono();
    this.#helloToken = this.#token;
    return this.#env.hello(this.#token?.token ?? '');
  }

  /** Ends a connection that says nothing for two spans while something is expected of it. */
  #watch(ms: number, suspicious = false): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      const waiting = this.#env.queue.unacked();
      if (!this.#ready || (waiting && suspicious)) this.#lost();
      else this.#watch(silenceMs, waiting);
    }, ms);
  }

  #lost(refusal?: Refusal): void {
    const wasReady = this.#ready;
    if (wasReady && this.#env.clock.mono() - this.#welcomedAt > steadyMs) this.#attempts = 0;
    this.#disconnect();
    if (refusal) this.#fail(refusal);
    else if (wasReady) this.#retry();
    else this.#socketFailed('cannot connect over WebSockets');
  }

  #socketFailed(msg: string): void {
    // While the POST door stands in, an attempt to get back is no outage.
    if (!this.#posting) this.#env.report('wsChannelFailure', msg);
    if (this.#posting || ++this.#socketRefusals >= refusalsBeforePost) {
      this.#posting = true;
      this.#postUntil = this.#env.clock.mono() + socketAgainMs;
    }
    this.#retry();
  }

  #disconnect(lastWords = ''): void {
    const ws = this.#socket;
    this.#socket = null;
    this.#ready = this.#paused = false;
    for (const timer of [this.#watchdog, this.#pause, this.#next]) clearTimeout(timer);
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = null;
    try {
      if (lastWords && ws.readyState === 1) ws.send(lastWords);
      ws.close(1000);
    } catch {
      // it was closed already
    }
  }

  #handle(message: Record<string, unknown> | null): void {
    if (!message) return;
    const { queue, report, statsInterval } = this.#env;
    const code = String(message.code ?? '');
    const msg = String(message.message ?? code);
    const csError = (message.csError ?? 'wsChannelFailure') as CsError;
    const retryAfterMs = Number(message.retryAfterMs) || 0;
    switch (message.type) {
      case 'welcome':
        this.#welcomed(message);
        break;
      case 'ack':
        if (queue.ack(Number(message.seq))) {
          this.#attempts = 0;
          report('success', 'connected');
        }
        this.pump();
        break;
      case 'nack':
        queue.nack(Number(message.seq), csError, msg);
        report(csError, msg);
        break;
      case 'slow-down':
        if (message.statsIntervalMs) statsInterval(Number(message.statsIntervalMs));
        this.#hold(retryAfterMs, true);
        break;
      case 'bye':
        this.#bye(new Refusal(csError, msg, message.retry === true, retryAfterMs, code));
    }
  }

  #bye(refusal: Refusal): void {
    const renewed = this.#token !== null && this.#token !== this.#helloToken;
    if (refusal.code !== 'token_expired' || !renewed) {
      this.#lost(refusal);
      return;
    }
    this.#disconnect();
    this.#retry(refusal.retryAfterMs, 0);
  }

  #welcomed(welcome: Record<string, unknown>): void {
    const { clock, queue, welcomed, report } = this.#env;
    clock.sample(this.#helloSent, clock.mono(), Number(welcome.at));
    this.#ready = true;
    this.#doubted = false;
    this.#welcomedAt = clock.mono();
    if (this.#socket) {
      this.#posting = false;
      this.#socketRefusals = 0;
    }
    this.#speaker = new Speaker(this.#env);
    this.#windowFrames = Number(welcome.windowFrames) || this.#windowFrames;
    queue.rewind();
    queue.ack(Number(welcome.acked) || 0);
    welcomed(welcome);
    report('success', 'connected');
    this.pump();
  }

  #body(entries: Parameters<typeof postBody>[1]): string {
    return postBody(this.#hello(), entries, this.#env, (entry) => this.#env.queue.sent(entry));
  }

  async #postAll(): Promise<void> {
    const { base, clock, queue } = this.#env;
    // After a sleep the answer to a bare hello brings the time.
    const entries = clock.synced() ? queue.waiting() : [];
    if (this.#ready && clock.synced() && !entries.length) {
      this.#connectIn(postPauseMs);
      return;
    }
    const mine = this.#login;
    const acked = queue.acked();
    const { status, body } = await post(`${base}frames`, this.#body(entries));
    if (mine !== this.#login) return;
    const answers = body.split('\n').map(parseLine);
    if (status !== 200) throw refused(status, answers[0] ?? null);
    for (const answer of answers) this.#handle(answer);
    const goOn = queue.acked() > acked && queue.next(this.#windowFrames);
    if (!this.#stopped) this.#connectIn(goOn || !entries.length ? 0 : postPauseMs);
  }
}
