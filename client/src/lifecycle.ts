// The life of a PeerConnection as seen from outside: connected, disrupted, closed
// (requirements FAB-05 to FAB-08, FAB-14). It reads states, it never changes anything.

import { iceUfrag, sdpText } from './sdp.ts';

/** How far a fabric got that was never connected. */
export type Stage = 'noRemoteDescription' | 'gathering' | 'connectivity' | 'dtls';

/** Durations of a set-up; null where the library did not see the beginning. */
export interface SetupTimes {
  setupMs: number | null;
  gatheringMs: number | null;
  connectivityMs: number | null;
}

/** What happened; every callback comes at most once per happening. */
export interface LifecycleEvents {
  remoteDescriptionSet(): void;
  connected(times: SetupTimes): void;
  setupFailed(stage: Stage): void;
  disrupted(iceConnectionState: string): void;
  recovered(durationMs: number): void;
  iceRestarted(): void;
  /** The session description is settled: streams may have come or gone. */
  negotiated(): void;
  closed(): void;
}

export interface Lifecycle {
  /** Reads the states now. */
  update(): void;
  state(): 'initialising' | 'established' | 'disrupted';
  stage(): Stage;
  /** Removes the listeners. */
  stop(): void;
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

const watched = ['iceconnectionstatechange', 'connectionstatechange', 'icegatheringstatechange', 'signalingstatechange'];

/** Whether a PeerConnection carries media: ICE and DTLS, or ICE alone where DTLS is unknown. */
export function isConnected(pc: object): boolean {
  const { connectionState, iceConnectionState } = pc as States;
  if (connectionState !== undefined) return connectionState === 'connected';
  return iceConnectionState === 'connected' || iceConnectionState === 'completed';
}

/** Watches a PeerConnection from now on. */
export function watchLifecycle(object: object, mono: () => number, events: LifecycleEvents): Lifecycle {
  const pc = object as States;
  const started = mono();
  let alreadyConnected = isConnected(pc);
  let remoteSet = false;
  let established = false;
  let failed = false;
  let gathering: number | null = null;
  let gathered: number | null = null;
  let checking: number | null = null;
  let disrupted: number | null = null;
  let ufrag: string | null = null;
  let settled: unknown;

  const ice = () => pc.iceConnectionState ?? pc.connectionState ?? '';
  const hasFailed = () => ice() === 'failed' || pc.connectionState === 'failed';

  function negotiation(): void {
    if (!remoteSet && pc.remoteDescription) {
      remoteSet = true;
      events.remoteDescriptionSet();
    }
    if (pc.signalingState !== 'stable' || !pc.localDescription || settled === sdpText(pc.localDescription)) return;
    settled = sdpText(pc.localDescription);
    const now = iceUfrag(String(settled));
    if (ufrag && now && now !== ufrag) events.iceRestarted();
    ufrag = now ?? ufrag;
    events.negotiated();
  }

  function connection(): void {
    const now = mono();
    if (pc.iceGatheringState !== 'new') gathering ??= now;
    if (pc.iceGatheringState === 'complete') gathered ??= now;
    if (ice() === 'checking') checking ??= now;
    if (established) disruption(now);
    else if (isConnected(pc)) {
      established = true;
      events.connected(alreadyConnected ? { setupMs: null, gatheringMs: null, connectivityMs: null } : times(now));
    } else if (hasFailed() && !failed) {
      failed = true;
      events.setupFailed(stage());
    }
    alreadyConnected = false;
  }

  function times(now: number): SetupTimes {
    const since = (start: number | null, end: number) => (start === null ? null : Math.round(end - start));
    return {
      setupMs: Math.round(now - started),
      // What was still being gathered when the path stood did not delay it.
      gatheringMs: since(gathering, Math.min(gathered ?? now, now)),
      connectivityMs: since(checking, now),
    };
  }

  function disruption(now: number): void {
    const broken = ice() === 'disconnected' || hasFailed();
    if (broken && disrupted === null) {
      disrupted = now;
      events.disrupted(hasFailed() ? 'failed' : 'disconnected');
    } else if (disrupted !== null && !broken && isConnected(pc)) {
      events.recovered(Math.round(now - disrupted));
      disrupted = null;
    }
  }

  function stage(): Stage {
    if (!pc.remoteDescription) return 'noRemoteDescription';
    const state = ice();
    if (state === 'connected' || state === 'completed') return 'dtls';
    return state === 'new' && checking === null ? 'gathering' : 'connectivity';
  }

  function update(): void {
    try {
      // A PeerConnection does not tell of its own close(): whoever calls update() finds out.
      if (pc.signalingState === 'closed' || pc.connectionState === 'closed' || pc.iceConnectionState === 'closed') events.closed();
      else {
        negotiation();
        connection();
      }
    } catch {
      // A look-alike that throws is asked again next time.
    }
  }

  for (const type of watched) pc.addEventListener?.(type, update);
  return {
    update,
    stage,
    state: () => (!established ? 'initialising' : disrupted === null ? 'established' : 'disrupted'),
    stop() {
      for (const type of watched) pc.removeEventListener?.(type, update);
    },
  };
}
