// The test of one provider: its transports in turn, pings over the first that connects, then the ramp.

import { connectMs } from './limits.ts';
import { connect, type Loopback } from './loopback.ts';
import { noPings, type PingResults, type Pings, resultsOf, sendPings } from './pings.ts';
import { climb, type Ramp, type RampLimits, throughputOf } from './ramp.ts';
import type { Server, Transport } from './servers.ts';
import { clamp, type Run } from './test.ts';

/** What is known of a provider so far. */
export interface Progress {
  server: Server;
  transports: Transport[];
  /** The way that pings and ramp take: the first that connected. */
  way?: RTCIceServer;
  pings: Pings;
  ramp: Ramp;
}

/** The results of a provider; null where there is none. */
export interface Outcome extends PingResults {
  provider: string;
  throughputBps: number | null;
  transports: Transport[];
}

export const begin = (server: Server): Progress => ({
  server,
  transports: [],
  pings: noPings(),
  ramp: { arrivals: [], startedAt: 0 },
});

/** The results so far. */
export const outcomeOf = ({ server: { provider }, transports, pings, ramp }: Progress): Outcome => ({
  provider,
  ...resultsOf(pings),
  throughputBps: throughputOf(ramp),
  transports,
});

/**
 * Tries the transports, at most limitMs each, and sends pings. Resolves to the connection that they
 * took, undefined if there was none.
 */
export async function probe(run: Run, progress: Progress, limitMs: number, pingsMs: number) {
  const { server, transports, pings } = progress;
  let chosen: Loopback | undefined;
  for (const [relayProtocol, way] of server.ways) {
    const transport: Transport = { relayProtocol, connected: false };
    transports.push(transport);
    try {
      const loopback = await connect(run, way, clamp(limitMs, connectMs));
      Object.assign(transport, { connected: true, connectMs: loopback.connectMs });
      if (chosen) loopback.close();
      else chosen = loopback;
      progress.way ??= way;
    } catch (error) {
      if (run.signal.aborted) {
        transport.error ??= 'not finished';
        throw error;
      }
      transport.error = String(error);
    }
  }
  if (chosen) await sendPings(run, chosen, pings, pingsMs);
  return chosen;
}

/** Measures the throughput, over a new connection if none is given. */
export async function measure(run: Run, progress: Progress, limits: RampLimits, given?: Loopback): Promise<void> {
  if (!progress.way) return;
  const loopback = given ?? (await connect(run, progress.way, connectMs.most).catch(() => undefined));
  if (!loopback) return;
  const tripMs = 2 * (resultsOf(progress.pings).rttMs ?? 0);
  if (!given) await sendPings(run, loopback, noPings(), tripMs); // as before a ramp over a connection that was given
  await climb(run, loopback, progress.ramp, limits, tripMs);
  loopback.close();
}
