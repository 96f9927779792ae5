// The set-up of a fabric: it succeeds, or fails at a stage.

import type { Stamp } from '../clock.ts';
import { type SetupTimes, type Stage, since } from '../lifecycle.ts';
import { attempt } from '../result.ts';
import { sdpText } from '../sdp.ts';
import { startMeasuring } from '../session/schedule.ts';
import { emit } from './emit.ts';
import { probe, probeSoon } from './measure.ts';
import { recordSetup } from './record.ts';
import type { Fabric } from './state.ts';

/** It is connected: its first interval begins here, so that its rates are those of a running call. */
export async function connected(f: Fabric, durations: SetupTimes): Promise<void> {
  const { owner, clock } = f;
  const stamp = clock.stamp();
  f.monitor.startMs = clock.mono();
  // Where there are others it is measured with them.
  if (owner.fabrics.length < 2) startMeasuring(owner);
  probeSoon(f);
  f.pendingSetup = { durations, stamp };
  await probe(f);
  recordSetup(f);
}

/** Records that it was never connected. */
export function recordFailure(f: Fabric, stage: Stage, reason: string, stamp?: Stamp): void {
  const sdp = attempt(() => sdpText(f.pc.localDescription), '');
  // A TURN server that does not answer leaves none, where only relays are allowed.
  const localCandidates = sdp ? sdp.split('\na=candidate').length - 1 : null;
  emit(f, 'fabricSetupFailed', { stage, failureMs: since(f, f.startedMs), reason, localCandidates }, stamp);
}
