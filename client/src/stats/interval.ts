// What happened between two readings of a stream: pure functions, safe against counters
// that start again. Names are those of protocol section 7.

import { num, type Pair, type Report, type Stream, str } from './normalise.ts';

/** One value of a row. */
export type Cell = number | string | null;

/** The measures of one stream or pair over one interval. */
export type Measures = Readonly<Record<string, Cell>>;

/**
 * The counters behind measures, those of inbound and those of outbound reports: a report has
 * the ones of its own direction alone.
 */
const counters: Record<string, string> = {
  bytes: 'bytesReceived bytesSent',
  packetsDiscarded: 'packetsDiscarded',
  fecPackets: 'fecPacketsReceived',
  samples: 'totalSamplesReceived',
  concealedSamples: 'concealedSamples',
  silentConcealedSamples: 'silentConcealedSamples',
  concealmentEvents: 'concealmentEvents',
  frames: 'framesReceived framesSent',
  framesDecoded: 'framesDecoded',
  framesEncoded: 'framesEncoded',
  framesDropped: 'framesDropped',
  keyFrames: 'keyFramesDecoded keyFramesEncoded',
  freezes: 'freezeCount',
  pauses: 'pauseCount',
  plis: 'pliCount',
  firs: 'firCount',
  nacks: 'nackCount',
  retransmittedPackets: 'retransmittedPacketsReceived retransmittedPacketsSent',
  retransmittedBytes: 'retransmittedBytesSent',
};

/** As num(), but what is unknown is NaN, so that whatever is reckoned with it is unknown too. */
const known = (value: unknown) => num(value) ?? Number.NaN;

/** Rounds to so many decimals; null where there is no number. */
export function round(value: number | null, decimals: number): number | null {
  const factor = 10 ** decimals;
  return num(Math.round(known(value) * factor) / factor);
}

/** A fraction or a level, 0 to 1. */
export function unit(value: number | null): number | null {
  return round(Math.min(1, Math.max(0, known(value))), 4);
}

const inMs = (seconds: number) => round(Math.max(0, seconds) * 1000, 1);

/** The increase of a counter; one that fell was started again and counts from 0. */
function increase(before: unknown, after: unknown): number {
  const now = known(after);
  const then = num(before) ?? 0;
  return Math.max(0, now < then ? now : now - then);
}

/** Reads the increases between two reports: of the first of those counters that there is. */
function reader(before: Report, after: Report) {
  return (...counters: string[]) => {
    const counter = counters.find((name) => num(after[name]) !== null) ?? '';
    return increase(before[counter], after[counter]);
  };
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
function lossFraction(before: Report, after: Report, sent: number, ms: number): number | null {
  const between = known(after.timestamp) - known(before.timestamp);
  const lost = lossBetween(before, after);
  return unit(between > 0 ? (num((lost * ms) / (sent * between)) ?? num(after.fractionLost)) : num(after.fractionLost));
}

/** The measures of a stream over ms; pairRttMs stands in where a stream has no RTT of its own. */
export function measureStream(before: Stream, after: Stream, ms: number, pairRttMs: number | null): Measures {
  const { rtp, remote, source, ssrc, codec, mediaType } = after;
  const base = baseOf(before.rtp, rtp, 'packetsReceived', 'packetsSent');
  const by = reader(base, rtp);
  const time = (counter: string) => inMs(by(counter));
  const limited = (why: string) => inMs(increase(durations(base)[why], durations(rtp)[why]));
  const packets = by('packetsReceived', 'packetsSent');
  const counted = Object.entries(counters).map(([name, fields]) => [name, num(by(...fields.split(' ')))]);
  const measures: Record<string, Cell> = Object.fromEntries(counted);
  return {
    ...measures,
    ssrc,
    codec,
    rid: str(rtp.rid),
    // For the first time: browsers count retransmissions among the packets (Chromium those of
    // the RTX stream), which would make a loss look smaller the harder it is fought.
    packets: num(Math.max(0, packets - (num(measures.retransmittedPackets) ?? 0))),
    packetsLost: num(lossBetween(base, rtp)),
    jitterMs: inMs(known(rtp.jitter)),
    jitterBufferDelayMs: inMs(by('jitterBufferDelay') / by('jitterBufferEmittedCount')),
    audioLevel: unit(num(rtp.audioLevel) ?? num(source.audioLevel)),
    width: num(rtp.frameWidth),
    height: num(rtp.frameHeight),
    fps: mediaType === 'video' ? perSecond(by('framesSent', 'framesDecoded', 'framesEncoded'), ms) : null,
    harmonicFps: round(by('totalInterFrameDelay') / by('totalSquaredInterFrameDelay'), 2),
    freezeMs: time('totalFreezesDuration'),
    pauseMs: time('totalPausesDuration'),
    decodeMs: time('totalDecodeTime'),
    encodeMs: time('totalEncodeTime'),
    qp: round(by('qpSum') / by('framesDecoded', 'framesEncoded'), 1),
    targetBitrateBps: round(num(rtp.targetBitrate), 0),
    remotePacketsLost: num(lossBetween(base === before.rtp ? before.remote : {}, remote)),
    remoteLossFraction: unit(num(remote.fractionLost)),
    intervalLossFraction: lossFraction(before.remote, remote, packets, ms),
    remoteJitterMs: inMs(known(remote.jitter)),
    limitation: str(rtp.qualityLimitationReason),
    cpuLimitedMs: limited('cpu'),
    bandwidthLimitedMs: limited('bandwidth'),
    rttMs: rttOf(before.remote, remote, 'roundTripTimeMeasurements', 'roundTripTime') ?? pairRttMs,
  };
}

function durations(rtp: Report): Record<string, unknown> {
  return (rtp.qualityLimitationDurations ?? {}) as Record<string, unknown>;
}

/** A count over ms as a rate. */
export function perSecond(count: number | null, ms: number): number | null {
  return round((known(count) * 1000) / ms, 2);
}

/** The mean round trip of the interval's measurements, else the last one known. */
function rttOf(before: Report, after: Report, measurements: string, last: string): number | null {
  const by = reader(baseOf(before, after, measurements), after);
  return inMs(num(by('totalRoundTripTime') / by(measurements)) ?? known(after[last]));
}

/** The measures of a selected candidate pair; before is what it said at the last measurement. */
export function measurePair(before: Report | undefined, { pair }: Pair): Measures {
  const base = baseOf(before ?? {}, pair, 'responsesReceived');
  const by = reader(base, pair);
  return {
    bytesSent: num(by('bytesSent')),
    bytesReceived: num(by('bytesReceived')),
    rttMs: rttOf(base, pair, 'responsesReceived', 'currentRoundTripTime'),
    availableOutgoingBps: round(num(pair.availableOutgoingBitrate), 0),
  };
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
  const by = reader(baseOf(before, after, 'packetsSent'), after);
  const at = num(after.remoteTimestamp);
  const between = at === null ? ms : at - (num(before.remoteTimestamp) ?? at);
  return between > 0
    ? { bytes: num(by('bytesSent')), packets: num(by('packetsSent')), ms: between }
    : { bytes: null, packets: null, ms };
}
