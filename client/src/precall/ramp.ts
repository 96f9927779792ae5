// Throughput: the sender follows what the receiver receives. It doubles while that grows, then holds.

import { firstBps, holdMs, messageBytes, throughputSpanMs } from './limits.ts';
import type { Loopback } from './loopback.ts';
import { clamp, now, type Run, wait } from './test.ts';

const tickMs = 10;
const grows = 1.2; // a rate that is larger by less is the same
const stalledPeriods = 2; // then the ramp is over
const stalledTrips = 4; // at least: in each of them SCTP makes its window half as large again
const silentMs = 1500; // then the path is dead
const longestMs = 9000;
const keepsUp = 0.85; // of what is sent, is received
const fewest = 4; // messages of a rate
const heldMessages = 20; // at least so many show the rate of a slow path

/** A message that arrived, on the monotonic clock. */
export type Arrival = [atMs: number, bytes: number];

/** The ramp of one provider. */
export interface Ramp {
  arrivals: Arrival[];
  startedAt: number;
}

/** What a ramp may use. */
export interface RampLimits {
  lastsMs: number;
  bytes: number;
  bps: number;
}

/**
 * Sends as fast as the path allows, within the limits. tripMs is the time of a ping with its answer. Pings precede
 * it without a pause: the first acknowledgement after a pause can be later than SCTP expects, and the window is halved.
 */
export async function climb(run: Run, { near, far }: Loopback, ramp: Ramp, limits: RampLimits, tripMs: number) {
  ramp.startedAt = now();
  far.onmessage = ({ data }) => ramp.arrivals.push([now(), data.byteLength]);
  const periodMs = clamp(tripMs, { least: 200, most: 800 });
  const message = new Uint8Array(messageBytes);
  const endsAt = ramp.startedAt + Math.min(limits.lastsMs, longestMs);
  const bytesBefore = run.bytesSent;
  const pace: Pace = {
    bps: Math.min(firstBps, limits.bps),
    best: 0,
    stalled: 0,
    stalledLimit: Math.max(stalledPeriods, (stalledTrips * tripMs) / periodMs),
    heldUntil: 0,
    held: false,
    bytesBefore,
    controlledAt: ramp.startedAt,
  };
  let creditBytes = 0;
  let tickAt = now();
  let controlAt = tickAt + periodMs + tripMs / 2;
  while (now() < Math.min(endsAt, pace.heldUntil || endsAt)) {
    const atMs = now();
    // A page that was busy does not catch up at once.
    creditBytes = Math.min(creditBytes + (pace.bps * (atMs - tickAt)) / 8000, pace.bps / 8 / 10 + messageBytes);
    tickAt = atMs;
    const allowedBytes = Math.max(4 * messageBytes, pace.bps / 8 / 10);
    pace.held ||= near.bufferedAmount >= allowedBytes;
    for (; creditBytes >= messageBytes && near.bufferedAmount < allowedBytes; creditBytes -= messageBytes) {
      if (near.readyState !== 'open' || run.bytesSent - bytesBefore + messageBytes > limits.bytes) break;
      run.bytesSent += messageBytes;
      near.send(message);
    }
    if (run.bytesSent - bytesBefore + messageBytes > limits.bytes) break;
    if (isSilent(ramp, atMs)) break;
    if (atMs >= controlAt) {
      controlAt = atMs + periodMs;
      const offeredBps = (8000 * (run.bytesSent - pace.bytesBefore)) / (atMs - pace.controlledAt);
      control(pace, rateOf(ramp.arrivals, atMs - periodMs, atMs), offeredBps, limits.bps, tripMs / 2);
      Object.assign(pace, { bytesBefore: run.bytesSent, controlledAt: atMs, held: false });
    }
    await wait(run, tickMs);
  }
  await wait(run, Math.min(tripMs, Math.max(0, endsAt - now())));
  far.onmessage = null;
}

