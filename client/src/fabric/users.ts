// The users of a fabric and of its streams, and what is said about streams before they exist.

import { json } from '../result.ts';
import type { UserID } from '../types.ts';
import { emit } from './emit.ts';
import type { Association, Fabric, Given, RtpEnd } from './state.ts';

/** Records whose an SSRC is. */
export function associate(f: Fabric, ssrc: number, association: Association): void {
  f.associations.set(ssrc, association);
  const { userID, usageLabel, tagID: associatedVideoTag } = association;
  emit(f, 'associateMstWithUserID', { ssrc, userID, usageLabel, associatedVideoTag });
}

/**
 * Names the owner of the streams that a track, a sender or a receiver has and will have. Nothing is recorded if they
 * have that owner already.
 */
export function associateAll(f: Fabric, source: object, association: Association): void {
  const given = givenOf(f, source);
  const textOf = (one?: Association) => json([one?.userID, one?.usageLabel, one?.tagID]);
  const isKnown = given.owner?.associatedVideoTag === association.associatedVideoTag;
  if (isKnown && textOf(given.owner) === textOf(association)) return;
  given.owner = association;
  for (const ssrc of ssrcsOf(f, source)) associate(f, ssrc, association);
}

/**
 * Records a pause or its end for the streams that a track, a sender or a receiver has, and a pause also for those
 * that it will have. Nothing is recorded if they are paused already, or are not. The end has the data of its pause.
 */
export function pauseAll(f: Fabric, source: object, event: string, data: object): void {
  const given = givenOf(f, source);
  const before = given.pause;
  const isPause = /(Mute|Pause)$/.test(event);
  if (isPause === Boolean(before)) return;
  given.pause = isPause ? [event, data] : undefined;
  for (const ssrc of ssrcsOf(f, source)) emit(f, event, { ...before?.[1], ...data, ssrc });
}

/** Records for a new stream what was given for its sender or receiver, or for the track. */
export function applyGiven(f: Fabric, ssrc: number, rtpEnd: RtpEnd | undefined): void {
  for (const source of [rtpEnd, rtpEnd?.track]) {
    const { owner, pause } = (source && f.given.get(source)) ?? {};
    if (owner) associate(f, ssrc, owner);
    if (pause) emit(f, pause[0], { ...pause[1], ssrc });
  }
}

function givenOf({ given }: Fabric, source: object): Given {
  const own = given.get(source) ?? {};
  given.set(source, own);
  return own;
}

const ssrcsOf = ({ sources }: Fabric, source: object) =>
  [...sources.values()].flatMap(({ ssrc, rtpEnd }) =>
    rtpEnd && [rtpEnd, rtpEnd.track].includes(source as never) ? ssrc : [],
  );

/** Names the remote user, or the local one, from now on. */
export function rename(f: Fabric, userIDType: string, newUserID: UserID): void {
  if (userIDType === 'remote') f.remoteUser = newUserID;
  emit(f, 'userIDChange', { userIDType, newUserID });
}

/** Its streams are those of another fabric from now on. */
export function passOn({ associations, given }: Fabric, next: Fabric): void {
  next.given = given;
  for (const [ssrc, association] of associations) associate(next, ssrc, association);
}
