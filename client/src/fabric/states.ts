// Reads the states of a PeerConnection, and does what a change of them asks for.

import { hasFailed, iceOf, isClosed, isConnected, setupTimes, since, stageOf, statesOf } from '../lifecycle.ts';
import { attempt } from '../result.ts';
import { iceUfrag, sdpText } from '../sdp.ts';
import { report } from '../session/results.ts';
import { emit } from './emit.ts';
import { end } from './end.ts';
import { probeSoon } from './measure.ts';
import { connected, recordFailure } from './setup.ts';
import type { Fabric } from './state.ts';

/** Reads the states now; a look-alike that throws is read again next time. */
export function readStates(f: Fabric): void {
  attempt(() => {
    if (isClosed(f.pc)) end(f, 'closed');
    else {
      readNegotiation(f);
      readConnection(f);
    }
  });
}

/**
 * Reads the states where any of them is another one: nothing reports close(), and a look-alike
 * may report nothing at all. Before it is connected descriptions count too.
 */
export function readChanged(f: Fabric): void {
  const states = attempt(() => statesOf(f.pc).join(), '');
  if (f.established && states === f.lastStates) return;
  f.lastStates = states;
  readStates(f);
}

function readNegotiation(f: Fabric): void {
  const { pc } = f;
  if (!f.remoteSet && pc.remoteDescription) {
    f.remoteSet = true;
    emit(f, 'remoteDescriptionSet');
  }
  const sdp = pc.signalingState === 'stable' ? sdpText(pc.localDescription) : '';
  if (!sdp || sdp === f.settledSdp) return;
  f.settledSdp = sdp;
  const ufrag = iceUfrag(sdp);
  if (f.ufrag && ufrag && ufrag !== f.ufrag) emit(f, 'iceRestart');
  f.ufrag = ufrag ?? f.ufrag;
  probeSoon(f); // streams may have been added or removed
}

function readConnection(f: Fabric): void {
  readGathering(f);
  if (f.established) readDisruption(f);
  else if (isConnected(f.pc)) {
    f.established = true;
    connected(f, setupTimes(f));
  } else if (hasFailed(f.pc) && !f.failed) {
    const stage = stageOf(f);
    f.failed = true;
    recordFailure(f, stage, 'failed');
    reportOutage(f, 'failed');
  }
  f.wasConnected = false;
}

function readGathering(f: Fabric): void {
  const now = f.clock.mono();
  const state = f.pc.iceGatheringState ?? 'new';
  if (state !== 'new') f.gatheringAtMs ??= now;
  if (state === 'complete') f.gatheredAtMs ??= now;
  if (iceOf(f.pc) === 'checking') f.checkingAtMs ??= now;
}

function readDisruption(f: Fabric): void {
  const { pc, disruptedAtMs } = f;
  const broken = hasFailed(pc) ? 'failed' : iceOf(pc) === 'disconnected' && 'disconnected';
  if (broken && disruptedAtMs === undefined) {
    f.disruptedAtMs = f.clock.mono();
    emit(f, 'iceDisruptionStart', { iceConnectionState: broken });
    reportOutage(f, `is ${broken}`);
  } else if (disruptedAtMs !== undefined && !broken && isConnected(pc)) {
    emit(f, 'iceDisruptionEnd', { durationMs: since(f, disruptedAtMs) });
    f.disruptedAtMs = undefined;
  }
}

function reportOutage({ owner, info }: Fabric, state: string): void {
  report(owner, 'appConnectivityError', `a PeerConnection of ${info.conferenceID} ${state}`);
}
