// Round trip, jitter and loss, from small messages at the pace of a call's packets.
//
// A message crosses the access link twice, up to the relay and down again. So the time of one
// message is one network round trip, and that of a ping with its answer is two.

import { answeredEvery, farMs, maxRoundTripMs, pingEveryMs } from './limits.ts';
import type { Loopback } from './loopback.ts';
import { clamp, median, now, type Run, wait } from './test.ts';

const pingBytes = 24;
const graceMs = { least: 200, most: 2 * maxRoundTripMs }; // so long a ping may still arrive
const bufferedBytes = 512;

/** The pings of one provider, by number. */
export interface Pings {
  /** When it was sent; Infinity if it waited in the page. */
  sentAt: number[];
  /** From one end to the other, undefined while it has not arrived. */
  transitMs: (number | undefined)[];
  /** The same, in the order of arrival. */
  arrivals: number[];
  /** With their answers. */
  tripsMs: number[];
  /** Those that are sent later are not counted yet. */
  countedUntil: number;
  /** The time of one that is expected before any arrived, ms. */
  expectedMs: number;
}

/** The results of pings; null where there is none. */
export interface PingResults {
  rttMs: number | null;
  jitterMs: number | null;
  lossFraction: number | null;
}

export const noPings = (): Pings => ({
  sentAt: [],
  transitMs: [],
  arrivals: [],
  tripsMs: [],
  countedUntil: 0,
  expectedMs: 0,
});

/** Sends pings for so many ms, and waits for the last ones: those sent meanwhile are not counted as lost. */
export async function sendPings(run: Run, { near, far }: Loopback, pings: Pings, lastsMs: number): Promise<void> {
  const numberOf = ({ data }: MessageEvent) => new DataView(data).getUint32(0);
  far.onmessage = (event) => {
    const number = numberOf(event);
    const transit = now() - (pings.sentAt[number] as number);
    if (transit < 0) return; // it waited
    pings.transitMs[number] = transit;
    pings.arrivals.push(transit);
    if (number % answeredEvery === 0 && far.readyState === 'open') {
      run.bytesSent += pingBytes;
      far.send(event.data);
    }
  };
  near.onmessage = (event) => pings.tripsMs.push(now() - (pings.sentAt[numberOf(event)] as number));
  pings.expectedMs = run.roundTripMs ?? 0;
  const allowedBytes = pings.expectedMs > farMs ? 0 : bufferedBytes;
  const startedAt = now();
  const endsAt = startedAt + lastsMs;
  for (let due = startedAt; due < endsAt + graceOf(pings); due += pingEveryMs) {
    await wait(run, Math.max(0, due - now()));
    // One that would wait in the page would measure the page. Where round trips are long, SCTP's window is full at times.
    if (near.readyState === 'open' && near.bufferedAmount <= allowedBytes) ping(run, near, pings);
    else if (!allowedBytes && pings.sentAt.length) pings.sentAt[pings.sentAt.length - 1] = Number.POSITIVE_INFINITY;
  }
  pings.countedUntil = endsAt;
  near.onmessage = far.onmessage = null;
}

function ping(run: Run, near: RTCDataChannel, { sentAt }: Pings): void {
  const message = new DataView(new ArrayBuffer(pingBytes));
  message.setUint32(0, sentAt.push(now()) - 1);
  run.bytesSent += pingBytes;
  near.send(message);
}

const graceOf = ({ arrivals, expectedMs }: Pings) =>
  clamp(2 * Math.max(...(arrivals.length ? arrivals : [expectedMs])), graceMs);

/** The results; of pings that were interrupted, those of the pings that had time to arrive. */
export function resultsOf(pings: Pings): PingResults {
  const { sentAt, transitMs, arrivals, tripsMs } = pings;
  if (!arrivals.length) return { rttMs: null, jitterMs: null, lossFraction: sentAt.length ? lossOf(pings) : null };
  const trip = median(tripsMs);
  return {
    rttMs: trip === null ? median(transitMs.filter((ms) => ms !== undefined)) : trip / 2,
    jitterMs: jitterOf(arrivals),
    lossFraction: lossOf(pings),
  };
}

function lossOf(pings: Pings): number | null {
  const until = pings.countedUntil || now() - graceOf(pings);
  const counted = pings.sentAt.filter((at) => at < until).length;
  const lost = pings.sentAt.filter((at, number) => at < until && pings.transitMs[number] === undefined).length;
  return counted ? lost / counted : null;
}

/** The interarrival jitter of RFC 3550, section 6.4.1, ms. */
export function jitterOf(transits: readonly number[]): number | null {
  if (transits.length < 2) return null;
  return transits.reduce((jitter, transit, i) => {
    const before = transits[i - 1];
    return before === undefined ? jitter : jitter + (Math.abs(transit - before) - jitter) / 16;
  }, 0);
}
