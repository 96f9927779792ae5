// One monitored PeerConnection in one conference.

import type { Clock, Stamp } from './clock.ts';
import { isConnected, type Lifecycle, type SetupTimes, type Stage, watchLifecycle } from './lifecycle.ts';
import type { Frame } from './queue.ts';
import { later } from './result.ts';
import { sdpText, sourceInfo } from './sdp.ts';
import { createMonitor, type Monitor, type Reading, type StreamInterval } from './stats/monitor.ts';
import { num, type Pair, str, type Stream } from './stats/normalise.ts';
import { readStats } from './stats/read.ts';
import { type StreamIdentity, view } from './stats/view.ts';
import type { CsError, FabricStats, PcCallback, UserID } from './types.ts';

/** What addNewFabric says about a fabric. */
export interface FabricInfo {
  fabric: number;
  pc: object;
  conferenceID: string;
  remoteUserID: UserID;
  fabricUsage: string;
  remoteEndpointType: string;
  fabricTransmissionDirection: string;
  addedAt: Stamp;
}

/** Why a fabric ended. */
export type EndReason = 'application' | 'closed' | 'pagehide' | 'replaced';

/** What a fabric needs of its session. */
export interface FabricEnv {
  clock: Clock;
  legacyStats: boolean;
  send(frame: Frame): boolean;
  intervalMs(): number;
  localUserID(): UserID;
  labelBounds(): readonly number[];
  online(): boolean;
  conferenceURL(info: FabricInfo): string | null;
  /** Hands a reading to the application. */
  deliver(stats: FabricStats): void;
  report(csError: CsError, msg: string): void;
  ended(fabric: Fabric): void;
}

/** What associateMstWithUserID says about an SSRC. */
export interface Association {
  userID: UserID;
  usageLabel: string;
  associatedVideoTag: unknown;
}

export interface Fabric {
  readonly info: FabricInfo;
  /** Records an event of the fabric; false when it is too large. */
  event(name: string, data?: object, stamp?: Stamp): boolean;
  associate(ssrc: number, association: Association): void;
  hasStream(ssrc: number): boolean;
  renameRemote(userID: UserID): void;
  /** Ends it; a last reading is tried unless now is set. */
  end(reason: EndReason, now?: boolean): void;
  ended(): boolean;
}

const pollMs = 1000; // close() tells nobody
const settleMs = 1000; // from a negotiation to the first packets of its streams
const lastReadingMs = 1000;

