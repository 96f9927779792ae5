// The fabrics of a session: added, found by their PeerConnections, measured together.

import { isGenuine } from '../brand.ts';
import { emit } from '../fabric/emit.ts';
import { end } from '../fabric/end.ts';
import { createFabric } from '../fabric/fabric.ts';
import { measure } from '../fabric/measure.ts';
import type { EndReason, Fabric, FabricDescription } from '../fabric/state.ts';
import { readChanged } from '../fabric/states.ts';
import { rename } from '../fabric/users.ts';
import { isClosed } from '../lifecycle.ts';
import { once } from '../queue.ts';
import { attempt, Invalid, json } from '../result.ts';
import { hasStream } from '../stats/monitor.ts';
import { pump } from '../transport/send.ts';
import type { PcCallback } from '../types.ts';
import { isGiven } from '../validate.ts';
import { readWifi } from '../wifi.ts';
import { hasEnded, liveFabrics, ownFabric } from './conferences.ts';
import { measureIn, startMeasuring } from './schedule.ts';
import { recorder } from './send.ts';
import type { Session } from './state.ts';

/** Why an operation on a fabric that was is refused. */
export const over = 'the fabric has ended already';

/** Monitors a PeerConnection; pcCallback gets the outcome of fabricAdded. */
export function addFabric(s: Session, pc: object, description: FabricDescription, pcCallback?: PcCallback): Fabric {
  const { conferenceID } = description;
  const newUserID = !liveFabrics(s, conferenceID).length && s.renamed.get(conferenceID);
  const info = { ...description, fabric: ++s.lastFabric, addedAt: s.clock.stamp() };
  s.announcements.set(
    info.fabric,
    once(() => json({ type: 'fabric', ...info, addedAt: s.clock.time(info.addedAt) })),
  );
  s.instance.known.get(pc)?.add(conferenceID);
  const first = !s.fabrics.length;
  if (first) s.measuredAtMs = s.clock.mono();
  const fabric = createFabric(s, pc, info, pcCallback);
  s.fabrics.push(fabric);
  // To the collector it may be another conference by now, where nobody was renamed yet.
  if (newUserID) rename(fabric, 'local', newUserID);
  if (first) startMeasuring(s);
  return fabric;
}

/** Whether there is nothing to add: it is monitored, or it was and is closed by now. */
export const isMonitored = (s: Session, pc: object, conferenceID: string) =>
  Boolean(ownFabric(s, pc, conferenceID) || (s.instance.known.get(pc)?.size && isClosed(pc)));

/** The live fabric of pc: its own, or the only one that fits a wrapper or a look-alike (API-12). */
export function findFabric(s: Session, pc: unknown, conferenceID: string, ssrc?: unknown): Fabric {
  const own = ownFabric(s, pc, conferenceID);
  if (own) return own;
  if (hasEnded(s, pc, conferenceID)) throw new Invalid(over);
  const live = liveFabrics(s, conferenceID);
  const withStream = live.filter((f) => hasStream(f.monitor, ssrc));
  const isItself = s.instance.known.has(pc as object) || isGenuine(pc);
  const fits = isItself ? [] : withStream.length ? withStream : live;
  if (fits.length === 1) return fits[0] as Fabric;
  throw new Invalid(`pc is no fabric of this conferenceID, ${fits.length} fit`);
}

/** Records frames of pc's fabric, or of the conference where it has none (API-12, FAB-11). */
export const recorderFor = (s: Session, pc: unknown, conferenceID: string) =>
  recorder(s, isGiven(pc) ? attempt(() => findFabric(s, pc, conferenceID)) : undefined, conferenceID);

/** Measures all fabrics, and sends when all have answered. */
export function measureAll(s: Session): void {
  s.measuredAtMs = s.clock.mono();
  if (!s.fabrics.length) return;
  measureIn(s, s.periodMs);
  let awaited = s.fabrics.length;
  for (const fabric of s.fabrics) {
    readChanged(fabric);
    measure(fabric).then(() => --awaited || pump(s));
  }
  pump(s); // frames of the last measurement may still wait for a missing answer
  recordWifi(s);
}

/** Ends all fabrics, without last readings. */
export function endAll(s: Session, reason: EndReason): void {
  for (const fabric of s.fabrics) end(fabric, reason, true);
}

/** Reads the states of all fabrics: nothing reports a close(). */
export function readAllStates(s: Session): void {
  for (const fabric of s.fabrics) readChanged(fabric);
}

async function recordWifi(s: Session): Promise<void> {
  const handler = s.instance.wifi;
  const sample = handler && (await readWifi(handler, s.info.config.collectIP));
  if (!sample) return;
  // One fabric of each conference records it.
  for (const fabric of new Map(s.fabrics.map((f) => [f.info.conferenceID, f])).values())
    emit(fabric, 'wifiStats', sample);
}
