// The object that csStatsCallback gets (interface document 2.8; STAT-02, 03, 08).

import type { MediaStreamTrackStats, StreamStats, UserID } from '../types.ts';
import { perSecond, round } from './interval.ts';
import { bounded } from './measures.ts';
import type { StreamInterval } from './monitor.ts';
import { num } from './normalise.ts';
import { label, lossOf, remoteLossOf } from './quality.ts';

/** What the fabric knows about a stream beside its measurements. */
export interface StreamIdentity {
  remoteUserID: UserID;
  userID: UserID;
  cname: string | null;
  msid: string | null;
  usageLabel: string | null;
  associatedVideoTag: unknown;
}

/** mediaStreamTracks and streams of one reading. */
export interface View {
  mediaStreamTracks: MediaStreamTrackStats[];
  streams: { [ssrc: string]: StreamStats };
}

/** Builds the view of a reading; bounds are those of the quality labels. */
export function view(
  intervals: readonly StreamInterval[],
  identityOf: (interval: StreamInterval) => StreamIdentity,
  bounds: readonly number[],
): View {
  const made: View = { mediaStreamTracks: [], streams: {} };
  for (const interval of intervals) {
    const identity = identityOf(interval);
    const own = ownReport(interval, identity, bounds);
    made.mediaStreamTracks.push(own);
    const remote = remoteReport(interval, own);
    if (remote) made.mediaStreamTracks.push(remote);
    made.streams[own.ssrc] = {
      reportType: interval.stream.statsType,
      ...(interval.stream.statsType === 'outbound-rtp' ? { rtt: own.rtt } : { fractionLoss: own.fractionLoss }),
      bitrate: own.bitrate,
      quality: own.quality,
    };
  }
  return made;
}

const kbps = (bytes: number | null, ms: number) => perSecond(bytes, 125 * ms); // 8 bits, 1000 of them

function ownReport(
  interval: StreamInterval,
  identity: StreamIdentity,
  bounds: readonly number[],
): MediaStreamTrackStats {
  const { stream, ms, measures } = interval;
  const inbound = stream.statsType === 'inbound-rtp';
  return {
    ...identity,
    ...lossFields(inbound ? lossOf(measures) : null),
    statsType: stream.statsType,
    ssrc: stream.ssrc,
    mediaType: stream.mediaType,
    bitrate: kbps(num(measures.bytes), ms),
    packetRate: perSecond(num(measures.packets), ms),
    jitter: num(measures.jitterMs),
    averageJitter: inbound ? round(interval.meanJitterMs, 1) : null,
    rtt: num(measures.rttMs),
    averageRTT: round(interval.meanRttMs, 1),
    quality: label(stream.mediaType, measures, ms, bounds),
    audioInputLevel: inbound ? null : num(measures.audioLevel),
    audioOutputLevel: inbound ? num(measures.audioLevel) : null,
  };
}

function lossFields(fraction: number | null) {
  return {
    fractionLoss: bounded('lossFraction', fraction) as number | null,
    packetLossPercentage: round(fraction === null ? null : fraction * 100, 2),
  };
}

/** The other end's report about the stream, where there is one. */
function remoteReport(interval: StreamInterval, own: MediaStreamTrackStats): MediaStreamTrackStats | null {
  const { stream, measures, sender } = interval;
  if (stream.remote.type === undefined) return null;
  const empty = {
    ...own,
    ...lossFields(null),
    bitrate: null,
    packetRate: null,
    jitter: null,
    averageJitter: null,
    audioInputLevel: null,
    audioOutputLevel: null,
  };
  if (stream.statsType === 'outbound-rtp') {
    return {
      ...empty,
      ...lossFields(remoteLossOf(measures)),
      statsType: 'remote-inbound-rtp',
      jitter: num(measures.remoteJitterMs),
      averageJitter: round(interval.meanJitterMs, 1),
    };
  }
  return {
    ...empty,
    statsType: 'remote-outbound-rtp',
    bitrate: kbps(sender.bytes, sender.ms),
    packetRate: perSecond(sender.packets, sender.ms),
  };
}
