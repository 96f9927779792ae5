// Two readings of a PeerConnection in which every number differs from every other, and the
// rows that they are. tests/e2e compares live calls; in those much is 0, or alike.

import type { Report } from '../src/stats/normalise.ts';
import type { createMonitor } from './monitor.ts';

/** What a member said first, and by how much it is more two seconds later. */
type Change = readonly [first: number, more: number];

type Members = { readonly [name: string]: Change | Members | string | number | boolean };

const intervalMs = 2000;
const timestamp: Change = [1_700_000_000_000, intervalMs];

/** Each has all members that webrtc-stats gives its type, so that a wrong one is there to be taken. */
const reports: Members[] = [
  {
    id: 'inbound audio',
    type: 'inbound-rtp',
    kind: 'audio',
    ssrc: 1111,
    codecId: 'opus',
    remoteId: 'sender of 1111',
    timestamp,
    packetsReceived: [8000, 105],
    retransmittedPacketsReceived: [8, 5],
    bytesReceived: [900_000, 9037],
    headerBytesReceived: [96_000, 1260],
    retransmittedBytesReceived: [600, 430],
    packetsLost: [10, 4],
    packetsDiscarded: [30, 7],
    fecPacketsReceived: [50, 19],
    fecPacketsDiscarded: [14, 6],
    fecBytesReceived: [4000, 1523],
    jitter: [0.002, 0.0057],
    jitterBufferDelay: [700_000, 5184],
    jitterBufferTargetDelay: [710_000, 6048],
    jitterBufferMinimumDelay: [600_000, 4032],
    jitterBufferEmittedCount: [7_000_000, 96_000],
    totalSamplesReceived: [7_100_000, 96_480],
    concealedSamples: [9000, 1440],
    silentConcealedSamples: [800, 481],
    concealmentEvents: [60, 12],
    insertedSamplesForDeceleration: [100, 31],
    removedSamplesForAcceleration: [110, 37],
    audioLevel: [0.1, 0.225],
    totalAudioEnergy: [1, 0.26],
    totalSamplesDuration: [146, 2.01],
    nackCount: [70, 15],
    lastPacketReceivedTimestamp: [1_700_000_000_001, 1999],
    totalProcessingDelay: [90, 5.5],
    playoutId: 'p',
  },
  {
    id: 'inbound video',
    type: 'inbound-rtp',
    kind: 'video',
    ssrc: 2222,
    codecId: 'vp8',
    remoteId: 'sender of 2222',
    timestamp,
    packetsReceived: [10_000, 1040],
    retransmittedPacketsReceived: [300, 41],
    bytesReceived: [5_000_000, 61_001],
    headerBytesReceived: [120_000, 12_480],
    retransmittedBytesReceived: [300_000, 43_100],
    packetsLost: [70, 13],
    packetsDiscarded: [18, 10],
    fecPacketsReceived: [40, 17],
    fecPacketsDiscarded: [6, 1],
    fecBytesReceived: [40_000, 16_900],
    jitter: [0.011, 0.0121],
    jitterBufferDelay: [100, 6.12],
    jitterBufferTargetDelay: [110, 7.65],
    jitterBufferMinimumDelay: [90, 2.04],
    jitterBufferEmittedCount: [2800, 51],
    framesReceived: [3000, 59],
    framesDecoded: [2900, 57],
    framesRendered: [2890, 53],
    framesDropped: [60, 4],
    framesAssembledFromMultiplePackets: [1000, 47],
    keyFramesDecoded: [30, 14],
    frameWidth: [640, 641],
    frameHeight: [360, 358],
    framesPerSecond: [30, 1],
    totalInterFrameDelay: [100, 1.9],
    totalSquaredInterFrameDelay: [5, 0.08],
    freezeCount: [4, 3],
    totalFreezesDuration: [4, 0.7],
    pauseCount: [6, 9],
    totalPausesDuration: [3, 1.3],
    totalDecodeTime: [9, 0.311],
    totalProcessingDelay: [20, 2.2],
    totalAssemblyTime: [3, 0.4],
    qpSum: [90_000, 1254],
    pliCount: [20, 8],
    firCount: [12, 6],
    nackCount: [40, 11],
    totalCorruptionProbability: [1, 0.3],
    corruptionMeasurements: [5, 4],
  },
  {
    id: 'outbound audio',
    type: 'outbound-rtp',
    kind: 'audio',
    ssrc: 3333,
    codecId: 'opus',
    remoteId: 'receiver of 3333',
    mediaSourceId: 'microphone',
    timestamp,
    packetsSent: [7000, 120],
    retransmittedPacketsSent: [30, 20],
    bytesSent: [800_000, 8123],
    headerBytesSent: [84_000, 1440],
    retransmittedBytesSent: [2000, 1707],
    nackCount: [90, 23],
    targetBitrate: [30_000, 2500],
    totalPacketSendDelay: [9, 0.12],
    active: true,
  },
  {
    id: 'outbound video',
    type: 'outbound-rtp',
    kind: 'video',
    ssrc: 4444,
    codecId: 'vp8',
    remoteId: 'receiver of 4444',
    mediaSourceId: 'camera',
    rid: 'h',
    active: true,
    timestamp,
    packetsSent: [9000, 645],
    retransmittedPacketsSent: [200, 45],
    bytesSent: [7_000_000, 77_003],
    headerBytesSent: [108_000, 7680],
    retransmittedBytesSent: [90_000, 4321],
    framesSent: [5000, 50],
    framesEncoded: [4900, 48],
    keyFramesEncoded: [40, 14],
    hugeFramesSent: [6, 1],
    contentType: 'screenshare',
    frameWidth: [320, 643],
    frameHeight: [180, 359],
    framesPerSecond: [24, 2],
    totalEncodeTime: [8, 0.222],
    totalEncodedBytesTarget: [6_000_000, 66_000],
    totalPacketSendDelay: [9, 0.9],
    qpSum: [80_000, 1584],
    pliCount: [10, 16],
    firCount: [8, 18],
    nackCount: [60, 29],
    targetBitrate: [1_000_000, 250_000],
    qualityLimitationReason: 'bandwidth',
    qualityLimitationResolutionChanges: [2, 1],
    qualityLimitationDurations: { none: [60, 0.55], cpu: [3, 0.45], bandwidth: [5, 0.85], other: [1, 0.15] },
  },
  {
    id: 'sender of 1111',
    type: 'remote-outbound-rtp',
    kind: 'audio',
    ssrc: 1111,
    timestamp: [1_699_999_999_500, 1900],
    remoteTimestamp: [1_690_000_000_000, 1800],
    packetsSent: [8010, 111],
    bytesSent: [901_000, 9555],
    reportsSent: [40, 1],
    roundTripTime: [0.08, 0.043],
    totalRoundTripTime: [4, 0.18],
    roundTripTimeMeasurements: [40, 2],
  },
  {
    id: 'sender of 2222',
    type: 'remote-outbound-rtp',
    kind: 'video',
    ssrc: 2222,
    timestamp: [1_699_999_999_400, 1850],
    remoteTimestamp: [1_690_000_000_000, 1750],
    packetsSent: [10_100, 1066],
    bytesSent: [5_100_000, 62_444],
    reportsSent: [41, 2],
    roundTripTime: [0.05, 0.017],
  },
  {
    id: 'receiver of 3333',
    type: 'remote-inbound-rtp',
    kind: 'audio',
    ssrc: 3333,
    timestamp: [1_699_999_999_300, 1600],
    packetsReceived: [6950, 114],
    packetsLost: [50, 6],
    jitter: [0.004, 0.0048],
    fractionLost: [0.5, 0.3],
    roundTripTime: [0.09, 0.011],
    totalRoundTripTime: [3, 0.21],
    roundTripTimeMeasurements: [30, 3],
  },
  {
    // Nothing new since: the loss is that of its last report, the round trip that of the pair.
    id: 'receiver of 4444',
    type: 'remote-inbound-rtp',
    kind: 'video',
    ssrc: 4444,
    timestamp: [1_699_999_999_200, 0],
    packetsReceived: [8900, 0],
    packetsLost: [100, 24],
    jitter: [0.01, 0.0044],
    fractionLost: [0.1, 0.15],
  },
  {
    id: 'microphone',
    type: 'media-source',
    kind: 'audio',
    timestamp,
    audioLevel: [0.2, 0.3],
    totalAudioEnergy: [2, 0.5],
    totalSamplesDuration: [147, 2],
  },
  {
    id: 'camera',
    type: 'media-source',
    kind: 'video',
    timestamp,
    width: [1920, 1],
    height: [1080, 1],
    frames: [5100, 61],
    framesPerSecond: [30, 1],
  },
  { id: 'opus', type: 'codec', mimeType: 'audio/opus', payloadType: 111 },
  { id: 'vp8', type: 'codec', mimeType: 'video/VP8', payloadType: 96 },
  {
    id: 'transport',
    type: 'transport',
    timestamp,
    selectedCandidatePairId: 'pair',
    bytesSent: [10_000_001, 90_005],
    bytesReceived: [20_000_001, 80_007],
  },
  {
    id: 'idle',
    type: 'candidate-pair',
    transportId: 'transport',
    timestamp,
    state: 'succeeded',
    bytesSent: [5, 5],
    bytesReceived: [6, 6],
  },
  {
    id: 'pair',
    type: 'candidate-pair',
    transportId: 'transport',
    timestamp,
    state: 'succeeded',
    nominated: true,
    bytesSent: [10_000_000, 90_001],
    bytesReceived: [20_000_000, 80_003],
    packetsSent: [16_000, 764],
    packetsReceived: [18_000, 1146],
    availableOutgoingBitrate: [2_000_000, 345_678],
    availableIncomingBitrate: [3_000_000, 456_789],
    currentRoundTripTime: [0.03, 0.025],
    totalRoundTripTime: [60, 0.16],
    responsesReceived: [600, 4],
    requestsSent: [700, 6],
    requestsReceived: [620, 7],
    responsesSent: [610, 8],
    consentRequestsSent: [100, 1],
  },
];

