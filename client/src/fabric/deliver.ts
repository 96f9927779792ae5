// Readings for the application (STAT-02, STAT-03).

import { phaseOf } from '../lifecycle.ts';
import { noSource } from '../sdp.ts';
import { conferenceURL, localUser } from '../session/conferences.ts';
import { deliverStats, readingCallbacks } from '../session/results.ts';
import type { StreamInterval } from '../stats/monitor.ts';
import { type StreamIdentity, view } from '../stats/view.ts';
import type { Fabric } from './state.ts';

/** Hands the application the streams of an interval, where it takes them. */
export function deliver(f: Fabric, intervals: StreamInterval[]): void {
  const { owner, info } = f;
  if (!readingCallbacks(owner).length) return;
  deliverStats(owner, {
    connectionState: owner.ready ? 'online' : 'offline',
    fabricState: f.done ? 'terminated' : phaseOf(f),
    conferenceURL: conferenceURL(owner, info),
    conferenceID: info.conferenceID,
    ...view(intervals, (interval) => identityOf(f, interval), owner.bounds),
  });
}

function identityOf(f: Fabric, { stream }: StreamInterval): StreamIdentity {
  const own = f.associations.get(stream.ssrc);
  const inbound = stream.statsType === 'inbound-rtp';
  const { cname, msid } = f.sources.get(stream.key) ?? noSource;
  return {
    remoteUserID: (inbound && own?.userID) || f.remoteUser,
    userID: own?.userID ?? (inbound ? f.remoteUser : localUser(f.owner, f.info.conferenceID)),
    cname,
    msid,
    usageLabel: own?.usageLabel ?? null,
    associatedVideoTag: own?.associatedVideoTag ?? null,
  };
}
