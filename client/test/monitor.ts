// A monitor as one object, for tests that make many of its calls.

import * as stats from '../src/stats/monitor.ts';
import type { Report } from '../src/stats/normalise.ts';

export function createMonitor(startMs: number) {
  const monitor = stats.createMonitor(startMs);
  return {
    pair: () => stats.selectedPair(monitor),
    hasStream: (ssrc: number | undefined) => stats.hasStream(monitor, ssrc),
    adopt: (reports: Iterable<Report>, atMs: number) => stats.adopt(monitor, reports, atMs),
    measure: (reports: Iterable<Report>, atMs: number, areaOf: stats.Page['areaOf']) =>
      stats.endInterval(monitor, reports, atMs, { areaOf, isScreen: () => false }),
  };
}
