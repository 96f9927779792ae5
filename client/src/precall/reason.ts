// Why a provider is not acceptable: one word of a fixed set. docs/library.md has the table.

import type { PreCallReason } from '../types.ts';
import { acceptableLimits as limits } from './limits.ts';

/** Why a connection failed. */
export class Failure {
  readonly reason: PreCallReason;
  /** The browser's reason, or the TURN server's. */
  readonly text: string;

  constructor(reason: PreCallReason, text: string) {
    this.reason = reason;
    this.text = text;
  }
}

/** The reasons why there is no connection, from the one that got farthest. */
const stages: readonly PreCallReason[] = [
  'tooSlow',
  'relayBlocked',
  'credentials',
  'noRelay',
  'unreachable',
  'nameNotResolved',
  'other',
  'badUrl',
  'notTested',
];

/** The reason of a server: that of the transport that got farthest. */
export const farthest = (reasons: readonly PreCallReason[]) => stages.find((stage) => reasons.includes(stage));

/** The reason of an error of ICE: below 700 it is the TURN server's (RFC 8656, section 18.13). */
export function reasonOfError(code: number, text: string): PreCallReason {
  if (code < 700) return [401, 438, 441].includes(code) ? 'credentials' : 'noRelay';
  return /lookup/i.test(text) ? 'nameNotResolved' : 'unreachable';
}

/** The results that the limits are about; null where there is none. */
interface Results {
  rttMs: number | null;
  jitterMs: number | null;
  lossFraction: number | null;
  throughputBps: number | null;
  /** Why there is no connection. */
  failure: PreCallReason | null;
}

/**
 * Why calls over a provider are not expected to be usable; null if they are. A result that is missing for want of time
 * is not held against it, but a missing round trip is.
 */
export function reasonOf({ rttMs, jitterMs, lossFraction, throughputBps, failure }: Results): PreCallReason | null {
  if (rttMs === null) return failure ?? (lossFraction === null ? 'notTested' : 'loss');
  if (rttMs > limits.rttMs) return 'roundTrip';
  if ((lossFraction ?? 1) > limits.lossFraction) return 'loss';
  if ((jitterMs ?? 0) > limits.jitterMs) return 'jitter';
  return (throughputBps ?? limits.throughputBps) < limits.throughputBps ? 'throughput' : null;
}
