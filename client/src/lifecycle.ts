// The life of a PeerConnection as seen from outside: connected, disrupted, closed
// (requirements FAB-05 to FAB-08, FAB-14). It reads states, it never changes anything.

import { attempt } from './result.ts';
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

const watched = [
  'iceconnectionstatechange',
  'connectionstatechange',
  'icegatheringstatechange',
  'signalingstatechange',
];
const unknownTimes: SetupTimes = { setupMs: null, gatheringMs: null, connectivityMs: null };

/** Whether a PeerConnection carries media: ICE and DTLS, or ICE alone where DTLS is unknown. */
export function isConnected(pc: object): boolean {
  return attempt(() => {
    const { connectionState, iceConnectionState } = pc as States;
    if (connectionState !== undefined) return connectionState === 'connected';
    return iceConnectionState === 'connected' || iceConnectionState === 'completed';
  }, false);
}

/** Whether a PeerConnection was closed. It does not tell of its own close(): whoever asks finds out. */
export function isClosed(pc: object): boolean {
  return attempt(() => {
    const { signalingState, connectionState, iceConnectionState } = pc as States;
    return [signalingState, connectionState, iceConnectionState].includes('closed');
  }, false);
}

function since(start: number | null, end: number): number | null {
  return start === null ? null : Math.round(end - start);
}

export class Lifecycle {
  readonly #pc: States;
  readonly #mono: () => number;
  readonly #events: LifecycleEvents;
  readonly #started: number;
  readonly #update = () => this.update();
  #alreadyConnected: boolean;
  #remoteSet = false;
  #established = false;
  #failed = false;
  #gathering: number | null = null;
  #gathered: number | null = null;
  #checking: number | null = null;
  #disrupted: number | null = null;
  #ufrag: string | null = null;
  #settled = '';

  /** Watches a PeerConnection until stop(). */
  constructor(pc: object, mono: () => number, events: LifecycleEvents) {
    this.#pc = pc;
    this.#mono = mono;
    this.#events = events;
    this.#started = mono();
    this.#alreadyConnected = isConnected(pc);
    for (const type of watched) attempt(() => this.#pc.addEventListener?.(type, this.#update), undefined);
  }

  /** Removes the listeners. */
  stop(): void {
    for (const type of watched) attempt(() => this.#pc.removeEventListener?.(type, this.#update), undefined);
  }

  state(): 'initialising' | 'established' | 'disrupted' {
    if (!this.#established) return 'initialising';
    return this.#disrupted === null ? 'established' : 'disrupted';
  }

  /** How far a fabric got that is not connected; null once its failure was told. */
  stage(): Stage | null {
    return this.#established || this.#failed ? null : attempt(() => this.#reached(), 'connectivity');
  }

  #reached(): Stage {
    if (!this.#pc.remoteDescription) return 'noRemoteDescription';
    const ice = this.#ice();
    if (ice === 'connected' || ice === 'completed') return 'dtls';
    return ice === 'new' && this.#checking === null ? 'gathering' : 'connectivity';
  }

  /** Since the fabric was added. */
  ageMs(): number {
    return Math.round(this.#mono() - this.#started);
  }

  /** Reads the states now. */
  update(): void {
    try {
      if (isClosed(this.#pc)) this.#events.closed();
      else {
        this.#negotiation();
        this.#connection(this.#mono());
      }
    } catch {
      // A look-alike that throws is asked again next time.
    }
  }

  #ice(): string {
    return this.#pc.iceConnectionState ?? this.#pc.connectionState ?? '';
  }

  #hasFailed(): boolean {
    return this.#ice() === 'failed' || this.#pc.connectionState === 'failed';
  }

  #negotiation(): void {
    const { remoteDescription, localDescription, signalingState } = this.#pc;
    if (!this.#remoteSet && remoteDescription) {
      this.#remoteSet = true;
      this.#events.remoteDescriptionSet();
    }
    const sdp = signalingState === 'stable' ? sdpText(localDescription) : '';
    if (sdp === '' || sdp === this.#settled) return;
    this.#settled = sdp;
    const ufrag = iceUfrag(sdp);
    if (this.#ufrag && ufrag && ufrag !== this.#ufrag) this.#events.iceRestarted();
    this.#ufrag = ufrag ?? this.#ufrag;
    this.#events.negotiated();
  }

  #connection(now: number): void {
    const gathering = this.#pc.iceGatheringState;
    if (gathering && gathering !== 'new') this.#gathering ??= now;
    if (gathering === 'complete') this.#gathered ??= now;
    if (this.#ice() === 'checking') this.#checking ??= now;
    if (this.#established) this.#disruption(now);
    else if (isConnected(this.#pc)) {
      this.#established = true;
      this.#events.connected(this.#alreadyConnected ? unknownTimes : this.#times(now));
    } else if (this.#hasFailed() && !this.#failed) {
      const stage = this.stage() ?? 'connectivity';
      this.#failed = true;
      this.#events.setupFailed(stage);
    }
    this.#alreadyConnected = false;
  }

  #times(now: number): SetupTimes {
    return {
      setupMs: since(this.#started, now),
      // What was still being gathered when the path stood did not delay it.
      gatheringMs: since(this.#gathering, this.#gathered ?? now),
      connectivityMs: since(this.#checking, now),
    };
  }

  #disruption(now: number): void {
    const broken = this.#ice() === 'disconnected' || this.#hasFailed();
    if (broken && this.#disrupted === null) {
      this.#disrupted = now;
      this.#events.disrupted(this.#hasFailed() ? 'failed' : 'disconnected');
    } else if (this.#disrupted !== null && !broken && isConnected(this.#pc)) {
      this.#events.recovered(Math.round(now - this.#disrupted));
      this.#disrupted = null;
    }
  }
}
