// The tests of a session: one at a time on the page, each with one result.

import { later, text } from '../result.ts';
import { type Host, type Json, moduleKey, page, type Tester } from './host.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { begin, outcomeOf, type Progress } from './provider.ts';
import { type Ranked, rank } from './rank.ts';
import { runRound } from './round.ts';
import { readServers } from './servers.ts';
import { createRun, now } from './test.ts';

type Trigger = 'initialize' | 'makePrecallTest' | 'startPrecallTests';

/** A test that waits or runs. */
interface Test {
  trigger: Trigger;
  /** The application's servers, of any form; undefined for those of the collector. */
  servers?: unknown;
  /** A later round of start(): it is left out while it cannot run. */
  repeated?: boolean;
  callbacks: ((...args: unknown[]) => unknown)[];
  /** Aborted with the reason of the interruption, or with null when its time is over. */
  controller: AbortController;
  begun?: boolean;
}

/** What a test found. */
interface Found {
  providers: Ranked[];
  /** Why it did not run, or was interrupted. */
  reason?: string;
  bytesSent: number;
  durationMs: number;
}

const longestPauseMs = 86_400_000;
const freshForMs = 60_000; // credentials must last longer than a test

/** The end of the last test of the page that was begun. */
let lastTest: Promise<unknown> = Promise.resolve();
let running: Test | undefined;

/** Ends the test that runs on the page: a call starts. */
export const interrupt = () => running?.controller.abort('a call started');

/** Makes the tests of a session. */
export function createTester(host: Host): Tester {
  let known: Json = {};
  let knownUntil = 0;
  let waiting: Test | undefined; // of make()
  let repetition: { test: Test; timer?: ReturnType<typeof setTimeout> } | undefined;
  const unfinished = new Set<Test>();

  const learn = (answer: Json) => {
    known = answer;
    knownUntil = now() + Number(answer.expiresInMs ?? 0) - freshForMs;
  };

  const configuration = async () => {
    if (now() >= knownUntil) learn(await host.configure({ networkType: networkType() }));
    return known;
  };

  const enqueue = (test: Test): Promise<void> => {
    unfinished.add(test);
    const finished = lastTest.then(async () => {
      running = test;
      test.begun = true;
      const found = await configuration()
        .then((configured) => perform(host, test, configured))
        .catch((error) => ({ providers: [], reason: `internal error: ${text(error)}`, bytesSent: 0, durationMs: 0 }));
      running = undefined;
      unfinished.delete(test);
      return found;
    });
    lastTest = finished;
    return finished.then(async (found) => {
      if (!found) return;
      const preCall = conclude(host, test, found, Boolean(known.type));
      if (preCall && known.type) {
        const answer = await host.configure({ preCall, networkType: networkType() });
        if (answer.type) learn(answer);
      }
    });
  };

  const stop = (reason: string) => {
    clearTimeout(repetition?.timer);
    repetition?.test.controller.abort(reason);
    repetition = undefined;
  };

  return {
    automatic(answer) {
      learn(answer);
      enqueue(newTest('initialize'));
    },
    make(callback) {
      if (!waiting || waiting.begun) {
        waiting = newTest('makePrecallTest');
        enqueue(waiting);
      }
      if (callback) waiting.callbacks.push(callback);
    },
    start(servers, seconds) {
      stop('startPrecallTests() was called again');
      const round = async (repeated: boolean) => {
        const own = { test: { ...newTest('startPrecallTests'), servers, repeated } };
        repetition = own;
        await enqueue(own.test);
        if (repetition === own)
          repetition.timer = setTimeout(() => round(true), Math.min(seconds * 1000, longestPauseMs));
      };
      round(false);
    },
    stop: () => stop('stopPrecallTests() was called'),
    end() {
      stop('the session is over');
      for (const { controller } of unfinished) controller.abort('the session is over');
    },
  };
}

const newTest = (trigger: Trigger): Test => ({ trigger, callbacks: [], controller: new AbortController() });

/** Why a test cannot run now. */
function obstacle(host: Host, { servers }: Test, list: readonly Progress[]): string | undefined {
  if (!list.length) return servers ? 'no server was given' : 'this collector offers no pre-call tests';
  if (typeof RTCPeerConnection !== 'function') return 'this browser has no WebRTC';
  if (globalThis.document?.hidden) return 'the page is hidden';
  if ((globalThis.navigator as { connection?: { saveData?: boolean } } | undefined)?.connection?.saveData)
    return 'the user saves data';
  if (host.inCall()) return 'a call is in progress';
  if (!list.some(({ server }) => server.ways.length)) return 'no server has a URL of a TURN server';
  return undefined;
}

