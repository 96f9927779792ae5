// The life of a PeerConnection as its states show it: connected, disrupted, closed
// (requirements FAB-05 to FAB-08, FAB-14). Nothing here changes the PeerConnection.

import type { Lifecycle } from './fabric/state.ts';
import { attempt } from './result.ts';
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

/** The states of a real PeerConnection that the library reads; a look-alike may lack any. */
export interface States {
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

/** The states that end or disrupt a connection. */
export const statesOf = (pc: object) => names.map((name) => (pc as States)[name]);

const isUp = (ice: string) => ice === 'connected' || ice === 'completed';

export const iceOf = (pc: States) => pc.iceConnectionState ?? pc.connectionState ?? '';

export const hasFailed = (pc: States) => [iceOf(pc), pc.connectionState].includes('failed');

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

/** Adds the listeners, or removes them. */
export function listen({ pc, listener }: Lifecycle, method: 'addEventListener' | 'removeEventListener'): void {
  for (const name of names) attempt(() => pc[method]?.(`${name}change`.toLowerCase(), listener));
}

/** From then to now or to the end, null when the beginning was not seen. */
export const since = ({ clock }: Lifecycle, start: number | undefined, end = clock.mono()) =>
  num(Math.round(end - known(start)));

/** The durations of a set-up that succeeds now. */
export function setupTimes(life: Lifecycle): SetupTimes {
  const { startedMs, gatheringAtMs, checkingAtMs } = life;
  const [started, gathering, checking] = life.wasConnected ? [] : [startedMs, gatheringAtMs, checkingAtMs];
  return {
    setupMs: since(life, started),
    // Gathering that continued when it was connected did not delay it.
    gatheringMs: since(life, gathering, life.gatheredAtMs),
    connectivityMs: since(life, checking),
  };
}

/** How far a fabric got that is not connected. */
export function stageOf({ pc, checkingAtMs }: Lifecycle): Stage {
  if (!pc.remoteDescription) return 'noRemoteDescription';
  if (isUp(iceOf(pc))) return 'dtls';
  return iceOf(pc) === 'new' && checkingAtMs === undefined ? 'gathering' : 'connectivity';
}

/** The stage at which a fabric would fail if it ended now; null once it was connected or failed. */
export const openStage = (life: Lifecycle) =>
  life.established || life.failed ? null : attempt(() => stageOf(life), 'connectivity');

/** The fabricState of the application's callback. */
export function phaseOf({ established, disruptedAtMs }: Lifecycle) {
  if (!established) return 'initialising';
  return disruptedAtMs === undefined ? 'established' : 'disrupted';
}
