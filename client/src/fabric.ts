// One monitored PeerConnection in one conference.

import type { Clock, Stamp } from './clock.ts';
import type { Config } from './config.ts';
import { isConnected, type SetupTimes, type Stage, watchLifecycle } from './lifecycle.ts';
import type { Done, Frame } from './queue.ts';
import { attempt, later } from './result.ts';
import { noSource, type SourceInfo, sdpText, sourceInfo } from './sdp.ts';
import { known } from './stats/measures.ts';
import { createMonitor, type News, type Reading, type StreamInterval } from './stats/monitor.ts';
import { num, type Pair, type Report, type Stream, str } from './stats/normalise.ts';
import { createReader } from './stats/read.ts';
import { type StreamIdentity, view } from './stats/view.ts';
import type { CsError, FabricStats, PcCallback, UserID } from './types.ts';
import { texts } from './wifi.ts';

/** What addNewFabric says about a fabric. */
export interface FabricDescription {
  conferenceID: string;
  remoteUserID: UserID;
  fabricUsage: string;
  remoteEndpointType: string;
  fabricTransmissionDirection: string;
}

/** That, and what the session adds. */
export interface FabricInfo extends FabricDescription {
  fabric: number;
  addedAt: Stamp;
}

/** Why a fabric ended. */
export type EndReason = 'application' | 'closed' | 'pagehide' | 'replaced';

/** What a fabric needs of its session. */
export interface FabricEnv {
  clock: Clock;
  /** How the application wants it. */
  config(): Config;
  enqueue(frame: Frame): unknown;
  localUser(conferenceID: string): UserID;
  labelBounds(): readonly number[];
  online(): boolean;
  urlOf(info: FabricInfo): string | null;
  /** Whether the application takes readings. */
  listening(): boolean;
  /** Hands it one. */
  deliver(stats: FabricStats): void;
  /** The page may go at once: what waits is sent before the task ends, whichever way. */
  leave(): void;
  /** The first interval of a running call begins. */
  connected(): void;
  report(csError: CsError, msg: string): void;
  ended(fabric: Fabric): void;
}

/** What associateMstWithUserID says about an SSRC. */
export interface Association {
  userID: UserID;
  usageLabel: string;
  associatedVideoTag: unknown;
  /** The id of that, as it is recorded. */
  tagID: string | null;
}

const settleMs = 1000; // from a negotiation to the first packets of its streams
const lastReadingMs = 1000;

/** One monitored PeerConnection. */
export type Fabric = ReturnType<typeof createFabric>;

