// The users of a fabric and of its streams, and what is said about streams before they exist.

import { json } from '../result.ts';
import type { UserID } from '../types.ts';
import { emit } from './emit.ts';
import type { Association, Fabric, Given, Source } from './state.ts';

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
  for (const { ssrc } of sourcesOf(f, source)) associate(f, ssrc, association);
}

/** What was given for the sender or receiver of a stream, or for its track. */
export function givenTo({ given }: Fabric, { rtpEnd }: Source): Given {
  const of = (one?: object | null): Given => (one && given.get(one)) ?? {};
  const [own, track] = [of(rtpEnd), of(rtpEnd?.track)];
  return { owner: own.owner ?? track.owner, pause: own.pause ?? track.pause };
}

/** The streams of a track, a sender or a receiver. */
export const sourcesOf = ({ sources }: Fabric, source: object): Source[] =>
  [...sources.values()].filter(({ rtpEnd }) => rtpEnd && [rtpEnd, rtpEnd.track].includes(source as never));

/** What was given for a track, a sender or a receiver; to be changed. */
export function givenOf({ given }: Fabric, source: object): Given {
  const own = given.get(source) ?? {};
  given.set(source, own);
  return own;
}

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
