// What the application is given of readings in which all numbers differ, by value.

import { expect, it } from 'vitest';
import { view } from '../src/stats/view.ts';
import { lastReading } from './measures.ts';
import { createMonitor } from './monitor.ts';

const unknown = {
  fractionLoss: null,
  packetLossPercentage: null,
  bitrate: null,
  packetRate: null,
  jitter: null,
  averageJitter: null,
  audioInputLevel: null,
  audioOutputLevel: null,
};
const audio = { ...unknown, mediaType: 'audio', quality: 'fair' };
const video = { ...unknown, mediaType: 'video', quality: 'bad' };

const tracks = [
  {
    ...audio,
    ...{ statsType: 'inbound-rtp', ssrc: 1111, fractionLoss: 0.0385, packetLossPercentage: 3.85, bitrate: 36.15 },
    ...{ packetRate: 50, jitter: 7.7, averageJitter: 4.9, rtt: 90, averageRTT: 90, audioOutputLevel: 0.325 },
  },
  // By the sender's clock: 1.8 s and 1.75 s between its reports.
  {
    ...audio,
    ...{ statsType: 'remote-outbound-rtp', ssrc: 1111, bitrate: 42.47, packetRate: 61.67, rtt: 90, averageRTT: 90 },
  },
  {
    ...video,
    ...{ statsType: 'inbound-rtp', ssrc: 2222, fractionLoss: 0.0128, packetLossPercentage: 1.28, bitrate: 244 },
    ...{ packetRate: 499.5, jitter: 23.1, averageJitter: 17.1, rtt: 67, averageRTT: 58.5 },
  },
  {
    ...video,
    ...{ statsType: 'remote-outbound-rtp', ssrc: 2222, bitrate: 285.46, packetRate: 609.14, rtt: 67, averageRTT: 58.5 },
  },
  {
    ...audio,
    ...{ statsType: 'outbound-rtp', ssrc: 3333, bitrate: 32.49, packetRate: 50, rtt: 70, averageRTT: 70 },
    ...{ audioInputLevel: 0.5 },
  },
  {
    ...audio,
    ...{ statsType: 'remote-inbound-rtp', ssrc: 3333, fractionLoss: 0.0625, packetLossPercentage: 6.25 },
    ...{ jitter: 8.8, averageJitter: 6.4, rtt: 70, averageRTT: 70 },
  },
  {
    ...video,
    ...{ statsType: 'outbound-rtp', ssrc: 4444, bitrate: 308.01, packetRate: 300, rtt: 40, averageRTT: 40 },
  },
  {
    ...video,
    ...{ statsType: 'remote-inbound-rtp', ssrc: 4444, fractionLoss: 0.25, packetLossPercentage: 25 },
    ...{ jitter: 14.4, averageJitter: 12.2, rtt: 40, averageRTT: 40 },
  },
];

it('has each figure in its unit: kbit/s, packets/s, ms, fractions and percent (spec: STAT-02, STAT-03, STAT-08)', () => {
  const { intervals } = lastReading({ createMonitor });
  const names = { remoteUserID: 'bob', cname: 'c', msid: 'm', usageLabel: 'desk', associatedVideoTag: 'tag' };
  const made = view(intervals, () => ({ ...names, userID: 'alice' }), [4.2, 3.8, 3.2, 2.6]);
  expect(made.mediaStreamTracks).toEqual(tracks.map((track) => ({ ...track, ...names, userID: 'alice' })));
  expect(made.streams).toEqual({
    1111: { reportType: 'inbound-rtp', fractionLoss: 0.0385, bitrate: 36.15, quality: 'fair' },
    2222: { reportType: 'inbound-rtp', fractionLoss: 0.0128, bitrate: 244, quality: 'bad' },
    3333: { reportType: 'outbound-rtp', rtt: 70, bitrate: 32.49, quality: 'fair' },
    4444: { reportType: 'outbound-rtp', rtt: 40, bitrate: 308.01, quality: 'bad' },
  });
});
