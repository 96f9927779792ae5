// A call of two minutes in the shapes of three browsers' reports, and what makes its reports lie.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Report } from '../src/stats/normalise.ts';

/** The reports at a second of the call. */
export type Call = (second: number) => Report[];

interface Reading {
  t: number;
  reports: Report[];
}

const gauges =
  /^(ssrc|jitter|audioLevel|roundTripTime|currentRoundTripTime|fractionLost|frameWidth|frameHeight|framesPerSecond|targetBitrate|available.*|priority|port|payloadType|clockRate|channels)$/;

/** A recorded call at its mean pace, for as long as a test wants it. */
function steady(browser: string): Call {
  const file = new URL(`recordings/${browser}-call.json.gz`, import.meta.url);
  const { near } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { near: Reading[] };
  const [from, to] = [near[4], near[near.length - 2]] as [Reading, Reading];
  const seconds = (to.t - from.t) / 1000;
  return (second) =>
    to.reports.map((last) => {
      const first = from.reports.find(({ id }) => id === last.id) ?? last;
      const at = (name: string, now: unknown): unknown => {
        const then = (first as Record<string, unknown>)[name];
        if (name === 'timestamp' || name === 'remoteTimestamp') return Number(now) + 1000 * second;
        if (typeof now !== 'number' || typeof then !== 'number' || gauges.test(name)) return now;
        const value = now + ((now - then) / seconds) * second;
        return Number.isInteger(now) ? Math.floor(value) : value;
      };
      return Object.fromEntries(Object.entries(last).map(([name, now]) => [name, at(name, now)])) as Report;
    });
}

/** The members that Safari 17 does not have of Chromium's. */
const notInSafari =
  /^(freezeCount|totalFreezesDuration|pauseCount|totalPausesDuration|retransmitted.*Received|qualityLimitationDurations|roundTripTimeMeasurements|relayProtocol|audioLevel|fractionLost)$/;

const chromium = steady('chromium');

export const calls: Readonly<Record<string, Call>> = {
  Chromium: chromium,
  Firefox: steady('firefox'),
  Safari: (second) =>
    chromium(second).map(
      (report) => Object.fromEntries(Object.entries(report).filter(([name]) => !notInSafari.test(name))) as Report,
    ),
};

/** Changes the reports of a reading; kept has what a lie changes for the rest of the call. */
export type Lie = (reports: Report[], pick: (below: number) => number, kept: Kept) => Report[];

/** By the id of a report and member, what the browser's counter is ahead of the truth. */
export type Kept = Map<string, number>;

const counters =
  /^(packets|bytes|frames(Received|Decoded|Dropped|Sent|Encoded)|keyFrames|totalSamples|concealed|silentConcealed|nack|pli|fir|freezeCount|retransmitted)/;

/** A counter of a stream, its own or the other end's. */
function change(reports: Report[], pick: (below: number) => number, to: (now: number, key: string) => unknown) {
  const streams = reports.filter(({ type }) => /bound-rtp$/.test(String(type)));
  const report = streams[pick(streams.length)] as Report;
  const names = Object.keys(report).filter((name) => counters.test(name) && typeof report[name] === 'number');
  const name = names[pick(names.length)];
  if (!name) return reports;
  const changed = { ...report, [name]: to(Number(report[name]), `${report.id} ${name}`) };
  return reports.map((one) => (one === report ? changed : one));
}

const times = (reports: Report[], of: (timestamp: number) => number) =>
  reports.map((report) => ({ ...report, timestamp: of(Number(report.timestamp)) }));

export const lies: Readonly<Record<string, Lie>> = {
  'falls by a little': (reports, pick) =>
    change(reports, pick, (now, key) => now - 1 - pick(/Lost$/.test(key) ? 3 : Math.max(1, Math.min(now, 500)))),
  'falls by a lot': (reports, pick) => change(reports, pick, (now) => Math.floor((now * pick(40)) / 100)),
  'falls by a lot and goes on': (reports, pick, kept) =>
    change(reports, pick, (now, key) => {
      kept.set(key, (kept.get(key) ?? 0) - Math.floor(now / 2));
      return Math.ceil(now / 2);
    }),
  'is -1': (reports, pick) => change(reports, pick, () => [-1, 2 ** 24 - 1, 2 ** 32 - 1][pick(3)]),
  'is text': (reports, pick) => change(reports, pick, String),
  'jumps by bits': (reports, pick, kept) =>
    change(reports, pick, (now, key) => {
      const more = 2 ** (20 + pick(11));
      kept.set(key, (kept.get(key) ?? 0) + more);
      return now + more;
    }),
  'jump of sequence numbers': (reports, pick, kept) =>
    reports.map((report) => {
      if (typeof report.packetsLost !== 'number') return report;
      const more = 3000 + pick(62_000);
      const key = `${report.id} packetsLost`;
      kept.set(key, (kept.get(key) ?? 0) + more);
      return { ...report, packetsLost: report.packetsLost + more, fractionLost: 0.99 };
    }),
  'round trip of 18 hours': (reports) =>
    reports.map((report) => {
      const name = ['roundTripTime', 'currentRoundTripTime'].find((one) => typeof report[one] === 'number');
      return name
        ? { ...report, [name]: 65_535.99, totalRoundTripTime: Number(report.totalRoundTripTime) + 65_536 }
        : report;
    }),
  'times in µs': (reports) => times(reports, (ms) => ms * 1000),
  'times in s': (reports) => times(reports, (ms) => ms / 1000),
  'times of another epoch': (reports) => times(reports, (ms) => ms - 31_572_000),
  'times of the other end in s': (reports) =>
    reports.map((report) =>
      /^remote/.test(String(report.type)) ? { ...report, timestamp: Number(report.timestamp) / 1000 } : report,
    ),
  'times of the other end of another epoch': (reports) =>
    reports.map((report) =>
      /^remote/.test(String(report.type)) ? { ...report, timestamp: Number(report.timestamp) - 31_572_000 } : report,
    ),
  'times that run backwards': (reports, pick) => times(reports, (ms) => ms - 1000 * (3 + pick(7))),
  'a report is missing': (reports, pick) => {
    const gone = pick(reports.length);
    return reports.filter((_, i) => i !== gone);
  },
  'other ids': (reports) =>
    reports.map((report) => {
      const renamed = Object.entries(report).map(([name, value]) => [
        name,
        /^id$|Id$/.test(name) && name !== 'trackId' ? `again ${value}` : value,
      ]);
      return Object.fromEntries(renamed) as Report;
    }),
};
