// The life of a PeerConnection as seen from outside: connected, disrupted, closed
// (requirements FAB-05 to FAB-08, FAB-14). It reads states, it never changes anything.

import { attempt } from './result.ts';
import { iceUfrag, sdpText } from './sdp.ts';
import { known } from './stats/measures.ts';
import { num } from './stats/normalise.ts';

/** How far a fabric got that was never connected. */
export type Stage = 'noRemoteDescription' | 'gathering' | 'connectivity' | 'dtls';

/** Durations of a set-up; null where the library did not see the beginning. */
export interface SetupTimes {
  setupMs: number | null;
  gatheringMs: number | null;
  connectivityMs: number | null;
}

/** What a fabric does about it; each is called at most once per happening. */
export interface LifecycleEvents {
  /** Records an event of the time-line. */
  emit(name: string, data?: object): void;
  connected(times: SetupTimes): void;
  setupFailed(stage: Stage): void;
  disrupted(iceConnectionState: string): void;
  /** The session description is settled: streams may have come or gone. */
  negotiated(): void;
  closed(): void;
}

/** The states of a real PeerConnection that the library reads; a look-alike may lack any. */
interface States {
  iceConnectionState?: string;
  connectionState?: string;
  iceGatheringState?: string;
  signalingState?: string;
  localDescription?: unknown;
  remoteDescription?: unknown;
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

const names = ['signalingState', 'connectionState', 'iceConnectionState', 'iceGatheringState'] as const;

const statesOf = (pc: object) => names.map((name) => (pc as States)[name]);

const isUp = (ice: string) => ice === 'connected' || ice === 'completed';

/** Whether a PeerConnection carries media: ICE and DTLS, or ICE alone where DTLS is unknown. */
export function isConnected(pc: object): boolean {
  return attempt(() => {
    const { connectionState, iceConnectionState = '' } = pc as States;
    return connectionState === undefined ? isUp(iceConnectionState) : connectionState === 'connected';
  }, false);
}

/** Whether a PeerConnection was closed. It reports no close() of its own: the state has to be read. */
export function isClosed(pc: object): boolean {
  return attempt(() => statesOf(pc).includes('closed'), false);
}

/** The watch over one PeerConnection. */
export type Lifecycle = ReturnType<typeof watchLifecycle>;

/** Watches a PeerConnection until stop(). */
export function watchLifecycle(target: object, mono: () => number, events: LifecycleEvents) {
  const pc = target as States;
  const started = mono();
  let alreadyConnected = isConnected(pc);
  let remoteSet = false;
  let established = false;
  let failed = false;
  let gatheringAt: number | undefined;
  let gatheredAt: number | undefined;
  let checkingAt: number | undefined;
  let disruptedAt: number | undefined;
  let lastUfrag: string | undefined;
  let settled = '';
  let looked = '';

  /** From then to now, null when it was not seen. */
  const since = (start: number | undefined, end = mono()) => num(Math.round(end - known(start)));
  const ice = () => pc.iceConnectionState ?? pc.connectionState ?? '';
  const hasFailed = () => [ice(), pc.connectionState].includes('failed');

  function reached(): Stage {
    if (!pc.remoteDescription) return 'noRemoteDescription';
    if (isUp(ice())) return 'dtls';
    return ice() === 'new' && checkingAt === undefined ? 'gathering' : 'connectivity';
  }

  /** How far a fabric got that is not connected; null once its failure was reported. */
  const stage = () => (established || failed ? null : attempt(reached, 'connectivity'));

  function negotiation(): void {
    if (!remoteSet && pc.remoteDescription) {
      remoteSet = true;
      events.emit('remoteDescriptionSet');
    }
    const sdp = pc.signalingState === 'stable' ? sdpText(pc.localDescription) : '';
    if (!sdp || sdp === settled) return;
    settled = sdp;
    const ufrag = iceUfrag(sdp);
    if (lastUfrag && ufrag && ufrag !== lastUfrag) events.emit('iceRestart');
    lastUfrag = ufrag ?? lastUfrag;
    events.negotiated();
  }

  function connection(): void {
    gathering();
    if (established) disruption();
    else if (isConnected(pc)) {
      established = true;
      events.connected(setupTimes());
    } else if (hasFailed() && !failed) {
      const failedStage = reached();
      failed = true;
      events.setupFailed(failedStage);
    }
    alreadyConnected = false;
  }

  function gathering(): void {
    const now = mono();
    const state = pc.iceGatheringState ?? 'new';
    if (state !== 'new') gatheringAt ??= now;
    if (state === 'complete') gatheredAt ??= now;
    if (ice() === 'checking') checkingAt ??= now;
  }

  function setupTimes(): SetupTimes {
    const [begun, gathering, checking] = alreadyConnected ? [] : [started, gatheringAt, checkingAt];
    return {
      setupMs: since(begun),
      // What was still being gathered when the path stood did not delay it.
      gatheringMs: since(gathering, gatheredAt),
      connectivityMs: since(checking),
    };
  }

  function disruption(): void {
    const broken = hasFailed() ? 'failed' : ice() === 'disconnected' && 'disconnected';
    if (broken && disruptedAt === undefined) {
      disruptedAt = mono();
      events.disrupted(broken);
    } else if (disruptedAt !== undefined && !broken && isConnected(pc)) {
      events.emit('iceDisruptionEnd', { durationMs: since(disruptedAt) });
      disruptedAt = undefined;
    }
  }

  /** Reads the states now; a look-alike that throws is asked again next time. */
  const update = () =>
    attempt(() => {
      if (isClosed(pc)) events.closed();
      else {
        negotiation();
        connection();
      }
    });

  /**
   * Nobody tells of close(), and a look-alike may tell of nothing: looks whether any state is
   * another one. Before it is connected descriptions count too.
   */
  function look(): void {
    const states = attempt(() => statesOf(pc).join(), '');
    if (established && states === looked) return;
    looked = states;
    update();
  }

  for (const name of names) attempt(() => pc.addEventListener?.(`${name}change`.toLowerCase(), update));
  return {
    update,
    look,
    stage,
    /** Removes the listeners. */
    stop(): void {
      for (const name of names) attempt(() => pc.removeEventListener?.(`${name}change`.toLowerCase(), update));
    },
    phase: () => (established ? (disruptedAt === undefined ? 'established' : 'disrupted') : 'initialising'),
    /** Since the fabric was added. */
    ageMs: () => since(started),
  } as const;
}
