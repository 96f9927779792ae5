// One monitored PeerConnection in one conference.

import type { Clock, Stamp } from './clock.ts';
import { isConnected, Lifecycle, type SetupTimes, type Stage } from './lifecycle.ts';
import type { Done, Frame } from './queue.ts';
import { attempt, later } from './result.ts';
import { type SourceInfo, sdpText, sourceInfo } from './sdp.ts';
import { Monitor, type Reading, type StreamInterval } from './stats/monitor.ts';
import { num, type Pair, type Report, type Stream, str } from './stats/normalise.ts';
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

const pollMs = 1000; // close() tells nobody
const settleMs = 1000; // from a negotiation to the first packets of its streams
const lastReadingMs = 1000;
const longestMs = 20_000; // between two measurements, whatever the interval (SRV-04)

export class Fabric {
  readonly info: FabricInfo;
  readonly #env: FabricEnv;
  readonly #monitor: Monitor;
  readonly #life: Lifecycle;
  readonly #associations = new Map<number, Association>();
  readonly #sources = new Map<string, SourceInfo>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #tick: ReturnType<typeof setTimeout> | undefined;
  #remoteUserID: UserID;
  #reading = false;
  #measuredMs: number;
  /** fabricSetup waits for the candidates of the first reading. */
  #tellSetup: (() => void) | null = null;
  #ending: { reason: EndReason; stamp: Stamp; stage: Stage | null } | null = null;
  #done = false;

