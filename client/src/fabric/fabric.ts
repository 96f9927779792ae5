// One monitored PeerConnection in one conference.

import { isConnected, listen } from '../lifecycle.ts';
import { later } from '../result.ts';
import type { Session } from '../session/state.ts';
import { createMonitor } from '../stats/monitor.ts';
import { createReader } from '../stats/read.ts';
import type { PcCallback } from '../types.ts';
import { emit } from './emit.ts';
import { probe } from './measure.ts';
import type { Fabric, FabricInfo } from './state.ts';
import { readStates } from './states.ts';

/** Starts to monitor; pcCallback gets the outcome of fabricAdded. */
export function createFabric(owner: Session, pc: object, info: FabricInfo, pcCallback?: PcCallback): Fabric {
  const { clock } = owner;
  const startedMs = clock.mono();
  const f: Fabric = {
    owner,
    clock,
    pc,
    info,
    listener: () => readStates(f),
    startedMs,
    wasConnected: isConnected(pc),
    remoteSet: false,
    established: false,
    failed: false,
    settledSdp: '',
    lastStates: '',
    monitor: createMonitor(startedMs),
    reader: createReader(pc),
    awaiting: false,
    associations: new Map(),
    sources: new Map(),
    given: new WeakMap(),
    muted: new Set(),
    remoteUser: info.remoteUserID,
    done: false,
  };
  // It waits in the queue: bound, since a closure would keep the PeerConnection.
  const reported = pcCallback && later.bind<null, [PcCallback], Parameters<PcCallback>, void>(null, pcCallback);
  emit(f, 'fabricAdded', { alreadyConnected: f.wasConnected }, info.addedAt, reported);
  listen(f, 'addEventListener');
  readStates(f);
  probe(f);
  return f;
}
