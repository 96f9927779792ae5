// The users of a fabric and of its streams.

import type { UserID } from '../types.ts';
import { emit } from './record.ts';
import type { Association, Fabric } from './state.ts';

/** Records whose an SSRC is. */
export function associate(f: Fabric, ssrc: number, association: Association): void {
  f.associations.set(ssrc, association);
  const { userID, usageLabel, tagID: associatedVideoTag } = association;
  emit(f, 'associateMstWithUserID', { ssrc, userID, usageLabel, associatedVideoTag });
}

/** Names the remote user, or the local one, from now on. */
export function rename(f: Fabric, userIDType: string, newUserID: UserID): void {
  if (userIDType === 'remote') f.remoteUser = newUserID;
  emit(f, 'userIDChange', { userIDType, newUserID });
}

/** Its streams are those of another fabric from now on. */
export function passOn({ associations }: Fabric, next: Fabric): void {
  for (const [ssrc, association] of associations) associate(next, ssrc, association);
}
