// How entries of the queue go on the wire, with the context that they need (protocol 4.2).

import { type Entry, maxFrameBytes, textOf } from './queue.ts';
import { byteLength } from './validate.ts';

/** The announcements of fabrics and column sets; the same text each time. */
export interface Context {
  fabricLine(fabric: number): string;
  columnsLine(set: number): string;
}

/** What one connection has heard already. */
export class Speaker {
  readonly #known = new Set<string>();
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** A frame, after the announcements that are new to this connection. */
  lines(entry: Entry): string[] {
    const { fabricLine, columnsLine } = this.#context;
    const fresh = [...entry.fabrics.map(fabricLine), ...entry.sets.map(columnsLine)].filter(
      (line) => !this.#known.has(line),
    );
    for (const line of fresh) this.#known.add(line);
    return [...fresh, textOf(entry)];
  }
}

/** A POST body (protocol 8): hello and as many entries as fit, each told to took. */
export function postBody(
  hello: object,
  entries: readonly Entry[],
  context: Context,
  took: (entry: Entry) => void,
): string {
  const speaker = new Speaker(context);
  let body = JSON.stringify(hello);
  let bytes = byteLength(body);
  for (const entry of entries) {
    const added = `\n${speaker.lines(entry).join('\n')}`;
    bytes += byteLength(added);
    if (bytes > maxFrameBytes) break;
    body += added;
    took(entry);
  }
  return body;
}
