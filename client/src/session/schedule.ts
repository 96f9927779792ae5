// When all fabrics of a session are measured (STAT-01).

import type { Session } from './state.ts';

const longMs = 5000; // of an interval: states are read in the middle too
const longestMs = 20_000; // between two measurements, whatever the interval (SRV-04)

/** Sets another interval, in ms; one out of range changes nothing. */
export function measureEvery(s: Session, ms: number): void {
  if (!(ms >= 2000 && ms <= 20_000) || ms === s.periodMs) return;
  s.periodMs = ms;
  startMeasuring(s);
}

/** All fabrics are measured at once. The first time is random, so that pages do not line up. */
export function startMeasuring(s: Session): void {
  // However often the interval changes, no measurement is put off for ever.
  const latestMs = s.measuredAtMs + longestMs - s.clock.mono();
  measureIn(s, Math.min(s.periodMs * (0.5 + Math.random() / 2), latestMs));
}

/** A task of its own is most of the cost of reading states: one between two measurements is enough. */
export function measureIn(s: Session, ms: number): void {
  s.measureTimer(ms);
  if (ms >= longMs) s.statesTimer(ms / 2);
}
