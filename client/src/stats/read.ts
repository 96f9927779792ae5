// Asking a PeerConnection for its reports, whatever it is (FAB-10).

import { attempt, inTime } from '../result.ts';
import { isObject } from '../validate.ts';
import { fromLegacy } from './legacy.ts';
import type { Report } from './normalise.ts';

const limitMs = 5000;

/** What a PeerConnection has to ask; without a callback it promises. */
interface Asked {
  getStats(callback?: (response: unknown) => void): unknown;
}

/** The reports, or null when none came: an error, or no answer in time. Never rejects. */
export function readStats(pc: object, legacy: boolean): Promise<Report[] | null> {
  return inTime(limitMs, () => ask(pc as Asked, legacy));
}

async function ask(pc: Asked, legacy: boolean): Promise<Report[] | null> {
  // An object of the callback form may refuse to be called without one.
  const promise = attempt(() => pc.getStats()) as PromiseLike<unknown> | undefined;
  if (typeof promise?.then === 'function') return list(await promise);
  if (!legacy) return null;
  const response = await new Promise((resolve, reject) => {
    // The promise form called like this refuses by a promise.
    Promise.resolve(pc.getStats(resolve)).catch(reject);
  });
  return fromLegacy(response);
}

/** Reports come as a map, an array or an object keyed by id. */
function list(reports: unknown): Report[] {
  const all: unknown[] = [];
  const each = (reports as { forEach?: unknown }).forEach;
  if (typeof each === 'function') each.call(reports, (report: unknown) => all.push(report));
  else if (isObject(reports)) all.push(...Object.values(reports));
  return all.filter(isObject);
}