/** Starts to monitor; pcCallback hears whether the collector took the fabric. */
export function createFabric(pc: object, info: FabricInfo, env: FabricEnv, pcCallback?: PcCallback) {
  const { fabric, conferenceID } = info;
  const { clock } = env;
  const { mono } = clock;
  const associations = new Map<number, Association>();
  const sources = new Map<string, SourceInfo>();

  let { remoteUserID } = info;
  /** Whether getStats owes an answer. */
  let owed = false;
  /** fabricSetup waits for the candidates of the first reading. */
  let tellSetup: (() => void) | undefined;
  /** When it ended. */
  let ending: Stamp | undefined;
  let done = false;
  const monitor = createMonitor(mono());
  const reader = createReader(pc);

  /** Records an event of the fabric. */
  function event(name: string, data: object = {}, stamp = clock.stamp(), reported?: Done): void {
    env.enqueue({ type: 'event', stamp, fabric, keep: true, members: { fabric, event: name, data }, done: reported });
  }

  const read = (whole = false) => reader(env.config().collectLegacyStats, whole);

  /** One measurement. */
  async function measure(): Promise<void> {
    life.look();
    if (ending) return;
    if (owed) take(null);
    owed = true;
    const reports = await read();
    owed = false;
    if (!ending) take(reports);
  }

  /** Without reports that can be read the frame still says that the call is alive. */
  function take(reports: Report[] | null): void {
    const from = (list: Report[]) => monitor.measure(list, mono(), areaOf);
    record(attempt(() => from(reports ?? []), null) ?? from([]), clock.stamp());
    tellSetup?.();
  }

  /** A reading between intervals. */
  async function probe(): Promise<void> {
    if (ending) return;
    const reports = await read(true);
    if (!reports || done) return;
    const between = attempt(() => monitor.adopt(reports, mono()), null);
    if (between) announce(between);
  }

  function announce({ added, changedPairs }: News, stamp?: Stamp): void {
    for (const stream of added) streamAdded(stream, stamp);
    for (const pair of changedPairs) event('selectedCandidatePairChange', candidates(pair), stamp);
  }

  function record(measured: Reading, stamp: Stamp): void {
    announce(measured, stamp);
    for (const { intervalMs, rows, sets } of measured.groups) {
      if (!rows.length && measured.groups.length > 1) continue;
      env.enqueue({ type: 'stats', stamp, fabric, sets, members: { fabric, intervalMs, rows } });
    }
    deliver(measured.intervals);
  }

  function deliver(intervals: StreamInterval[]): void {
    if (!env.listening()) return;
    env.deliver({
      connectionState: env.online() ? 'online' : 'offline',
      fabricState: done ? 'terminated' : life.phase(),
      conferenceURL: env.urlOf(info),
      conferenceID,
      ...view(intervals, identityOf, env.labelBounds()),
    });
  }

  function identityOf({ stream }: StreamInterval): StreamIdentity {
    const own = associations.get(stream.ssrc);
    const inbound = stream.statsType === 'inbound-rtp';
    const { cname, msid } = sources.get(stream.key) ?? noSource;
    return {
      remoteUserID: (inbound && own?.userID) || remoteUserID,
      userID: own?.userID ?? (inbound ? remoteUserID : env.localUser(conferenceID)),
      cname,
      msid,
      usageLabel: own?.usageLabel ?? null,
      associatedVideoTag: own?.associatedVideoTag ?? null,
    };
  }

  /**
   * What the time-line says about a candidate pair, and the addresses of local candidates with
   * collectIP: the collector cuts them, and drops mDNS names.
   */
  function candidates({ local, remote, locals }: Partial<Pair> = monitor.pair() ?? {}): object {
    const { collectIP } = env.config();
    return {
      localCandidateType: str(local?.candidateType),
      remoteCandidateType: str(remote?.candidateType),
      relayProtocol: str(local?.relayProtocol),
      localAddress: str(collectIP && local?.address),
      localAddresses: texts([...new Set(collectIP ? locals?.flatMap((one) => [one.address, one.relatedAddress]) : [])]),
    };
  }

  function streamAdded({ key, statsType, mediaType, ssrc, codec, rtp, source }: Stream, stamp?: Stamp): void {
    const end = statsType === 'inbound-rtp' ? 'remoteDescription' : 'localDescription';
    const description = attempt(() => sdpText((pc as Partial<RTCPeerConnection>)[end]), '');
    const names = sourceInfo(description, ssrc);
    sources.set(key, names);
    const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
    event('streamAdded', { ssrc, statsType, mediaType, codec, ...names, trackIdentifier }, stamp);
  }

  /** The area of the element that shows a video, in device pixels; null when unknown. */
  function areaOf(ssrc: number): number | null {
    const tag = associations.get(ssrc)?.associatedVideoTag;
    const element = typeof tag === 'string' ? globalThis.document?.getElementById(tag) : tag;
    const { clientWidth, clientHeight } = (element ?? {}) as Partial<HTMLElement>;
    const area = known(clientWidth) * known(clientHeight);
    return num(Math.round(area * (globalThis.devicePixelRatio || 1) ** 2));
  }

  async function connected(times: SetupTimes): Promise<void> {
    const stamp = clock.stamp();
    // The first interval begins here, so that its rates are those of a running call.
    monitor.begin(mono());
    env.connected();
    setTimeout(probe, settleMs);
    tellSetup = () => {
      tellSetup = undefined;
      event('fabricSetup', { ...times, ...candidates() }, stamp);
    };
    await probe();
    tellSetup?.();
  }

  function setupFailed(stage: Stage, reason: string, stamp?: Stamp): void {
    event('fabricSetupFailed', { stage, failureMs: life.ageMs(), reason }, stamp);
  }

  function trouble(what: string): void {
    env.report('appConnectivityError', `a PeerConnection of ${conferenceID} ${what}`);
  }

  function lastReading(): void {
    setTimeout(() => finish(null), lastReadingMs);
    const atMs = mono();
    read().then((reports) => {
      if (!reports || done) return;
      const last = attempt(() => monitor.measure(reports, atMs, areaOf), null);
      finish(last?.intervals.length ? last : null);
    });
  }

  /** Whatever follows the end has its time, so that it makes nothing longer. */
  function finish(last: Reading | null): void {
    if (done || !ending) return;
    done = true;
    if (last) record(last, ending);
    else deliver([]);
    env.ended(self);
    if (last) env.leave();
  }

  /** Ends it, and says so at once; a last reading may follow unless now is set. */
  function end(reason: EndReason, now = reason === 'closed'): void {
    if (!ending) {
      ending = clock.stamp();
      sayEnd(reason, now, ending);
      life.stop();
      if (!now) lastReading();
    }
    if (now) finish(null);
  }

  /** Records whose an SSRC is. */
  function associate(ssrc: number, association: Association): void {
    associations.set(ssrc, association);
    const { userID, usageLabel, tagID: associatedVideoTag } = association;
    event('associateMstWithUserID', { ssrc, userID, usageLabel, associatedVideoTag });
  }

  function sayEnd(reason: EndReason, now: boolean, stamp: Stamp): void {
    const stage = life.stage();
    tellSetup?.();
    if (stage) setupFailed(stage, reason === 'closed' || reason === 'pagehide' ? reason : 'terminated', stamp);
    event('fabricTerminated', { reason, measurementFollows: !(now || stage) || undefined }, stamp);
    if (reason !== 'pagehide') env.leave();
  }

  // It waits in the queue: bound, since a closure would keep the PeerConnection.
  const reported = pcCallback && later.bind<null, [PcCallback], Parameters<PcCallback>, void>(null, pcCallback);
  event('fabricAdded', { alreadyConnected: isConnected(pc) }, info.addedAt, reported);
  const life = watchLifecycle(pc, mono, {
    emit: event,
    connected,
    setupFailed(stage) {
      setupFailed(stage, 'failed');
      trouble('failed');
    },
    disrupted(iceConnectionState) {
      event('iceDisruptionStart', { iceConnectionState });
      trouble(`is ${iceConnectionState}`);
    },
    negotiated: () => setTimeout(probe, settleMs),
    closed: () => end('closed'),
  });
  const self = {
    pc,
    info,
    emit: event,
    end,
    measure,
    hasStream: monitor.hasStream,
    /** Looks at its states. */
    look: life.look,
    associate,
    /** Names the remote user, or the local one, from now on. */
    rename(userIDType: string, newUserID: UserID): void {
      if (userIDType === 'remote') remoteUserID = newUserID;
      event('userIDChange', { userIDType, newUserID });
    },
    /** How it would be added now. */
    asNamed: (): FabricDescription => ({ ...info, remoteUserID }),
    /** Its streams are those of another fabric from now on. */
    handOver(next: { associate: typeof associate }): void {
      for (const [ssrc, own] of associations) next.associate(ssrc, own);
    },
    /** Whether it has ended, or is about to. */
    ended: () => Boolean(ending),
  };

  life.update();
  probe();
  return self;
}
