// The conferences of a session: their fabrics, the local user in each, and their URLs.

import type { Fabric, FabricInfo } from '../fabric/state.ts';
import type { UserID } from '../types.ts';
import type { Session } from './state.ts';

const keptEnded = 256;

/** The fabrics that have not ended, of that conference alone where one is given. */
export const liveFabrics = (s: Session, conferenceID?: string) =>
  s.fabrics.filter((f) => !f.ending && (conferenceID === undefined || f.info.conferenceID === conferenceID));

/** The last fabric of that conference, ended or not. */
export const lastFabricOf = (s: Session, conferenceID: string) =>
  [...s.ended, ...s.fabrics.map((f) => f.info)].filter((info) => info.conferenceID === conferenceID).at(-1);

/** The live fabric of pc itself in that conference. */
export const ownFabric = (s: Session, pc: unknown, conferenceID: string) =>
  liveFabrics(s, conferenceID).find((f) => f.pc === pc);

/** Whether pc was a fabric of that conference, and is none any more. */
export const hasEnded = (s: Session, pc: unknown, conferenceID: string) =>
  Boolean(s.instance.known.get(pc as object)?.has(conferenceID)) && !ownFabric(s, pc, conferenceID);

/** The local user in a conference. */
export const localUser = (s: Session, conferenceID: string): UserID => s.renamed.get(conferenceID) ?? s.info.userID;

/** Names the local user in a conference from now on. */
export function renameLocal(s: Session, conferenceID: string, userID: UserID): void {
  s.renamed.set(conferenceID, userID);
}

/** The page of a fabric's conference; null for none. */
export function conferenceURL(s: Session, { fabric, conferenceID, addedAt }: FabricInfo): string | null {
  const known = s.urlByFabric.get(fabric);
  if (known !== undefined) return known;
  const values: Record<string, unknown> = { appID: s.info.appID, conferenceID, at: s.clock.time(addedAt) };
  const url =
    s.urlTemplate.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(String(values[name] ?? all))) || null;
  s.urlByFabric.set(fabric, url);
  return url;
}

/** Removes a fabric that has ended. Its description is kept for later frames of its conference, its PeerConnection is not. */
export function forget(s: Session, fabric: Fabric): void {
  const { info } = fabric;
  s.fabrics = s.fabrics.filter((other) => other !== fabric);
  s.ended.push(info);
  s.urlByFabric.delete(info.fabric);
  const oldest = s.ended.length > keptEnded && s.ended.shift();
  if (oldest && !lastFabricOf(s, oldest.conferenceID)) s.renamed.delete(oldest.conferenceID);
  if (s.announcements.size > 2 * keptEnded) forgetAnnouncements(s);
}

/** Keeps the announcements of live fabrics and of those that frames in the queue are about. */
function forgetAnnouncements(s: Session): void {
  const lost = s.queue.pending.flatMap((entry) => entry.lost);
  const needed = new Set([...s.fabrics.map((f) => f.info), ...lost].map(({ fabric }) => fabric));
  for (const number of s.announcements.keys()) if (!needed.has(number)) s.announcements.delete(number);
}
