// The measures between two readings of a stream: pure functions, safe against counters
// that start again. Names are those of protocol section 7.

import {
  type Counted,
  count,
  countersOf,
  grown,
  known,
  type Measures,
  measure,
  pairSet,
  streamSet,
  untrue,
} from './measures.ts';
import { num, type Pair, type Report, type Stream } from './normalise.ts';

/** Rounds to so many decimals; null where there is no number. */
export function round(value: number | null, decimals: number): number | null {
  const factor = 10 ** decimals;
  return num(Math.round(known(value) * factor) / factor);
}

/** The last counters of one stream: its own, and those of the other end's report; and how fast its packets went. */
export interface Counts {
  own?: Counted;
  far?: Counted;
  /** Packets in a ms: the most of the last intervals. */
  pace?: number;
  /** How long none were counted, or what was lost was not. */
  silentMs?: number;
}

const longestRttMs = 60_000;
const leastPace = { audio: 0.1, video: 0.5 }; // of packets in a ms: below it a loss may be true whatever was counted

/** The sent bytes and packets that the sender of an inbound stream reports, and in which time. */
export interface SenderInterval {
  bytes: number | null;
  packets: number | null;
  ms: number;
}

/**
 * The measures of a stream over the ms since counts, which are updated, and its sender's report.
 * pairRttMs is used where a stream has no RTT of its own.
 */
export function measureStream(counts: Counts, stream: Stream, ms: number, pairRttMs: number | null) {
  const { rtp, remote, source, ssrc, codec, statsType, mediaType } = stream;
  const set = streamSet(statsType, mediaType);
  counts.own ??= { ...countersOf(set) };
  counts.far ??= { ...countersOf(0) };
  const by = count(counts.own, rtp, countersOf(set));
  const limited = count(counts.own, (rtp.qualityLimitationDurations ?? {}) as Report, countersOf(0));
  const reportedMs = known(remote.timestamp) - known(counts.far.timestamp);
  const sentMs =
    num(remote.remoteTimestamp) === null ? ms : known(remote.remoteTimestamp) - known(counts.far.remoteTimestamp);
  const other = count(counts.far, remote, countersOf(0));
  const packets = checkedPackets(by, ms);
  const sent = known(packets);
  // A report has the losses of its own direction alone.
  const ownLost = by.packetsLost ?? null;
  const lost = checkedLoss(
    counts,
    ownLost ?? other.packetsLost ?? null,
    num(sent),
    ms,
    Math.max(ms, num(reportedMs) ?? 0),
    // The sender knows how many there were.
    ownLost === null ? 0 : leastPace[mediaType],
  );
  const measures = measure(set, by, rtp, {
    ssrc,
    codec,
    // For the first time: browsers count retransmissions among the packets (Chromium those of
    // the RTX stream), which would make a loss look smaller the harder it is fought.
    packets: grown(packets) - (by.retransmittedPacketsReceived ?? by.retransmittedPacketsSent ?? 0),
    packetsLost: lost,
    audioLevel: num(rtp.audioLevel) ?? source.audioLevel,
    fps: (known(by.framesSent ?? by.framesDecoded ?? by.framesEncoded) * 1000) / ms,
    rttMs: rttOf(other, remote.roundTripTime) ?? pairRttMs,
    remotePacketsLost: lost,
    remoteJitterMs: 1000 * known(remote.jitter),
    // The receiver reports every few seconds: what it lost between two of its reports is held
    // against what was sent in that time.
    remoteLossFraction:
      lost === untrue
        ? null
        : (num(reportedMs > 0 ? (known(lost) * ms) / (sent * reportedMs) : null) ?? num(remote.fractionLost)),
    cpuLimitedMs: 1000 * known(limited.cpu),
    bandwidthLimitedMs: 1000 * known(limited.bandwidth),
    // Chromium still reports the target of an encoding that was switched off. Firefox has a target for each frame.
    targetBitrateBps:
      rtp.active === false ? 0 : (num(rtp.targetBitrate) ?? ((8000 * known(by.totalEncodedBytesTarget)) / ms || null)),
  });
  // The sender too: without two of its reports it is unknown what it sent.
  const reported = (bytes: unknown) => (sentMs > 0 ? num(bytes) : null);
  const farEnd: SenderInterval = {
    bytes: reported(other.bytesSent),
    packets: reported(other.packetsSent),
    ms: num(sentMs) ?? 0,
  };
  return { measures, farEnd };
}

/** The packets of an interval, or untrue: those without payload are few (Within of packets in protocol/measures.go). */
function checkedPackets(by: Counted, ms: number): number | null {
  const packets = by.packetsReceived ?? by.packetsSent ?? null;
  return known(packets) > known(by.bytesReceived ?? by.bytesSent) + ms ? untrue : packets;
}

/**
 * The loss of an interval, or untrue: of a jump of sequence numbers receivers count as many packets as it is wide. More
 * than twice what went at the pace of the last intervals is untrue, in the ms of the loss and the silence before.
 */
function checkedLoss(
  counts: Counts,
  lost: number | null,
  packets: number | null,
  ms: number,
  lossMs: number,
  least: number,
): number | null {
  const silentMs = counts.silentMs ?? 0;
  const pace = Math.max((packets ?? 0) / ms, (counts.pace ?? 0) * 0.9);
  counts.pace = pace;
  counts.silentMs = packets && lost !== null ? 0 : silentMs + ms;
  return Math.abs(known(lost)) > 2 * Math.max(pace, least) * (silentMs + lossMs) ? untrue : lost;
}

/** A count over ms as a rate. */
export function perSecond(count: number | null, ms: number): number | null {
  return round((known(count) * 1000) / ms, 2);
}

/** The mean round trip of the interval's measurements, else the last one known, in s. */
function rttOf(by: Counted, last: unknown): number | null {
  const measurements = by.roundTripTimeMeasurements ?? by.responsesReceived;
  const ms = num(1000 * (num(known(by.totalRoundTripTime) / known(measurements)) ?? known(last)));
  return known(ms) > longestRttMs ? untrue : ms;
}

/** The measures of a selected candidate pair; before is its report at the last measurement. */
export function measurePair(before: Report | undefined, { pair }: Pair): Measures {
  const names = countersOf(pairSet);
  const by = count(count({ ...names }, before ?? {}, names), pair, names);
  return measure(pairSet, by, pair, { rttMs: rttOf(by, pair.currentRoundTripTime) });
}
