// The end of a fabric: recorded at once, with a last reading behind it where there is time.

import type { Stamp } from '../clock.ts';
import { listen, openStage } from '../lifecycle.ts';
import { forget } from '../session/conferences.ts';
import { sendSoon } from '../session/send.ts';
import type { Reading } from '../stats/monitor.ts';
import { deliver } from './deliver.ts';
import { emit } from './emit.ts';
import { read, readingOf } from './measure.ts';
import { record, recordSetup } from './record.ts';
import { recordFailure } from './setup.ts';
import type { EndReason, Fabric } from './state.ts';

const lastReadingMs = 1000;

/** Ends a fabric; a last reading may follow unless now is set. */
export function end(f: Fabric, reason: EndReason, now = reason === 'closed'): void {
  if (!f.ending) {
    f.ending = f.clock.stamp();
    recordEnd(f, reason, now, f.ending);
    listen(f, 'removeEventListener');
    if (!now) readLast(f);
  }
  if (now) finish(f);
}

function recordEnd(f: Fabric, reason: EndReason, now: boolean, stamp: Stamp): void {
  const stage = openStage(f);
  recordSetup(f);
  if (stage) recordFailure(f, stage, reason === 'closed' || reason === 'pagehide' ? reason : 'terminated', stamp);
  emit(f, 'fabricTerminated', { reason, measurementFollows: !(now || stage) || undefined }, stamp);
  if (reason !== 'pagehide') sendSoon(f.owner);
}

function readLast(f: Fabric): void {
  setTimeout(() => finish(f), lastReadingMs);
  const atMs = f.clock.mono();
  read(f).then((reports) => {
    if (!reports || f.done) return;
    const last = readingOf(f, reports, atMs);
    finish(f, last?.intervals.length ? last : undefined);
  });
}

/** A reading after the end has the time of the end, so that it makes nothing longer. */
function finish(f: Fabric, last?: Reading): void {
  if (f.done || !f.ending) return;
  f.done = true;
  if (last) record(f, last, f.ending);
  else deliver(f, []);
  forget(f.owner, f);
  if (last) sendSoon(f.owner);
}
