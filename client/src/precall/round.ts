// One test: all providers within one limit of time and one of bytes.

import { farMs, mostOpen, mostRampTripMs, pingsMs, relayTrips, waitMs, waitTrips } from './limits.ts';
import { measure, outcomeOf, type Progress, probe } from './provider.ts';
import { rank } from './rank.ts';
import { clamp, durationMs, leftMs, now, type Run, trips, wait } from './test.ts';

const probesShare = 0.6; // of the time, if there are several providers
const leastRampMs = 1500; // a shorter one measures nothing

/** Tests all providers: each is probed, then the best first are measured while time is left. Rejects when it is aborted. */
export async function runRound(run: Run, all: readonly Progress[]): Promise<void> {
  const [only] = all;
  if (only && all.length === 1) {
    await probe(run, only, waitMs.most, pingsMs.most);
    if (isNear(only)) await ramp(run, only, 1, true);
    return;
  }
  await probeAll(run, all);
  const order = rank(all.map(outcomeOf)).map(({ index }) => all[index] as Progress);
  const measured = order.filter(isNear);
  for (const [done, progress] of measured.entries()) await ramp(run, progress, measured.length - done, false);
}

/**
 * Two at a time where they are many, for a probe is so light that two hardly disturb each other; more where round trips
 * are long, for a probe waits there most of its time.
 */
async function probeAll(run: Run, all: readonly Progress[]): Promise<void> {
  const lanes = all.length > mostOpen ? 2 : 1;
  const spanMs = () => durationMs(run) * probesShare;
  const waiting = [...all];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (now() >= run.startedAt + spanMs()) return;
      const shareMs = spanMs() / Math.ceil(all.length / lanes) / 2;
      await probe(run, next, clamp(shareMs, waitMs), clamp(shareMs, pingsMs));
      if (all.length > mostOpen) close(next);
    }
  };
  const first = Promise.all(Array.from({ length: lanes }, lane)).finally(() => run.show());
  const more = async () => {
    await Promise.race([run.shown, wait(run, farMs * relayTrips.tls)]);
    if (trips(1, run.roundTripMs) > farMs) await Promise.all(Array.from({ length: mostOpen - lanes }, lane));
  };
  await Promise.all([first, more()]);
}

const isNear = (progress: Progress) => (outcomeOf(progress).rttMs ?? Number.POSITIVE_INFINITY) <= mostRampTripMs;

function close(progress: Progress): void {
  progress.kept?.close();
  progress.kept = undefined;
}

/** Gives a provider its share of the time and bytes that are left. */
async function ramp(run: Run, progress: Progress, sharers: number, afterPings: boolean): Promise<void> {
  const setupMs = progress.kept ? 0 : trips(waitTrips.relay + waitTrips.connection, run.roundTripMs);
  const restMs = leftMs(run) - setupMs;
  const lastsMs = Math.min(restMs, Math.max(restMs / sharers, 2 * leastRampMs)) - 100;
  if (lastsMs < leastRampMs) {
    close(progress);
    return;
  }
  const bytes = (run.limits.maxBytes - run.bytesSent) / sharers;
  await measure(run, progress, { lastsMs, bytes, bps: run.limits.maxThroughputBps }, afterPings);
}
