// How entries of the queue go on the wire, with the context that they need (protocol 4.2).

import { type Entry, maxFrameBytes } from './queue.ts';
import { json } from './result.ts';
import { byteLength } from './validate.ts';

/** The announcements of fabrics and column sets; the same text each time. */
export interface Context {
  fabricLine(fabric: number): string;
  columnsLine(set: number): string;
}

/** A frame, after the announcements that are new to what one connection has heard. */
export function linesOf({ lost, sets, line }: Entry, context: Context, heard: Set<string>): string[] {
  const announcements = [
    ...lost.map(({ fabric }) => (fabric ? context.fabricLine(fabric) : '')),
    ...sets.map(context.columnsLine),
  ].filter((known) => known && !heard.has(known));
  for (const line of announcements) heard.add(line);
  return [...announcements, line()];
}

/** A POST body (protocol 8): hello and as many entries as fit, each passed to took. */
export function postBody(
  hello: object,
  entries: readonly Entry[],
  context: Context,
  took: (entry: Entry) => void,
): string {
  const heard = new Set<string>();
  let body = json(hello);
  for (const entry of entries) {
    const longer = [body, ...linesOf(entry, context, heard)].join('\n');
    if (byteLength(longer) > maxFrameBytes) break;
    body = longer;
    took(entry);
  }
  return body;
}
