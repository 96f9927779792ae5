// Asking a PeerConnection for its reports, whatever it is (FAB-10).

import { attempt } from '../result.ts';
import { isObject } from '../validate.ts';
import { fromLegacy } from './legacy.ts';
import type { Report } from './normalise.ts';

const limitMs = 5000;

/** The reports, or null when none came: an error, or no answer in time. Never rejects. */
export function readStats(pc: object, legacy: boolean): Promise<Report[] | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, null);
    const answer = (reports: Report[] | null) => {
      clearTimeout(timer);
      resolve(reports);
    };
    const ask = (...callback: ((response: unknown) => void)[]) =>
      (pc as { getStats(...args: unknown[]): unknown }).getStats(...callback);
    const askLegacy = () => {
      if (!legacy) answer(null);
      // The promise form called like this refuses by a promise.
      else
        Promise.resolve(ask((response) => answer(attempt(() => fromLegacy(response), null)))).catch(() => answer(null));
    };
    try {
      const promise = ask() as PromiseLike<unknown> | undefined;
      if (typeof promise?.then !== 'function') askLegacy();
      else
        promise.then(
          (reports) => answer(attempt(() => list(reports), null)),
          () => answer(null),
        );
    } catch {
      // An object of the callback form may refuse to be called without one.
      try {
        askLegacy();
      } catch {
        answer(null);
      }
    }
  });
}

/** Reports come as a map, an array or an object keyed by id. */
function list(reports: unknown): Report[] {
  const all: unknown[] = [];
  const each = (reports as { forEach?: unknown }).forEach;
  if (typeof each === 'function') each.call(reports, (report: unknown) => all.push(report));
  else if (isObject(reports)) all.push(...Object.values(reports));
  return all.filter(isObject);
}
