// The object that csStatsCallback gets (interface document 2.8; STAT-02, 03, 08).

import type { MediaStreamTrackStats, StreamStats, UserID } from '../types.ts';
import { perSecond, round } from './interval.ts';
import { known } from './measures.ts';
import type { StreamInterval } from './monitor.ts';
import { num } from './normalise.ts';
import { label, lossOf } from './quality.ts';

/** The names of a stream and of its users. */
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
    const reports = reportsOf(interval, identityOf(interval), bounds);
    made.mediaStreamTracks.push(...reports);
    const [{ ssrc, rtt, fractionLoss, bitrate, quality }] = reports;
    const { statsType: reportType } = interval.stream;
    made.streams[ssrc] =
      reportType === 'outbound-rtp'
        ? { reportType, rtt, bitrate, quality }
        : { reportType, fractionLoss, bitrate, quality };
  }
  return made;
}

/** A stream's own report, and the other end's about it where there is one. */
function reportsOf(
  { stream, ms, measures, farEnd, meanJitterMs, meanRttMs }: StreamInterval,
  identity: StreamIdentity,
  bounds: readonly number[],
): [MediaStreamTrackStats, ...MediaStreamTrackStats[]] {
  const { ssrc, mediaType } = stream;
  const inbound = stream.statsType === 'inbound-rtp';
  const rtt = num(measures.rttMs);
  const averageRTT = round(meanRttMs, 1);
  const quality = label(mediaType, measures, ms, bounds);
  const level = num(measures.audioLevel);
  const report = (
    statsType: MediaStreamTrackStats['statsType'],
    loss: number | null,
    overMs: number,
    bytes: unknown,
    packets: unknown,
    jitterMs: unknown,
    meanMs: number | null,
    own = false,
  ): MediaStreamTrackStats =>
    // Browsers are ten times slower where members follow an object that is spread.
    Object.assign(
      {
        statsType,
        ssrc,
        mediaType,
        fractionLoss: round(loss, 4),
        packetLossPercentage: round(100 * known(loss), 2),
        bitrate: perSecond(num(bytes), 125 * overMs), // kbit/s: 8 bits, 1000 of them
        packetRate: perSecond(num(packets), overMs),
        jitter: num(jitterMs),
        averageJitter: round(meanMs, 1),
        rtt,
        averageRTT,
        quality,
        audioInputLevel: own && !inbound ? level : null,
        audioOutputLevel: own && inbound ? level : null,
      },
      identity,
    );
  const { bytes, packets, jitterMs, remoteLossFraction, remoteJitterMs } = measures;
  const loss = inbound ? lossOf(measures) : null;
  const own = report(stream.statsType, loss, ms, bytes, packets, jitterMs, inbound ? meanJitterMs : null, true);
  if (stream.remote.type === undefined) return [own];
  return [
    own,
    inbound
      ? report('remote-outbound-rtp', null, farEnd.ms, farEnd.bytes, farEnd.packets, null, null)
      : report('remote-inbound-rtp', num(remoteLossFraction), ms, null, null, remoteJitterMs, meanJitterMs),
  ];
}
