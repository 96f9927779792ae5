// Entries of the queue as lines of the wire, with the announcements that they need (protocol 4.2).

import { type Entry, maxFrameBytes } from './queue.ts';
import { json } from './result.ts';
import { columnsLine } from './stats/measures.ts';
import { byteLength } from './validate.ts';

/** By fabric, its announcement: always the same text, so that its number means the same all session. */
export type Announcements = ReadonlyMap<number, () => string>;

/** A frame, after the announcements that one connection has not had yet; announced gets them too. */
export function linesOf({ lost, sets, line }: Entry, announcements: Announcements, announced: Set<string>): string[] {
  const missing = [...lost.map(({ fabric }) => announcements.get(fabric)?.() ?? ''), ...sets.map(columnsLine)].filter(
    (text) => text && !announced.has(text),
  );
  for (const text of missing) announced.add(text);
  return [...missing, line()];
}

/** A POST body (protocol 8): hello and as many entries as fit, each passed to taken. */
export function postBody(
  hello: object,
  entries: readonly Entry[],
  announcements: Announcements,
  taken: (entry: Entry) => void,
): string {
  const announced = new Set<string>();
  let body = json(hello);
  for (const entry of entries) {
    const longer = [body, ...linesOf(entry, announcements, announced)].join('\n');
    if (byteLength(longer) > maxFrameBytes) break;
    body = longer;
    taken(entry);
  }
  return body;
}