/** The area of the elements that show the videos. */
const areas = new Map([
  [2222, 921_111],
  [4444, 345_111],
]);

/** The rows of the second interval, by the announced names. */
export const rows = [
  { statsType: 'candidate-pair', rttMs: 40, bytesSent: 90_001, bytesReceived: 80_003, availableOutgoingBps: 2_345_678 },
  {
    statsType: 'inbound-rtp',
    mediaType: 'audio',
    ssrc: 1111,
    codec: 'opus',
    bytes: 9037,
    packets: 100,
    packetsLost: 4,
    packetsDiscarded: 7,
    fecPackets: 19,
    jitterMs: 7.7,
    jitterBufferDelayMs: 54,
    externalDelayMs: 21,
    rttMs: 90,
    samples: 96_480,
    concealedSamples: 1440,
    silentConcealedSamples: 481,
    retransmittedPackets: 5,
    retransmittedBytes: 430,
    concealmentEvents: 12,
    audioLevel: 0.325,
  },
  {
    statsType: 'inbound-rtp',
    mediaType: 'video',
    ssrc: 2222,
    codec: 'VP8',
    bytes: 61_001,
    packets: 999,
    packetsLost: 13,
    jitterMs: 23.1,
    jitterBufferDelayMs: 120,
    externalDelayMs: 110,
    rttMs: 67,
    frames: 59,
    framesDecoded: 57,
    framesDropped: 4,
    keyFrames: 14,
    width: 1281,
    height: 718,
    fps: 28.5,
    harmonicFps: 23.75,
    freezes: 3,
    freezeMs: 700,
    freezes60s: 5,
    pauses: 9,
    pauseMs: 1300,
    decodeMs: 311,
    qp: 22,
    plis: 8,
    firs: 6,
    nacks: 11,
    retransmittedPackets: 41,
    retransmittedBytes: 43_100,
    contentType: null,
    displayedPixels: 921_111,
  },
  {
    statsType: 'outbound-rtp',
    mediaType: 'audio',
    ssrc: 3333,
    codec: 'opus',
    bytes: 8123,
    packets: 100,
    rttMs: 70,
    audioLevel: 0.5,
    nacks: 23,
    retransmittedPackets: 20,
    retransmittedBytes: 1707,
    targetBitrateBps: 32_500,
    remotePacketsLost: 6,
    remoteLossFraction: 0.0625,
    remoteJitterMs: 8.8,
  },
  {
    statsType: 'outbound-rtp',
    mediaType: 'video',
    ssrc: 4444,
    codec: 'VP8',
    rid: 'h',
    bytes: 77_003,
    packets: 600,
    rttMs: 40,
    frames: 50,
    framesEncoded: 48,
    keyFrames: 14,
    width: 963,
    height: 539,
    fps: 25,
    encodeMs: 222,
    qp: 33,
    plis: 16,
    firs: 18,
    nacks: 29,
    retransmittedPackets: 45,
    retransmittedBytes: 4321,
    targetBitrateBps: 1_250_000,
    remotePacketsLost: 24,
    remoteLossFraction: 0.25,
    remoteJitterMs: 14.4,
    contentType: 'screenshare',
    limitation: 'bandwidth',
    cpuLimitedMs: 450,
    bandwidthLimitedMs: 850,
    displayedPixels: 345_111,
  },
];