/** Starts to monitor. */
export function createFabric(info: FabricInfo, env: FabricEnv, pcCallback?: PcCallback | null): Fabric {
  const { pc } = info;
  const { clock } = env;
  const startedMs = clock.mono();
  const monitor: Monitor = createMonitor(startedMs);
  const associations = new Map<number, Association>();
  const sources = new Map<string, ReturnType<typeof sourceInfo>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let remoteUserID = info.remoteUserID;
  let reading = false;
  let failure: Stage | null = null;
  let ending: EndReason | null = null;
  let done = false;
  let failedBefore = false;
  let endStamp: Stamp | undefined;

  function event(name: string, data: object = {}, stamp = clock.stamp(), notify?: PcCallback | null): boolean {
    const settle = notify ? { done: (err: CsError | 'failure', msg: string) => later(notify, err, msg) } : {};
    return env.send({ type: 'event', stamp, fabric: info.fabric, members: { fabric: info.fabric, event: name, data }, ...settle });
  }

  function after(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      task();
    }, ms);
    timers.add(timer);
  }

  function clearTimers(): void {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  function schedule(delayMs: number): void {
    after(delayMs, () => {
      schedule(env.intervalMs());
      interval();
    });
  }

  async function interval(): Promise<void> {
    life.update();
    if (ending || reading) return;
    reading = true;
    const reports = await readStats(pc, env.legacyStats);
    reading = false;
    if (!ending) record(monitor.measure(reports ?? [], clock.mono(), areaOf), clock.stamp());
  }

  /** A reading between intervals; hands the selected pair to whoever needs it. */
  async function probe(found: () => void = () => undefined): Promise<void> {
    const reports = await readStats(pc, env.legacyStats);
    if (reports && !done) announce(monitor.adopt(reports, clock.mono()));
    found();
  }

  function announce(made: Reading): void {
    for (const stream of made.added) streamAdded(stream);
    for (const pair of made.changedPairs) event('selectedCandidatePairChange', candidates(pair));
  }

  function record(made: Reading, stamp: Stamp): void {
    announce(made);
    for (const { intervalMs, rows, sets } of made.groups) {
      if (!rows.length && made.groups.length > 1) continue;
      env.send({ type: 'stats', stamp, fabric: info.fabric, sets, members: { fabric: info.fabric, intervalMs, rows } });
    }
    deliver(made.intervals);
  }

  function deliver(intervals: StreamInterval[]): void {
    env.deliver({
      connectionState: env.online() ? 'online' : 'offline',
      fabricState: done ? 'terminated' : life.state(),
      conferenceURL: env.conferenceURL(info),
      conferenceID: info.conferenceID,
      ...view(intervals, identityOf, env.labelBounds()),
    });
  }

  function identityOf({ stream }: StreamInterval): StreamIdentity {
    const { cname = null, msid = null } = sources.get(stream.key) ?? {};
    const own = associations.get(stream.ssrc);
    const inbound = stream.statsType === 'inbound-rtp';
    return {
      remoteUserID: (inbound && own?.userID) || remoteUserID,
      userID: own?.userID ?? (inbound ? remoteUserID : env.localUserID()),
      cname,
      msid,
      usageLabel: own?.usageLabel ?? null,
      associatedVideoTag: own?.associatedVideoTag ?? null,
    };
  }

  function streamAdded(stream: Stream): void {
    const inbound = stream.statsType === 'inbound-rtp';
    const descriptions = pc as { remoteDescription?: unknown; localDescription?: unknown };
    const sdp = sdpText(inbound ? descriptions.remoteDescription : descriptions.localDescription);
    const source = sourceInfo(sdp, stream.ssrc);
    sources.set(stream.key, source);
    event('streamAdded', {
      ssrc: stream.ssrc,
      statsType: stream.statsType,
      mediaType: stream.mediaType,
      codec: stream.codec,
      ...source,
      trackIdentifier: str(stream.rtp.trackIdentifier) ?? str(stream.source.trackIdentifier),
    });
  }

  function areaOf(ssrc: number): number | null {
    return displayedPixels(associations.get(ssrc)?.associatedVideoTag);
  }

  function connected(times: SetupTimes): void {
    const stamp = clock.stamp();
    clearTimers();
    // The first interval begins here, so that its rates are those of a running call.
    monitor.begin(clock.mono());
    probe(() => event('fabricSetup', { ...times, ...candidates(monitor.pair()) }, stamp));
    after(settleMs, probe);
    schedule(firstDelay(env.intervalMs()));
    poll();
  }

  function poll(): void {
    after(pollMs, () => {
      poll();
      life.update();
    });
  }

  function end(reason: EndReason, now = false): void {
    if (done) return;
    const first = ending === null;
    ending ??= reason;
    endStamp ??= clock.stamp();
    if (first) {
      if (life.state() === 'initialising' && !failedBefore) failure = life.stage();
      life.stop();
      clearTimers();
    }
    if (now || reason === 'closed') finish();
    else if (first) lastReading(endStamp, clock.mono());
  }

  function lastReading(stamp: Stamp, atMs: number): void {
    after(lastReadingMs, finish);
    readStats(pc, env.legacyStats).then((reports) => {
      if (done) return;
      const made = reports && monitor.measure(reports, atMs, areaOf);
      finish(made?.intervals.length ? made : null, stamp);
    });
  }

  function finish(last: Reading | null = null, stamp = endStamp): void {
    if (done) return;
    done = true;
    clearTimers();
    if (failure) {
      const reason = ending === 'closed' || ending === 'pagehide' ? ending : 'terminated';
      event('fabricSetupFailed', { stage: failure, failureMs: Math.round(clock.mono() - startedMs), reason }, stamp);
    }
    if (last) record(last, stamp ?? clock.stamp());
    else deliver([]);
    event('fabricTerminated', { reason: ending }, stamp);
    env.ended(fabric);
  }

  const fabric: Fabric = {
    info,
    event: (name, data, stamp) => event(name, data, stamp),
    associate: (ssrc, association) => associations.set(ssrc, association),
    hasStream: monitor.has,
    renameRemote(userID) {
      remoteUserID = userID;
    },
    end,
    ended: () => done || ending !== null,
  };

  event('fabricAdded', { alreadyConnected: isConnected(pc) }, info.addedAt, pcCallback);
  const life: Lifecycle = watchLifecycle(pc, clock.mono, {
    remoteDescriptionSet: () => event('remoteDescriptionSet'),
    connected,
    setupFailed(stage) {
      failedBefore = true;
      event('fabricSetupFailed', { stage, failureMs: Math.round(clock.mono() - startedMs), reason: 'failed' });
      env.report('appConnectivityError', `connectivity checks failed for a PeerConnection to the conference ${info.conferenceID}`);
    },
    disrupted(iceConnectionState) {
      event('iceDisruptionStart', { iceConnectionState });
      env.report('appConnectivityError', `a PeerConnection to the conference ${info.conferenceID} is ${iceConnectionState}`);
    },
    recovered: (durationMs) => event('iceDisruptionEnd', { durationMs }),
    iceRestarted: () => event('iceRestart'),
    negotiated: () => after(settleMs, probe),
    closed: () => end('closed'),
  });
  probe();
  schedule(firstDelay(env.intervalMs()));
  poll();
  life.update();
  return fabric;
}

/** Clients that start together do not measure together (STAT-01). */
function firstDelay(intervalMs: number): number {
  return intervalMs * (0.5 + Math.random() / 2);
}

/** What the time-line says about a candidate pair: types, never addresses. */
function candidates(pair: Pair | undefined): object {
  return {
    localCandidateType: str(pair?.local.candidateType),
    remoteCandidateType: str(pair?.remote.candidateType),
    relayProtocol: str(pair?.local.relayProtocol),
  };
}

/** The area of the element that shows a video, in device pixels; null when unknown. */
function displayedPixels(tag: unknown): number | null {
  const element = typeof tag === 'string' && typeof document === 'object' ? document.getElementById(tag) : tag;
  const { clientWidth, clientHeight } = (element ?? {}) as Partial<HTMLElement>;
  const width = num(clientWidth);
  const height = num(clientHeight);
  if (width === null || height === null) return null;
  return Math.round(width * height * (globalThis.devicePixelRatio || 1) ** 2);
}