/** Runs a test. Resolves to undefined if a repeated one is left out. */
async function perform(host: Host, test: Test, configured: Json): Promise<Found | undefined> {
  const preCall = (configured.preCall ?? {}) as Partial<Limits> & { servers?: Json[] };
  const limits = { ...defaultLimits, ...preCall };
  const { signal } = test.controller;
  const all = readServers(test.servers ?? preCall.servers ?? []).map(begin);
  const reason = signal.aborted ? signal.reason : obstacle(host, test, all);
  if (reason && test.repeated) return undefined;
  const startedAt = now();
  const run = createRun(limits, signal);
  if (!reason) await runWithin(test, () => runRound(run, all), limits.maxDurationMs);
  return {
    providers: rank(all.map(outcomeOf)),
    reason: reason ?? signal.reason ?? undefined,
    bytesSent: run.bytesSent,
    durationMs: Math.round(now() - startedAt),
  };
}

/** Runs a round until it is complete, its time is over or the page is hidden; closes all of it. */
async function runWithin({ controller }: Test, round: () => Promise<void>, limitMs: number): Promise<void> {
  const timer = setTimeout(() => controller.abort(null), limitMs);
  const hide = () => {
    if (document.hidden) controller.abort('the page was hidden');
  };
  globalThis.document?.addEventListener('visibilitychange', hide);
  try {
    await round();
  } catch (error) {
    if (!controller.signal.aborted) controller.abort(`internal error: ${(error as Error)?.name}`);
  } finally {
    clearTimeout(timer);
    globalThis.document?.removeEventListener('visibilitychange', hide);
    controller.abort(null); // closes what is still open
  }
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 1000) / 1000);
const kbps = (bps: number | null) => (bps === null ? null : Math.round(bps) / 1000);

/** Emits and records the results. Returns those that the collector computes its recommendation of. */
function conclude(host: Host, test: Test, found: Found, recorded: boolean): object | undefined {
  const { reason = '', bytesSent, durationMs } = found;
  const providers = found.providers.map(({ index, failure, ...one }) => ({
    ...one,
    rttMs: rounded(one.rttMs),
    jitterMs: rounded(one.jitterMs),
    lossFraction: rounded(one.lossFraction),
    throughputBps: one.throughputBps === null ? null : Math.round(one.throughputBps),
    transports: one.transports.map((way) =>
      way.connectMs === undefined ? way : { ...way, connectMs: rounded(way.connectMs) },
    ),
  }));
  const best = providers.find(({ rttMs }) => rttMs !== null);
  const { rttMs = null, lossFraction = null, throughputBps = null } = best ?? {};
  const measured = { rttMs, lossFraction, throughputBps };
  const begun = providers.some(({ transports }) => transports.length > 0);
  const status = reason && !best ? 'failure' : 'success';
  const results = {
    mediaConnectivity: Boolean(best),
    rtt: rttMs,
    fractionalLoss: lossFraction,
    throughput: kbps(throughputBps),
  };
  const why = reason || (best ? null : found.providers[0]?.reason);
  const args = [status, results, ...(why ? [why] : [])];
  host.emit('preCallTestResults', ...args);
  if (test.servers) {
    // What was not tested because the round ended early is not called unacceptable.
    const tested = reason ? providers.filter((one) => one.reason !== 'notTested') : providers;
    host.emit('connectionRecommendation', {
      aggregatedStats: tested.map((one) => ({
        provider: one.provider,
        roundTripTime: one.rttMs,
        jitter: one.jitterMs,
        fractionLost: one.lossFraction,
        throughput: kbps(one.throughputBps),
        reason: one.reason,
      })),
      providerRanking: tested.map(({ provider, acceptable }) => ({ provider, acceptable })),
    });
  }
  for (const callback of test.callbacks) later(callback, ...args);
  if (!recorded || !providers.length) return undefined;
  host.record({
    trigger: test.trigger,
    status,
    reason: reason || undefined,
    interrupted: Boolean(reason) && begun,
    mediaConnectivity: Boolean(best),
    ...measured,
    networkType: networkType(),
    bytesSent,
    durationMs,
    providers,
  });
  return begun ? { ...measured, providers } : undefined;
}

/** The network that the browser reports: wifi, cellular, …; undefined where it reports none. */
export const networkType = (): string | undefined =>
  (globalThis.navigator as { connection?: { type?: string } } | undefined)?.connection?.type;

/** The first module of a page serves all its instances. */
export function register(): void {
  page[moduleKey] ??= { create: createTester, interrupt };
}
