// What happened between two readings of a stream: pure functions, safe against counters
// that start again. Names are those of protocol section 7.

import { num, type Pair, type Report, type Stream, str } from './normalise.ts';

/** One value of a row. */
export type Cell = number | string | null;

/** The measures of one stream or pair over one interval. */
export type Measures = Readonly<Record<string, Cell>>;

const inboundCounters = {
  bytes: 'bytesReceived',
  packetsDiscarded: 'packetsDiscarded',
  fecPackets: 'fecPacketsReceived',
  samples: 'totalSamplesReceived',
  concealedSamples: 'concealedSamples',
  silentConcealedSamples: 'silentConcealedSamples',
  concealmentEvents: 'concealmentEvents',
  frames: 'framesReceived',
  framesDecoded: 'framesDecoded',
  framesDropped: 'framesDropped',
  keyFrames: 'keyFramesDecoded',
  freezes: 'freezeCount',
  pauses: 'pauseCount',
  plis: 'pliCount',
  firs: 'firCount',
  nacks: 'nackCount',
  retransmittedPackets: 'retransmittedPacketsReceived',
};

const outboundCounters = {
  bytes: 'bytesSent',
  frames: 'framesSent',
  framesEncoded: 'framesEncoded',
  keyFrames: 'keyFramesEncoded',
  plis: 'pliCount',
  firs: 'firCount',
  nacks: 'nackCount',
  retransmittedPackets: 'retransmittedPacketsSent',
  retransmittedBytes: 'retransmittedBytesSent',
};

/** Rounds to so many decimals; null where there is no number. */
export function round(value: number | null, decimals: number): number | null {
  const factor = 10 ** decimals;
  return value === null ? null : num(Math.round(value * factor) / factor);
}

/** A fraction or a level, 0 to 1. */
export function unit(value: number | null): number | null {
  return value === null ? null : round(Math.min(1, Math.max(0, value)), 4);
}

/** The increase of a counter; one that fell was started again and counts from 0. */
function increase(before: unknown, after: unknown): number | null {
  const now = num(after);
  if (now === null) return null;
  const then = num(before) ?? 0;
  return now < then ? now : now - then;
}

function ratio(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole;
}

const inMs = (seconds: number | null) => round(seconds === null ? null : Math.max(0, seconds) * 1000, 1);

/** Reads the increases between two reports; all from 0 when the stream was started again. */
function reader(before: Report, after: Report, counter: string) {
  const base: Report = fell(before, after, counter) ? {} : before;
  return {
    base,
    by: (field: string) => increase(base[field], after[field]),
    ms: (field: string) => inMs(increase(base[field], after[field])),
  };
}

const fell = (before: Report, after: Report, counter: string) =>
  (num(after[counter]) ?? Number.POSITIVE_INFINITY) < (num(before[counter]) ?? 0);

/**
 * What the next reading of a stream or of its remote report is counted from: a counter that
 * is missing now and then is not new when it comes back.
 */
export function baseline(before: Report, after: Report): Report {
  if (fell(before, after, 'packetsReceived') || fell(before, after, 'packetsSent')) return after;
  const kept: Record<string, unknown> = { ...after };
  for (const field in before) if (num(before[field]) !== null && num(kept[field]) === null) kept[field] = before[field];
  return kept;
}

function counters(table: Record<string, string>, by: (field: string) => number | null): Record<string, Cell> {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, by(field)]));
}

/**
 * Packets sent or received for the first time. Browsers count retransmissions among the
 * packets (Chromium those of the RTX stream), which would make a loss look smaller the
 * harder it is fought.
 */
function withoutRetransmissions(packets: number | null, retransmitted: number | null): number | null {
  return packets === null ? null : Math.max(0, packets - (retransmitted ?? 0));
}

/** A loss may be negative (RFC 3550: duplicates), so it is a plain difference. */
function lossBetween(before: Report, after: Report): number | null {
  const now = num(after.packetsLost);
  return now === null ? null : now - (num(before.packetsLost) ?? 0);
}

/**
 * What part the receiver lost: its reports come every few seconds, so that what it lost
 * between two of them is held against what was sent in that time.
 */
function lossFraction(before: Report, after: Report, sent: number | null, ms: number): number | null {
  const then = num(before.timestamp);
  const between = then === null ? 0 : (num(after.timestamp) ?? then) - then;
  const lost = lossBetween(before, after);
  return unit(between > 0 && sent && lost !== null ? (lost * ms) / (sent * between) : num(after.fractionLost));
}