  /** Starts to monitor; pcCallback hears whether the collector took the fabric. */
  constructor(info: FabricInfo, env: FabricEnv, pcCallback?: PcCallback | null) {
    this.info = info;
    this.#env = env;
    this.#remoteUserID = info.remoteUserID;
    const { mono } = env.clock;
    this.#measuredMs = mono();
    this.#monitor = new Monitor(this.#measuredMs);
    this.event('fabricAdded', { alreadyConnected: isConnected(info.pc) }, info.addedAt, teller(pcCallback));
    this.#life = new Lifecycle(info.pc, mono, {
      remoteDescriptionSet: () => this.event('remoteDescriptionSet'),
      connected: (times) => this.#connected(times),
      setupFailed: (stage) => this.#setupFailed(stage),
      disrupted: (iceConnectionState) => {
        this.event('iceDisruptionStart', { iceConnectionState });
        this.#trouble(`is ${iceConnectionState}`);
      },
      recovered: (durationMs) => this.event('iceDisruptionEnd', { durationMs }),
      iceRestarted: () => this.event('iceRestart'),
      negotiated: () => this.#after(settleMs, () => this.#probe()),
      closed: () => this.end('closed'),
    });
    this.#probe();
    this.#poll();
    this.reschedule();
    this.#life.update();
  }

  /** Records an event of the fabric; false when it is too large. */
  event(name: string, data: object = {}, stamp = this.#env.clock.stamp(), done?: Done): boolean {
    const { fabric } = this.info;
    return this.#env.send({
      type: 'event',
      stamp,
      fabric,
      keep: true,
      members: { fabric, event: name, data },
      ...(done && { done }),
    });
  }

  /** Says whose an SSRC is. */
  associate(ssrc: number, association: Association): void {
    this.#associations.set(ssrc, association);
  }

  hasStream(ssrc: number): boolean {
    return this.#monitor.has(ssrc);
  }

  renameRemote(userID: UserID): void {
    this.#remoteUserID = userID;
  }

  /** Whether it has ended, or is about to. */
  ended(): boolean {
    return this.#ending !== null;
  }

  /** Measures at the session's interval from now on; those that start together do not measure together (STAT-01). */
  reschedule(): void {
    const { clock, intervalMs } = this.#env;
    // However often the interval changes, no measurement is put off for ever.
    const latestMs = this.#measuredMs + longestMs - clock.mono();
    this.#measureIn(Math.min(intervalMs() * (0.5 + Math.random() / 2), latestMs));
  }

  /** Ends it; a last reading is tried unless now is set. */
  end(reason: EndReason, now = reason === 'closed'): void {
    if (!this.#ending) {
      this.#ending = { reason, stamp: this.#env.clock.stamp(), stage: this.#life.stage() };
      this.#life.stop();
      this.#clearTimers();
      if (!now) this.#lastReading();
    }
    if (now) this.#finish(null);
  }

  #lastReading(): void {
    this.#after(lastReadingMs, () => this.#finish(null));
    const atMs = this.#env.clock.mono();
    this.#read().then((reports) => {
      if (!reports || this.#done) return;
      const reading = attempt(() => this.#monitor.measure(reports, atMs, this.#areaOf), null);
      this.#finish(reading?.intervals.length ? reading : null);
    });
  }

  #finish(last: Reading | null): void {
    if (this.#done || !this.#ending) return;
    const { reason, stamp, stage } = this.#ending;
    this.#done = true;
    this.#clearTimers();
    this.#tellSetup?.();
    if (stage) {
      const kept = reason === 'closed' || reason === 'pagehide' ? reason : 'terminated';
      this.event('fabricSetupFailed', { stage, failureMs: this.#life.ageMs(), reason: kept }, stamp);
    }
    if (last) this.#record(last, stamp);
    else this.#deliver([]);
    this.event('fabricTerminated', { reason }, stamp);
    this.#env.ended(this);
  }

  #after(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      task();
    }, ms);
    this.#timers.add(timer);
  }

  #clearTimers(): void {
    clearTimeout(this.#tick);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #poll(): void {
    this.#after(pollMs, () => {
      this.#poll();
      this.#life.update();
    });
  }

  #measureIn(ms: number): void {
    clearTimeout(this.#tick);
    this.#tick = setTimeout(() => {
      this.#measureIn(this.#env.intervalMs());
      this.#measure();
    }, ms);
  }

  #read() {
    return readStats(this.info.pc, this.#env.legacyStats);
  }

  async #measure(): Promise<void> {
    if (this.#ending || this.#reading) return;
    this.#reading = true;
    this.#measuredMs = this.#env.clock.mono();
    const reports = await this.#read();
    this.#reading = false;
    const { clock } = this.#env;
    if (this.#ending) return;
    const measure = (from: Report[]) => this.#monitor.measure(from, clock.mono(), this.#areaOf);
    // Reports that cannot be read are as none: the frame still says that the call is alive.
    this.#record(attempt(() => measure(reports ?? []), null) ?? measure([]), clock.stamp());
  }

  /** A reading between intervals. */
  async #probe(): Promise<void> {
    const reports = await this.#read();
    if (!reports || this.#done) return;
    const reading = attempt(() => this.#monitor.adopt(reports, this.#env.clock.mono()), null);
    if (reading) this.#announce(reading);
  }

  #announce({ added, changedPairs }: Reading): void {
    for (const stream of added) this.#streamAdded(stream);
    for (const pair of changedPairs) this.event('selectedCandidatePairChange', candidates(pair));
  }

  #record(reading: Reading, stamp: Stamp): void {
    this.#announce(reading);
    const { fabric } = this.info;
    for (const { intervalMs, rows, sets } of reading.groups) {
      if (!rows.length && reading.groups.length > 1) continue;
      this.#env.send({ type: 'stats', stamp, fabric, sets, members: { fabric, intervalMs, rows } });
    }
    this.#deliver(reading.intervals);
  }

  #deliver(intervals: StreamInterval[]): void {
    const { online, conferenceURL, deliver, labelBounds } = this.#env;
    deliver({
      connectionState: online() ? 'online' : 'offline',
      fabricState: this.#done ? 'terminated' : this.#life.state(),
      conferenceURL: conferenceURL(this.info),
      conferenceID: this.info.conferenceID,
      ...view(intervals, (interval) => this.#identityOf(interval), labelBounds()),
    });
  }

  #identityOf({ stream }: StreamInterval): StreamIdentity {
    const { cname = null, msid = null } = this.#sources.get(stream.key) ?? {};
    const own = this.#associations.get(stream.ssrc);
    const inbound = stream.statsType === 'inbound-rtp';
    return {
      remoteUserID: (inbound && own?.userID) || this.#remoteUserID,
      userID: own?.userID ?? (inbound ? this.#remoteUserID : this.#env.localUserID()),
      cname,
      msid,
      usageLabel: own?.usageLabel ?? null,
      associatedVideoTag: own?.associatedVideoTag ?? null,
    };
  }

  #streamAdded(stream: Stream): void {
    const { statsType, mediaType, ssrc, codec, rtp, source } = stream;
    const descriptions = this.info.pc as { remoteDescription?: unknown; localDescription?: unknown };
    const end = statsType === 'inbound-rtp' ? 'remoteDescription' : 'localDescription';
    const names = sourceInfo(
      attempt(() => sdpText(descriptions[end]), ''),
      ssrc,
    );
    this.#sources.set(stream.key, names);
    const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
    this.event('streamAdded', { ssrc, statsType, mediaType, codec, ...names, trackIdentifier });
  }

  /** The area of the element that shows a video, in device pixels; null when unknown. */
  readonly #areaOf = (ssrc: number): number | null => {
    const tag = this.#associations.get(ssrc)?.associatedVideoTag;
    const element = typeof tag === 'string' && typeof document === 'object' ? document.getElementById(tag) : tag;
    const { clientWidth, clientHeight } = (element ?? {}) as Partial<HTMLElement>;
    const width = num(clientWidth);
    const height = num(clientHeight);
    return width === null || height === null
      ? null
      : Math.round(width * height * (globalThis.devicePixelRatio || 1) ** 2);
  };

  async #connected(times: SetupTimes): Promise<void> {
    const stamp = this.#env.clock.stamp();
    // The first interval begins here, so that its rates are those of a running call.
    this.#monitor.begin(this.#env.clock.mono());
    this.reschedule();
    this.#after(settleMs, () => this.#probe());
    this.#tellSetup = () => {
      this.#tellSetup = null;
      this.event('fabricSetup', { ...times, ...candidates(this.#monitor.pair()) }, stamp);
    };
    await this.#probe();
    this.#tellSetup?.();
  }

  #setupFailed(stage: Stage): void {
    this.event('fabricSetupFailed', { stage, failureMs: this.#life.ageMs(), reason: 'failed' });
    this.#trouble('failed');
  }

  #trouble(what: string): void {
    this.#env.report('appConnectivityError', `a PeerConnection of the conference ${this.info.conferenceID} ${what}`);
  }
}

/** Made out here: it waits in the queue, and a closure of the fabric would keep the PeerConnection. */
function teller(pcCallback?: PcCallback | null): Done {
  return (err, msg) => later(pcCallback, err, msg);
}

/** What the time-line says about a candidate pair: types, never addresses. */
function candidates(pair: Pair | undefined): object {
  return {
    localCandidateType: str(pair?.local.candidateType),
    remoteCandidateType: str(pair?.remote.candidateType),
    relayProtocol: str(pair?.local.relayProtocol),
  };
}
