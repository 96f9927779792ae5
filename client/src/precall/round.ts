// One test: all providers within one limit of time and one of bytes.

import { pingsMs } from './limits.ts';
import type { Loopback } from './loopback.ts';
import { measure, outcomeOf, type Progress, probe } from './provider.ts';
import { rank } from './rank.ts';
import { clamp, now, type Run } from './test.ts';

const probesShare = 0.6; // of the time, if there are several providers
const leastRampMs = 1500; // a shorter one measures nothing

/** Tests all providers: each is probed, then the best first are measured while time is left. Rejects when it is aborted. */
export async function runRound(run: Run, all: readonly Progress[]): Promise<void> {
  const [only] = all;
  if (only && all.length === 1) {
    const loopback = await probe(run, only, run.limits.maxDurationMs / 4, pingsMs.most);
    await ramp(run, only, 1, loopback);
    return;
  }
  await probeAll(run, all);
  const order = rank(all.map(outcomeOf)).map(({ index }) => all[index] as Progress);
  const reached = order.filter(({ way }) => way);
  for (const [done, progress] of reached.entries()) await ramp(run, progress, reached.length - done);
}

/** Two at a time where they are many. A probe is so light that two hardly disturb each other. */
async function probeAll(run: Run, all: readonly Progress[]): Promise<void> {
  const lanes = all.length > 4 ? 2 : 1;
  const spanMs = run.limits.maxDurationMs * probesShare;
  const slotMs = spanMs / Math.ceil(all.length / lanes);
  const endsAt = now() + spanMs;
  const waiting = [...all];
  const lane = async () => {
    for (let next = waiting.shift(); next && now() < endsAt; next = waiting.shift())
      (await probe(run, next, slotMs / 2, clamp(slotMs / 2, pingsMs)))?.close();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Gives a provider its share of the time and bytes that are left. */
async function ramp(run: Run, progress: Progress, sharers: number, given?: Loopback): Promise<void> {
  const leftMs = run.endsAt - now();
  const lastsMs = Math.min(leftMs, Math.max(leftMs / sharers, 2 * leastRampMs)) - 100;
  if (lastsMs < leastRampMs) {
    given?.close();
    return;
  }
  const bytes = (run.limits.maxBytes - run.bytesSent) / sharers;
  await measure(run, progress, { lastsMs, bytes, bps: run.limits.maxThroughputBps }, given);
}
