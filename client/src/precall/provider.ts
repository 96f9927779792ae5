// The test of one provider: its transports at once, pings over the first that connects, then the ramp.

import type { PreCallReason } from '../types.ts';
import { waitMs } from './limits.ts';
import { connect, type Loopback } from './loopback.ts';
import { noPings, type PingResults, type Pings, resultsOf, sendPings } from './pings.ts';
import { climb, type Ramp, type RampLimits, throughputOf } from './ramp.ts';
import { type Failure, farthest } from './reason.ts';
import type { Server, Transport, Way } from './servers.ts';
import { askByStun } from './stun.ts';
import type { Run } from './test.ts';

/** What is known of a provider so far. */
export interface Progress {
  server: Server;
  transports: Transport[];
  /** The way that pings and ramp take: the first that connected. */
  way?: Way | undefined;
  /** The connection of the pings, while it is kept for the ramp. */
  kept?: Loopback | undefined;
  /** Why there is no connection; null if there is one. */
  failure: PreCallReason | null;
  pings: Pings;
  ramp: Ramp;
}

/** The results of a provider; null where there is none. */
export interface Outcome extends PingResults {
  provider: string;
  throughputBps: number | null;
  failure: PreCallReason | null;
  transports: Transport[];
}

export const begin = (server: Server): Progress => ({
  server,
  transports: [],
  failure: server.ways.length ? 'notTested' : 'badUrl',
  pings: noPings(),
  ramp: { arrivals: [], startedAt: 0 },
});

/** The results so far. */
export const outcomeOf = ({ server: { provider }, transports, failure, pings, ramp }: Progress): Outcome => ({
  provider,
  ...resultsOf(pings),
  throughputBps: throughputOf(ramp),
  failure,
  transports,
});

/** Tries the transports at once, each wait at least so long, and sends pings over the first of those that connected. */
export async function probe(run: Run, progress: Progress, leastMs: number, pingsMs: number): Promise<void> {
  const { server, transports, pings } = progress;
  const reasons: PreCallReason[] = [];
  const loopbacks = await Promise.all(
    server.ways.map(async (way, i) => {
      const transport: Transport = { relayProtocol: way[0], connected: false };
      transports.push(transport);
      try {
        const loopback = await connect(run, way, leastMs);
        Object.assign(transport, { connected: true, connectMs: loopback.connectMs });
        return loopback;
      } catch (error) {
        const { reason, text } = error as Failure;
        reasons[i] = reason;
        transport.error = text;
        return undefined;
      }
    }),
  );
  const first = loopbacks.findIndex(Boolean);
  progress.failure = first < 0 ? (farthest(reasons) ?? 'badUrl') : null;
  if (run.signal.aborted) throw run.signal.reason;
  progress.way = server.ways[first];
  progress.kept = loopbacks[first];
  for (const loopback of loopbacks) if (loopback !== progress.kept) loopback?.close();
  if (progress.kept) await sendPings(run, progress.kept, pings, pingsMs);
  else if (progress.failure === 'unreachable')
    progress.failure = await askByStun(run, server.ways[reasons.indexOf('unreachable')]?.[1].urls[0] as string);
}

/** Measures the throughput, over a new connection if none is kept. */
export async function measure(run: Run, progress: Progress, limits: RampLimits, afterPings: boolean): Promise<void> {
  if (!progress.way) return;
  const loopback = progress.kept ?? (await connect(run, progress.way, waitMs.most).catch(() => undefined));
  if (!loopback) return;
  const tripMs = 2 * (resultsOf(progress.pings).rttMs ?? 0);
  if (!afterPings) await sendPings(run, loopback, noPings(), 0); // without a pause before the ramp
  await climb(run, loopback, progress.ramp, limits, tripMs);
  loopback.close();
}
