// Readings of a fabric: at the end of each interval, and between two where streams may be new.

import { attempt } from '../result.ts';
import { known } from '../stats/measures.ts';
import { adopt, endInterval, type Reading } from '../stats/monitor.ts';
import { num, type Report } from '../stats/normalise.ts';
import { updateSources } from './pauses.ts';
import { record, recordNews, recordSetup } from './record.ts';
import { screensOf } from './senders.ts';
import type { Fabric } from './state.ts';

const settleMs = 1000; // from a negotiation to the first packets of its streams

/** Asks the PeerConnection for its reports, null where none came. whole: also for those that rarely change. */
export const read = (f: Fabric, whole = false) => f.reader(f.owner.info.config.collectLegacyStats, whole);

/** One measurement. */
export async function measure(f: Fabric): Promise<void> {
  if (f.ending) return;
  if (f.awaiting) take(f, null);
  f.awaiting = true;
  const reports = await read(f);
  f.awaiting = false;
  if (!f.ending) take(f, reports);
}

/** Records a measurement. Without reports that can be read its frame still shows that the call is alive. */
function take(f: Fabric, reports: Report[] | null): void {
  const { clock } = f;
  const reading = readingOf(f, reports ?? [], clock.mono()) ?? readingOf(f, [], clock.mono());
  if (reading) record(f, reading, clock.stamp());
  updateSources(f);
  recordSetup(f);
}

/** The interval that ends with these reports; undefined where they cannot be read. */
export const readingOf = (f: Fabric, reports: Report[], atMs: number): Reading | undefined =>
  attempt(() => endInterval(f.monitor, reports, atMs, { areaOf: (ssrc) => areaOf(f, ssrc), isScreen: screensOf(f) }));

/** A reading between intervals. */
export async function probe(f: Fabric): Promise<void> {
  if (f.ending) return;
  const reports = await read(f, true);
  if (!reports || f.done) return;
  const news = attempt(() => adopt(f.monitor, reports, f.clock.mono()));
  if (news) recordNews(f, news);
}

/** Reads it when the streams of a negotiation have packets. */
export function probeSoon(f: Fabric): void {
  setTimeout(() => probe(f), settleMs);
}

/** The area of the element that shows a video, in device pixels; null when unknown. */
function areaOf(f: Fabric, ssrc: number): number | null {
  const tag = f.associations.get(ssrc)?.associatedVideoTag;
  const element = typeof tag === 'string' ? globalThis.document?.getElementById(tag) : tag;
  const { clientWidth, clientHeight } = (element ?? {}) as Partial<HTMLElement>;
  const area = known(clientWidth) * known(clientHeight);
  return num(Math.round(area * (globalThis.devicePixelRatio || 1) ** 2));
}
