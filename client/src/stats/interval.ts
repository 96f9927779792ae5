// What happened between two readings of a stream: pure functions, safe against counters
// that start again. Names are those of protocol section 7.

import { increase, known, type Measures, measure, pairSet, streamSet } from './measures.ts';
import { num, type Pair, type Report, type Stream } from './normalise.ts';

/** Rounds to so many decimals; null where there is no number. */
export function round(value: number | null, decimals: number): number | null {
  const factor = 10 ** decimals;
  return num(Math.round(known(value) * factor) / factor);
}

/** What a reading is counted from: nothing when one of these counters says that all was started again. */
function baseOf(before: Report, after: Report, ...counters: string[]): Report {
  return counters.some((name) => known(after[name]) < (num(before[name]) ?? 0)) ? {} : before;
}

/**
 * What the next reading of a stream or of its remote report is counted from: a counter that
 * is missing now and then is not new when it comes back.
 */
export function baseline(before: Report, after: Report): Report {
  const base = baseOf(before, after, 'packetsReceived', 'packetsSent');
  let kept = after;
  for (const field in base)
    if (num(base[field]) !== null && num(after[field]) === null) kept = { ...kept, [field]: base[field] };
  return kept;
}

/** A loss may be negative (RFC 3550: duplicates), so it is a plain difference. */
function lossBetween(before: Report, after: Report): number {
  return known(after.packetsLost) - (num(before.packetsLost) ?? 0);
}

/**
 * What part the receiver lost: its reports come every few seconds, so that what it lost
 * between two of them is held against what was sent in that time.
 */
function lossFraction(before: Report, after: Report, sent: number, ms: number): unknown {
  const between = known(after.timestamp) - known(before.timestamp);
  const lost = (lossBetween(before, after) * ms) / (sent * between);
  return (between > 0 ? num(lost) : null) ?? after.fractionLost;
}

/** The measures of a stream over ms; pairRttMs stands in where a stream has no RTT of its own. */
export function measureStream(before: Stream, after: Stream, ms: number, pairRttMs: number | null) {
  const { rtp, remote, source, ssrc, codec, statsType, mediaType } = after;
  const base = baseOf(before.rtp, rtp, 'packetsReceived', 'packetsSent');
  const by = (...counters: string[]) => increase(base, rtp, ...counters);
  const limitedMs = (why: string) => 1000 * increase(durations(base), durations(rtp), why);
  const packets = by('packetsReceived', 'packetsSent');
  const again = num(by('retransmittedPacketsReceived', 'retransmittedPacketsSent')) ?? 0;
  return measure(streamSet(statsType, mediaType), base, rtp, {
    ssrc,
    codec,
    // For the first time: browsers count retransmissions among the packets (Chromium those of
    // the RTX stream), which would make a loss look smaller the harder it is fought.
    packets: packets - again,
    packetsLost: lossBetween(base, rtp),
    audioLevel: num(rtp.audioLevel) ?? source.audioLevel,
    fps: (by('framesSent', 'framesDecoded', 'framesEncoded') * 1000) / ms,
    remotePacketsLost: lossBetween(base === before.rtp ? before.remote : {}, remote),
    remoteJitterMs: 1000 * known(remote.jitter),
    remoteLossFraction: lossFraction(before.remote, remote, packets, ms),
    cpuLimitedMs: limitedMs('cpu'),
    bandwidthLimitedMs: limitedMs('bandwidth'),
    rttMs: num(rttOf(before.remote, remote, 'roundTripTimeMeasurements', 'roundTripTime')) ?? pairRttMs,
  });
}

function durations(rtp: Report): Report {
  return (rtp.qualityLimitationDurations ?? {}) as Report;
}

/** A count over ms as a rate. */
export function perSecond(count: number | null, ms: number): number | null {
  return round((known(count) * 1000) / ms, 2);
}

/** The mean round trip of the interval's measurements, else the last one known. */
function rttOf(before: Report, after: Report, measurements: string, last: string): number {
  const base = baseOf(before, after, measurements);
  const mean = increase(base, after, 'totalRoundTripTime') / increase(base, after, measurements);
  return 1000 * (num(mean) ?? known(after[last]));
}

/** The measures of a selected candidate pair; before is what it said at the last measurement. */
export function measurePair(before: Report | undefined, { pair }: Pair): Measures {
  const base = baseOf(before ?? {}, pair, 'responsesReceived');
  return measure(pairSet, base, pair, { rttMs: rttOf(base, pair, 'responsesReceived', 'currentRoundTripTime') });
}

/** What the sender of an inbound stream says it sent, and in which time. */
export interface SenderInterval {
  bytes: number | null;
  packets: number | null;
  ms: number;
}

/**
 * The sender reports every few seconds: what it sent is held against the time between its own
 * reports, and unknown without two of them.
 */
export function measureSender(before: Report, after: Report, ms: number): SenderInterval {
  const base = baseOf(before, after, 'packetsSent');
  const at = num(after.remoteTimestamp);
  const between = at === null ? ms : at - (num(before.remoteTimestamp) ?? at);
  const by = (counter: string) => (between > 0 ? num(increase(base, after, counter)) : null);
  return { bytes: by('bytesSent'), packets: by('packetsSent'), ms: between };
}