/** What the senders of the inbound streams say they sent, and in which time. */
export const senders = {
  1111: { bytes: 9555, packets: 111, ms: 1800 },
  2222: { bytes: 62_444, packets: 1066, ms: 1750 },
};

/** All members as they are that many changes after the first reading. */
function reading(changes: number): Report[] {
  const at = (value: Members[string]): unknown => {
    if (Array.isArray(value)) return value[0] + value[1] * changes;
    if (typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, at(one)]));
    return value;
  };
  return reports.map((report) => at(report) as Report);
}

/** What computes the rows: the sources, or a changed copy of them. */
export interface Computes {
  createMonitor: typeof createMonitor;
  columnsLine: (set: number) => string;
}

/** The last of three readings; an interval before it makes freezes of two, and means of two. */
export function lastReading({ createMonitor }: Pick<Computes, 'createMonitor'>) {
  const monitor = createMonitor(0);
  monitor.adopt(reading(-2 / 3), 100_000 - (intervalMs * 2) / 3);
  monitor.measure(reading(0), 100_000, (ssrc) => areas.get(ssrc) ?? null);
  return monitor.measure(reading(1), 100_000 + intervalMs, (ssrc) => areas.get(ssrc) ?? null);
}

/** The rows and senders of the last reading. */
export function computed({ createMonitor, columnsLine }: Computes) {
  const { groups, intervals } = lastReading({ createMonitor });
  return {
    intervals: groups.map((group) => group.intervalMs),
    rows: groups
      .flatMap((group) => group.rows)
      .map(([set, ...values]) => {
        const { names, statsType, mediaType } = JSON.parse(columnsLine(Number(set)));
        return {
          statsType,
          mediaType,
          ...Object.fromEntries(names.map((name: string, i: number) => [name, values[i]])),
          more: values.slice(names.length),
        };
      }),
    senders: Object.fromEntries(
      intervals
        .filter(({ farEnd }) => farEnd.ms > 0 && farEnd.bytes)
        .map(({ stream, farEnd }) => [stream.ssrc, farEnd]),
    ),
  };
}
