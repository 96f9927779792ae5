// Which provider is acceptable, and which is best.

import type { PreCallReason } from '../types.ts';
import type { Outcome } from './provider.ts';
import { reasonOf } from './reason.ts';

/** A delay that harms a call as much as all of it together: 1 % of loss counts as 10 ms. */
const costOf = ({ rttMs, jitterMs, lossFraction }: Outcome) =>
  (rttMs ?? Number.POSITIVE_INFINITY) + 2 * (jitterMs ?? 0) + 1000 * (lossFraction ?? 0);

/** A provider in the ranking. */
export interface Ranked extends Outcome {
  acceptable: boolean;
  /** Why it is not acceptable. */
  reason: PreCallReason | null;
  /** Its position in the list that was given. */
  index: number;
}

/** The best first; equal ones in the order in which they were given. */
export function rank(outcomes: readonly Outcome[]): Ranked[] {
  return outcomes
    .map((outcome, index) => {
      const reason = reasonOf(outcome);
      return { ...outcome, acceptable: reason === null, reason, index };
    })
    .sort(
      (one, other) =>
        Number(other.acceptable) - Number(one.acceptable) ||
        (costOf(one) === costOf(other) ? one.index - other.index : costOf(one) - costOf(other)),
    );
}