/** The measures of a stream over ms; pairRttMs stands in where a stream has no RTT of its own. */
export function measureStream(before: Stream, after: Stream, ms: number, pairRttMs: number | null): Measures {
  const measures = after.statsType === 'inbound-rtp' ? inbound(before, after, ms) : outbound(before, after, ms);
  return { ...measures, rttMs: rttOf(before.remote, after.remote) ?? pairRttMs };
}

function inbound(before: Stream, after: Stream, ms: number): Record<string, Cell> {
  const { rtp } = after;
  const { base, by, ms: time } = reader(before.rtp, rtp, 'packetsReceived');
  const video = after.mediaType === 'video';
  return {
    ssrc: after.ssrc,
    codec: after.codec,
    ...counters(inboundCounters, by),
    packets: withoutRetransmissions(by('packetsReceived'), by('retransmittedPacketsReceived')),
    packetsLost: lossBetween(base, rtp),
    jitterMs: inMs(num(rtp.jitter)),
    jitterBufferDelayMs: inMs(ratio(by('jitterBufferDelay'), by('jitterBufferEmittedCount'))),
    audioLevel: unit(num(rtp.audioLevel)),
    width: num(rtp.frameWidth),
    height: num(rtp.frameHeight),
    fps: video ? rate(by('framesDecoded'), ms) : null,
    harmonicFps: round(ratio(by('totalInterFrameDelay'), by('totalSquaredInterFrameDelay')), 2),
    freezeMs: time('totalFreezesDuration'),
    pauseMs: time('totalPausesDuration'),
    decodeMs: time('totalDecodeTime'),
    qp: round(ratio(by('qpSum'), by('framesDecoded')), 1),
  };
}

function outbound(before: Stream, after: Stream, ms: number): Record<string, Cell> {
  const { rtp, remote } = after;
  const { base, by, ms: time } = reader(before.rtp, rtp, 'packetsSent');
  const limited = (why: string) => inMs(increase(durations(base)?.[why], durations(rtp)?.[why]));
  return {
    ssrc: after.ssrc,
    codec: after.codec,
    rid: str(rtp.rid),
    ...counters(outboundCounters, by),
    packets: withoutRetransmissions(by('packetsSent'), by('retransmittedPacketsSent')),
    audioLevel: unit(num(after.source.audioLevel)),
    width: num(rtp.frameWidth),
    height: num(rtp.frameHeight),
    fps: after.mediaType === 'video' ? rate(by('framesSent') ?? by('framesEncoded'), ms) : null,
    encodeMs: time('totalEncodeTime'),
    qp: round(ratio(by('qpSum'), by('framesEncoded')), 1),
    targetBitrateBps: round(num(rtp.targetBitrate), 0),
    remotePacketsLost: lossBetween(base === before.rtp ? before.remote : {}, remote),
    remoteLossFraction: unit(num(remote.fractionLost)),
    intervalLossFraction: lossFraction(before.remote, remote, by('packetsSent'), ms),
    remoteJitterMs: inMs(num(remote.jitter)),
    limitation: str(rtp.qualityLimitationReason),
    cpuLimitedMs: limited('cpu'),
    bandwidthLimitedMs: limited('bandwidth'),
  };
}

function durations(rtp: Report): Record<string, unknown> | undefined {
  return rtp.qualityLimitationDurations as Record<string, unknown> | undefined;
}

function rate(count: number | null, ms: number): number | null {
  return round(count === null ? null : (count * 1000) / ms, 2);
}

/** The mean round trip of the interval's measurements, else the last one known. */
function rttOf(before: Report, after: Report): number | null {
  const { by } = reader(before, after, 'roundTripTimeMeasurements');
  const mean = ratio(by('totalRoundTripTime'), by('roundTripTimeMeasurements'));
  return inMs(mean ?? num(after.roundTripTime));
}

/** The measures of a selected candidate pair; before is what it said at the last measurement. */
export function measurePair(before: Report | undefined, { pair }: Pair): Measures {
  const { by } = reader(before ?? {}, pair, 'responsesReceived');
  const mean = ratio(by('totalRoundTripTime'), by('responsesReceived'));
  return {
    bytesSent: by('bytesSent'),
    bytesReceived: by('bytesReceived'),
    rttMs: inMs(mean ?? num(pair.currentRoundTripTime)),
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
  const { by } = reader(before, after, 'packetsSent');
  const at = num(after.remoteTimestamp);
  const between = at === null ? ms : at - (num(before.remoteTimestamp) ?? at);
  return between > 0
    ? { bytes: by('bytesSent'), packets: by('packetsSent'), ms: between }
    : { bytes: null, packets: null, ms };
}