const isSilent = ({ arrivals, startedAt }: Ramp, atMs: number) => atMs - (arrivals.at(-1)?.[0] ?? startedAt) > silentMs;

/** What the ramp does, and has received. */
export interface Pace {
  /** The rate of sending. */
  bps: number;
  /** The largest rate of receiving. */
  best: number;
  /** Periods in which it did not grow because of the path. */
  stalled: number;
  /** After so many of them in turn the ramp is over. */
  stalledLimit: number;
  /** The browser kept messages back in this period. */
  held: boolean;
  /** The account of bytes and the time when the period began. */
  bytesBefore: number;
  controlledAt: number;
  /** The end, once the ramp is over. */
  heldUntil: number;
}

/** Sets the rate by what was received. */
export function control(pace: Pace, received: number, offered: number, mostBps: number, oneWayMs: number): void {
  if (received > pace.best * grows) pace.stalled = 0;
  // Otherwise the page was too busy to send.
  else if (pace.held || received < keepsUp * offered) pace.stalled++;
  pace.best = Math.max(pace.best, received);
  if (!pace.heldUntil && (pace.stalled >= pace.stalledLimit || received >= 0.9 * mostBps))
    pace.heldUntil = now() + Math.max(holdMs, (heldMessages * messageBytes * 8000) / pace.best) + oneWayMs;
  // Twice what a full path passes on would fill its queue, and SCTP slows down by what is lost there.
  const factor = pace.heldUntil ? 1.1 : pace.stalled ? 1.3 : 2;
  pace.bps = Math.min(mostBps, Math.max(factor * pace.best, firstBps / 2));
}

/**
 * bit/s of the messages that arrived since then, of the last three if they are fewer: bytes by the distance of their
 * arrivals, from that of the message before them. A window of messages arrives in a burst, and the pause before it
 * counts. A span that is cut elsewhere has one message more or less, a large share on a slow path.
 */
export function rateOf(arrivals: readonly Arrival[], fromMs: number, atMs: number): number {
  let first = arrivals.length - 1;
  let bytes = 0; // without the first
  while (first > 0 && (arrivals.length - first < fewest || (arrivals[first] as Arrival)[0] >= fromMs))
    bytes += (arrivals[first--] as Arrival)[1];
  if (!bytes) return 0;
  const [firstMs] = arrivals[first] as Arrival;
  const [lastMs] = arrivals.at(-1) as Arrival;
  const spanMs = lastMs - firstMs;
  // Silence that is longer than two messages take counts.
  const usualMs = (2 * spanMs) / (arrivals.length - 1 - first);
  return (bytes * 8000) / Math.max(spanMs + Math.max(0, atMs - lastMs - usualMs), 1);
}

/**
 * bit/s of the best span of throughputSpanMs, or of all if it is shorter. 0 if nothing arrived; null if the
 * ramp was not begun or too short to be measured.
 */
export function throughputOf({ arrivals, startedAt }: Ramp): number | null {
  if (!startedAt) return null;
  if (arrivals.length < 3) return now() - startedAt > silentMs ? 0 : null;
  let best = 0;
  let bytes = 0; // after the first of the span up to its last
  let first = 0;
  arrivals.forEach(([atMs, size], i) => {
    if (i) bytes += size;
    for (; first + 1 < i && atMs - (arrivals[first + 1] as Arrival)[0] >= throughputSpanMs; first++)
      bytes -= (arrivals[first + 1] as Arrival)[1];
    const spanMs = atMs - (arrivals[first] as Arrival)[0];
    if (spanMs >= throughputSpanMs) best = Math.max(best, (bytes * 8000) / spanMs);
  });
  const [firstMs] = arrivals[0] as Arrival;
  const [lastMs] = arrivals.at(-1) as Arrival;
  const wholeMs = lastMs - firstMs;
  return best || (wholeMs >= throughputSpanMs / 4 ? (bytes * 8000) / wholeMs : null);
}
