// Asking a PeerConnection for its reports, whatever it is (FAB-10).

import { attempt } from '../result.ts';
import { isObject } from '../validate.ts';
import { fromLegacy } from './legacy.ts';
import type { Report } from './normalise.ts';

const wholeEvery = 12; // readings

/** The getStats of a PeerConnection; without a callback it promises. */
interface Asked {
  getStats(callback?: (response: unknown) => void): unknown;
}

/** The answer of a real one. */
interface Answer {
  size?: number;
  get?(id: unknown): unknown;
}

/** Reads the reports, null for none. Never rejects, but may never resolve. */
export type Reader = (legacy: boolean, whole?: boolean) => Promise<Report[] | null>;

/**
 * Makes the reader of one PeerConnection. Chromium makes the object of a report when it is
 * asked for, and iterating asks for all of them: the larger part of what a reading costs. So
 * most readings ask for the reports that change, by their ids, and take the others (codecs,
 * candidates, pairs that are not used) from the last whole reading.
 */
export function createReader(pc: object): Reader {
  let kept = new Map<unknown, Report>();
  let changing: unknown[] = [];
  let size = 0;
  let readings = 0;

  function whole(answer: unknown): Report[] {
    const reports = list(answer);
    const pairs = reports.map((report) => report.selectedCandidatePairId).filter(Boolean);
    const changes = ({ id, type, kind }: Report) =>
      /bound-rtp|^transport|^media-source audio/.test(`${type} ${kind}`) ||
      (pairs.length ? pairs.includes(id) : type === 'candidate-pair');
    kept = new Map(reports.map((report) => [report.id, report]));
    changing = reports.filter(changes).map(({ id }) => id);
    size = (answer as Answer).size ?? Number.NaN; // an answer without a size is read whole each time
    return reports;
  }

  /** Undefined where reports were added or removed, or another pair is used. */
  function changed(answer: Answer): Report[] | undefined {
    if (answer.size !== size) return undefined;
    for (const id of changing) {
      const report = answer.get?.(id) as Report | null | undefined;
      if (typeof report !== 'object' || !report) return undefined;
      if (report.type === 'transport' && !changing.includes(report.selectedCandidatePairId)) return undefined;
      kept.set(id, report);
    }
    return [...kept.values()];
  }

  const read = (answer: unknown, all: boolean) =>
    (all || ++readings % wholeEvery === 0 ? undefined : attempt(() => changed(answer as Answer))) ?? whole(answer);

  return (legacy, all = false) => ask(pc as Asked, legacy, (answer) => read(answer, all)).catch(() => null);
}

async function ask(pc: Asked, legacy: boolean, read: (answer: unknown) => Report[]): Promise<Report[] | null> {
  // An object of the callback form may refuse to be called without one.
  const promise = attempt(() => pc.getStats()) as PromiseLike<unknown> | undefined;
  if (typeof promise?.then === 'function') return read(await promise);
  if (!legacy) return null;
  const response = await new Promise((resolve, reject) => {
    // The promise form called like this refuses by a promise.
    Promise.resolve(pc.getStats(resolve)).catch(reject);
  });
  return fromLegacy(response);
}

/** The reports of a map, an array or an object keyed by id. */
function list(reports: unknown): Report[] {
  const all: unknown[] = [];
  const each = (reports as { forEach?: unknown }).forEach;
  if (typeof each === 'function') each.call(reports, (report: unknown) => all.push(report));
  else if (isObject(reports)) all.push(...Object.values(reports));
  return all.filter(isObject);
}
