// Which provider is acceptable, and which is best.

import { acceptableLimits as limits } from './limits.ts';
import type { Outcome } from './provider.ts';

/** Whether calls over this provider are expected to be usable. A result that is missing for want of time is not held against it. */
export const isAcceptable = ({ rttMs, lossFraction, jitterMs, throughputBps }: Outcome): boolean =>
  rttMs !== null &&
  rttMs <= limits.rttMs &&
  (lossFraction ?? 1) <= limits.lossFraction &&
  (jitterMs ?? 0) <= limits.jitterMs &&
  (throughputBps ?? limits.throughputBps) >= limits.throughputBps;

/** A delay that harms a call as much as all of it together: 1 % of loss counts as 10 ms. */
const costOf = ({ rttMs, jitterMs, lossFraction }: Outcome) =>
  (rttMs ?? Number.POSITIVE_INFINITY) + 2 * (jitterMs ?? 0) + 1000 * (lossFraction ?? 0);

/** A provider in the ranking. */
export interface Ranked extends Outcome {
  acceptable: boolean;
  /** Its position in the list that was given. */
  index: number;
}

/** The best first; equal ones in the order in which they were given. */
export function rank(outcomes: readonly Outcome[]): Ranked[] {
  return outcomes
    .map((outcome, index) => ({ ...outcome, acceptable: isAcceptable(outcome), index }))
    .sort(
      (one, other) =>
        Number(other.acceptable) - Number(one.acceptable) ||
        (costOf(one) === costOf(other) ? one.index - other.index : costOf(one) - costOf(other)),
    );
}
